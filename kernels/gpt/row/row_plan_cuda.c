/*
 * row_plan_cuda.c - see row_plan.h.
 */
#include "row_plan.h"

#include <math.h>
#include <stdio.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_trial.h"

enum {
    FEW_WARPS = 8,     /* of a block, where that is enough: several blocks share a multiprocessor */
    MANY_ROWS = 4096,  /* fill the device with a warp or two each */
    RING_PIECES = 256, /* of a row that is worth a ring */
    RING_SHARE = 4096, /* pieces of a block's share, at most, by rule: 64 KiB */
    RESERVED = 1024,   /* bytes of shared memory that the driver keeps of each block */
    SHARED_WARPS = 4,  /* of a block with its row in shared memory, at least */
    CANDIDATES = 58,
};

static int ceil_div(int64_t a, int64_t b)
{
    return (int)((a + b - 1) / b);
}

/* ---------------------------------------------------------------- plans -- */

/* Rows divided among 1 << log_cluster blocks each, with 1 << kernel pieces per lane. False where
 * they do not fit, or where half as many pieces do with one warp. */
static bool divide(const struct row_job *job, int log_cluster, int kernel, struct row_plan *plan)
{
    int lane_pieces = 1 << kernel, cluster = 1 << log_cluster;
    int lanes = ceil_div(job->pieces, (int64_t)lane_pieces * cluster);
    struct row_team team = {log_cluster, ceil_div(lanes, 32), 1, 0, 0};
    if (team.warps > ROW_WARPS) return false;
    if (kernel > 0 && ceil_div(job->pieces, (int64_t)lane_pieces / 2 * cluster) <= 32) return false;
    if (cluster == 1 && team.warps == 1) {
        team.rows = ROW_TEAM_WARPS;
        while (team.rows > 1 && job->rows / team.rows < 2 * assay_card()->multiprocessors)
            team.rows /= 2;
    }
    *plan = (struct row_plan){0};
    plan->kernel = job->registers[kernel];
    plan->team = team;
    plan->blocks = (unsigned)(ceil_div(job->rows, team.rows) * cluster);
    plan->threads = 32 * team.warps * team.rows;
    plan->shared_bytes = cluster * team.warps * job->part_bytes;
    plan->lane_pieces = lane_pieces;
    return true;
}

/* Whether so many lanes hold a row: at most four pieces and an element of its edge each. */
static bool lanes_hold(const struct row_job *job, int lanes)
{
    return job->pieces <= 4 * lanes && job->edge <= lanes;
}

/* Rows in 2 << narrow lanes each, where half of these lanes do not hold them. */
static bool divide_warp(const struct row_job *job, int narrow, struct row_plan *plan)
{
    const int lanes = 2 << narrow;
    if (!lanes_hold(job, lanes) || (narrow > 0 && lanes_hold(job, lanes / 2))) return false;
    int rows = ROW_TEAM_WARPS * 32 / lanes;
    while (rows > 32 / lanes && job->rows / rows < 2 * assay_card()->multiprocessors)
        rows /= 2;
    *plan = (struct row_plan){0};
    plan->kernel = job->narrow[narrow];
    plan->team = (struct row_team){0, 1, rows, 0, 0};
    plan->blocks = (unsigned)ceil_div(job->rows, rows);
    plan->threads = rows * lanes;
    plan->lane_pieces = 4;
    return true;
}

/* A ring of at least two rows, or of a cluster's shares of them, in the shared memory of as many
 * blocks as registers allow; of fewer where they would have too little. */
static bool divide_ring(const struct row_job *job, int log_cluster, int kernel,
                        struct row_plan *plan)
{
    const struct assay_card *card = assay_card();
    int lane_pieces = 1 << kernel, cluster = 1 << log_cluster;
    int share = ceil_div(job->pieces, cluster), warps = ceil_div(share, 32 * lane_pieces);
    int rest = ROW_RING_HEAD + (job->edge == 0 ? job->gains : 0) * share * 16 +
               2 * cluster * warps * job->part_bytes;
    int slots = 0;
    if (!job->ring[kernel] || job->pieces < RING_PIECES || warps > ROW_WARPS) return false;
    int blocks = ROW_WARPS / warps;
    for (; blocks > 0 && slots < 2; blocks -= slots < 2) {
        int64_t room = card->shared_sm_bytes / blocks - RESERVED;
        if (room > card->shared_bytes) room = card->shared_bytes;
        slots = room > rest ? (int)((room - rest) / (16 * share)) : 0;
    }
    if (slots < 2) return false;
    if (slots > ROW_SLOTS) slots = ROW_SLOTS;
    *plan = (struct row_plan){0};
    plan->kernel = job->ring[kernel];
    plan->team = (struct row_team){log_cluster, warps, 1, slots, share};
    plan->blocks = (unsigned)job->rows * cluster;
    plan->threads = 32 * warps;
    plan->shared_bytes = rest + slots * share * 16;
    plan->lane_pieces = lane_pieces;
    return true;
}

/* Rows in the shared memory of two blocks or more on each multiprocessor, which have `most` warps
 * together. */
static bool divide_shared(const struct row_job *job, int log_cluster, int most,
                          struct row_plan *plan)
{
    const int cluster = 1 << log_cluster, share = ceil_div(job->pieces, cluster);
    const int bytes = ROW_RING_HEAD + 16 * share + cluster * ROW_WARPS * job->part_bytes;
    const int blocks = assay_card()->shared_sm_bytes / (bytes + RESERVED);
    if (!job->shared || job->pieces < RING_PIECES || blocks < 2) return false;
    int warps = most / blocks;
    if (warps < SHARED_WARPS) warps = SHARED_WARPS;
    *plan = (struct row_plan){0};
    plan->kernel = job->shared;
    plan->team = (struct row_team){log_cluster, warps, 1, 0, share};
    plan->blocks = (unsigned)(job->rows * cluster);
    plan->threads = 32 * warps;
    plan->shared_bytes = bytes;
    plan->lane_pieces = ceil_div(share, plan->threads);
    return true;
}

const char *row_plan_naive(const struct row_job *job, struct row_plan *plan)
{
    *plan = (struct row_plan){0};
    plan->kernel = job->naive;
    plan->blocks = (unsigned)ceil_div(job->rows, ROW_NAIVE_THREADS);
    plan->threads = ROW_NAIVE_THREADS;
    return NULL;
}

const char *row_plan_stream(const struct row_job *job, struct row_plan *plan)
{
    *plan = (struct row_plan){0};
    plan->kernel = job->stream;
    plan->blocks = (unsigned)job->rows;
    plan->threads = ROW_STREAM_THREADS;
    return NULL;
}

/* As few pieces per lane as FEW_WARPS allow where there are few rows, four where there are many. */
const char *row_plan_block(const struct row_job *job, struct row_plan *plan)
{
    bool found = false;
    for (int narrow = 0; job->rows >= MANY_ROWS && narrow < ROW_NARROW; narrow++)
        if (divide_warp(job, narrow, plan)) return NULL;
    for (int kernel = job->rows < MANY_ROWS ? 0 : 2; kernel < ROW_KERNELS; kernel++) {
        found |= divide(job, 0, kernel, plan);
        if (found && plan->team.warps <= FEW_WARPS) return NULL;
    }
    for (int kernel = 1; !found && kernel >= 0; kernel--)
        found = divide(job, 0, kernel, plan);
    return found ? NULL : "a row is longer than a block's registers";
}

/* The smallest cluster whose blocks have FEW_WARPS, else the largest. */
const char *row_plan_cluster(const struct row_job *job, struct row_plan *plan)
{
    bool found = false;
    if (job->pieces < 32 << ROW_LOG_CLUSTER) return "a row is too short for a cluster";
    for (int log_cluster = 1; log_cluster <= ROW_LOG_CLUSTER; log_cluster++)
        for (int kernel = 0; kernel < ROW_KERNELS; kernel++) {
            found |= divide(job, log_cluster, kernel, plan);
            if (found && plan->team.warps <= FEW_WARPS) return NULL;
        }
    return found ? NULL : "a row is longer than a cluster's registers";
}

/* The smallest cluster of whose blocks two fit a multiprocessor. */
const char *row_plan_shared(const struct row_job *job, struct row_plan *plan)
{
    if (job->pieces < RING_PIECES) return "a row is too short to be kept in shared memory";
    if (assay_card()->shared_sm_bytes == 0) return NULL; /* no GPU is open: setup will say */
    for (int log_cluster = 0; log_cluster <= ROW_LOG_CLUSTER; log_cluster++)
        if (divide_shared(job, log_cluster, 2 * ROW_WARPS, plan)) return NULL;
    return "a row is longer than a cluster's shared memory";
}

/* The smallest cluster whose blocks have RING_SHARE of a row, with as few warps as hold it. */
const char *row_plan_ring(const struct row_job *job, struct row_plan *plan)
{
    if (job->pieces < RING_PIECES) return "a row is too short for a ring";
    if (assay_card()->shared_sm_bytes == 0) return NULL; /* no GPU is open: setup will say */
    for (int log_cluster = 0; log_cluster <= ROW_LOG_CLUSTER; log_cluster++) {
        if (ceil_div(job->pieces, 1 << log_cluster) > RING_SHARE) continue;
        for (int kernel = ROW_KERNELS - 1; kernel >= 0; kernel--)
            if (divide_ring(job, log_cluster, kernel, plan)) return NULL;
    }
    return "a row is longer than a cluster's shared memory";
}

/* -------------------------------------------------------------- launches -- */

/* `config` points to `cluster`. */
static void configure(const struct row_plan *plan, cudaLaunchConfig_t *config,
                      cudaLaunchAttribute *cluster)
{
    *config = (cudaLaunchConfig_t){0};
    *cluster = (cudaLaunchAttribute){0};
    cluster->id = cudaLaunchAttributeClusterDimension;
    cluster->val.clusterDim.x = 1u << plan->team.log_cluster;
    cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
    config->gridDim = (dim3){plan->blocks, 1, 1};
    config->blockDim = (dim3){(unsigned)plan->threads, 1, 1};
    config->dynamicSmemBytes = (size_t)plan->shared_bytes;
    config->attrs = cluster;
    config->numAttrs = plan->team.log_cluster > 0 ? 1 : 0;
}

/* Give a kernel that keeps rows in shared memory all of it. */
static int allow_shared(const struct row_plan *plan)
{
    int status =
        cuda_error(cudaFuncSetAttribute(plan->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)assay_card()->shared_bytes),
                   "shared memory");
    if (status) return status;
    return cuda_error(cudaFuncSetAttribute(plan->kernel,
                                           cudaFuncAttributePreferredSharedMemoryCarveout,
                                           cudaSharedmemCarveoutMaxShared),
                      "shared memory");
}

/* Give a ring one round of blocks. */
static int allow_ring(struct row_plan *plan)
{
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;
    int fit = 0, status = 0;
    configure(plan, &config, &cluster);
    if (plan->team.log_cluster > 0) {
        status = cuda_error(cudaOccupancyMaxActiveClusters(&fit, plan->kernel, &config),
                            "clusters at a time");
    } else {
        status = cuda_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                &fit, plan->kernel, plan->threads, config.dynamicSmemBytes),
                            "blocks at a time");
        fit *= assay_card()->multiprocessors;
    }
    if (status) return status;
    if (fit == 0) return assay_error("no block of %d bytes fits", plan->shared_bytes);
    unsigned most = (unsigned)fit << plan->team.log_cluster;
    if (plan->blocks > most) plan->blocks = most;
    return 0;
}

int row_plan_allow(struct row_plan *plan)
{
    if (plan->team.log_cluster > 3 && /* eight every card with clusters has */
        cuda_error(
            cudaFuncSetAttribute(plan->kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            "clusters of 16 blocks"))
        return -1;
    if (plan->team.share > 0 && allow_shared(plan)) return -1;
    return plan->team.slots > 0 ? allow_ring(plan) : 0;
}

int row_plan_launch(const struct row_job *job, const struct row_plan *plan, void *stream)
{
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;
    void *args[] = {(void *)job->args, (void *)&plan->team};
    configure(plan, &config, &cluster);
    config.stream = (cudaStream_t)stream;
    return cuda_error(cudaLaunchKernelExC(&config, plan->kernel, args), "launch");
}

/* ------------------------------------------------------------------ best -- */

/* The rule's plan first; on Hopper rows among the blocks of a cluster
 * and rings too; at the end two passes. */
static int candidates(const struct row_job *job, struct row_plan out[CANDIDATES])
{
    bool hopper = assay_card()->sm >= 90;
    int count = 0, most = hopper ? ROW_LOG_CLUSTER : 0;
    if (!row_plan_block(job, &out[count])) count++;
    for (int narrow = 0; narrow < ROW_NARROW; narrow++)
        if (divide_warp(job, narrow, &out[count])) count++;
    for (int log_cluster = 0; log_cluster <= most; log_cluster++)
        for (int kernel = 0; kernel < ROW_KERNELS; kernel++) {
            if (divide(job, log_cluster, kernel, &out[count]) &&
                (log_cluster == 0 || out[count].team.warps >= 4))
                count++;
            if (hopper && divide_ring(job, log_cluster, kernel, &out[count]) &&
                out[count].team.warps >= 4)
                count++;
        }
    for (int log_cluster = 0; hopper && log_cluster <= most; log_cluster++)
        for (int warps = ROW_WARPS; warps <= 2 * ROW_WARPS; warps *= 2)
            if (divide_shared(job, log_cluster, warps, &out[count])) count++;
    if (!row_plan_stream(job, &out[count])) count++;
    return count;
}

struct attempt {
    const struct row_job *job;
    const struct row_plan *plan;
};

static int enqueue(const void *what, void *stream)
{
    const struct attempt *attempt = (const struct attempt *)what;
    return row_plan_launch(attempt->job, attempt->plan, stream);
}

static void write_note(const struct row_plan *plan, struct assay_call *call)
{
    if (plan->lane_pieces == 0) {
        snprintf(call->note, sizeof call->note, "streamed");
    } else if (plan->team.rows > 1) {
        snprintf(call->note, sizeof call->note, "%d lanes per row, %d pieces per lane",
                 plan->threads / plan->team.rows, plan->lane_pieces);
    } else {
        int length =
            snprintf(call->note, sizeof call->note, "%d x %d warps per row, %d pieces per lane",
                     1 << plan->team.log_cluster, plan->team.warps, plan->lane_pieces);
        if (plan->team.slots > 0)
            snprintf(call->note + length, sizeof call->note - (size_t)length, ", ring of %d",
                     plan->team.slots);
        else if (plan->team.share > 0)
            snprintf(call->note + length, sizeof call->note - (size_t)length, ", in shared memory");
    }
}

int row_plan_best(const struct row_job *job, struct assay_call *call, struct row_plan *plan)
{
    struct row_plan list[CANDIDATES];
    struct attempt attempts[CANDIDATES];
    struct cuda_rival rivals[CANDIDATES] = {0};
    int count = candidates(job, list), found = 0, fastest = 0;
    for (int i = 0; i < count; i++) {
        if (row_plan_allow(&list[i])) {
            cudaGetLastError(); /* clears it, for the next launch */
            continue;
        }
        attempts[found] = (struct attempt){job, &list[i]};
        rivals[found].work = (struct cuda_work){enqueue, &attempts[found]};
        found++;
    }
    int status = cuda_trial_fastest(call, NULL, rivals, found, &fastest);
    if (status) return status;
    *plan = *attempts[fastest].plan;
    write_note(plan, call);
    return 0;
}
