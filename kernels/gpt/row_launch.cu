/*
 * row_launch.cu - see row_launch.cuh.
 */
#include "row_launch.cuh"

#include <stdio.h>

#include "kernels/cuda/cuda_trial.h"

enum {
    FEW_WARPS = 8,    /* of a block, where that is enough: several blocks share a multiprocessor */
    MANY_ROWS = 4096, /* fill the device with a warp or two each */
    CANDIDATES = 32,
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
    struct row_team team = {log_cluster, ceil_div(lanes, 32), 1};
    if (team.warps > ROW_WARPS) return false;
    if (kernel > 0 && ceil_div(job->pieces, (int64_t)lane_pieces / 2 * cluster) <= 32) return false;
    if (cluster == 1 && team.warps == 1) {
        team.rows = ROW_TEAM_WARPS;
        while (team.rows > 1 && job->rows / team.rows < 2 * assay_card()->multiprocessors)
            team.rows /= 2;
    }
    *plan = (struct row_plan){};
    plan->kernel = job->registers[kernel];
    plan->team = team;
    plan->blocks = (unsigned)(ceil_div(job->rows, team.rows) * cluster);
    plan->threads = 32 * team.warps * team.rows;
    plan->shared_bytes = cluster * team.warps * job->part_bytes;
    plan->lane_pieces = lane_pieces;
    return true;
}

extern "C" const char *row_plan_naive(const struct row_job *job, struct row_plan *plan)
{
    *plan = (struct row_plan){};
    plan->kernel = job->naive;
    plan->blocks = (unsigned)ceil_div(job->rows, ROW_NAIVE_THREADS);
    plan->threads = ROW_NAIVE_THREADS;
    return NULL;
}

extern "C" const char *row_plan_stream(const struct row_job *job, struct row_plan *plan)
{
    *plan = (struct row_plan){};
    plan->kernel = job->stream;
    plan->blocks = (unsigned)job->rows;
    plan->threads = ROW_STREAM_THREADS;
    return NULL;
}

/* As few pieces per lane as FEW_WARPS allow where there are few rows, four where there are many. */
extern "C" const char *row_plan_block(const struct row_job *job, struct row_plan *plan)
{
    bool found = false;
    for (int kernel = job->rows < MANY_ROWS ? 0 : 2; kernel < ROW_KERNELS; kernel++) {
        found |= divide(job, 0, kernel, plan);
        if (found && plan->team.warps <= FEW_WARPS) return NULL;
    }
    for (int kernel = 1; !found && kernel >= 0; kernel--)
        found = divide(job, 0, kernel, plan);
    return found ? NULL : "a row is longer than a block's registers";
}

/* The smallest cluster whose blocks have FEW_WARPS, else the largest. */
extern "C" const char *row_plan_cluster(const struct row_job *job, struct row_plan *plan)
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

/* -------------------------------------------------------------- launches -- */

extern "C" int row_plan_allow(const struct row_plan *plan)
{
    if (plan->team.log_cluster <= 3) return 0; /* which every card with clusters has */
    return assay_cuda(
        cudaFuncSetAttribute(plan->kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
        "clusters of 16 blocks");
}

extern "C" int row_plan_launch(const struct row_job *job, const struct row_plan *plan, void *stream)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    void *args[] = {(void *)job->args, (void *)&plan->team};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 1u << plan->team.log_cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(plan->blocks);
    config.blockDim = dim3((unsigned)plan->threads);
    config.dynamicSmemBytes = (size_t)plan->shared_bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = &cluster;
    config.numAttrs = plan->team.log_cluster > 0 ? 1 : 0;
    return assay_cuda(cudaLaunchKernelExC(&config, plan->kernel, args), "launch");
}

/* ------------------------------------------------------------------ best -- */

/* The rule's plan first, which the others must beat; where clusters are, rows among them too; at
 * the end two passes. */
static int candidates(const struct row_job *job, struct row_plan out[CANDIDATES])
{
    int count = 0, most = assay_card()->sm >= 90 ? ROW_LOG_CLUSTER : 0;
    if (!row_plan_block(job, &out[count])) count++;
    for (int log_cluster = 0; log_cluster <= most; log_cluster++)
        for (int kernel = 0; kernel < ROW_KERNELS; kernel++)
            if (divide(job, log_cluster, kernel, &out[count]) &&
                (log_cluster == 0 || out[count].team.warps >= 4))
                count++;
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
    if (plan->lane_pieces == 0)
        snprintf(call->note, sizeof call->note, "streamed");
    else if (plan->team.rows > 1)
        snprintf(call->note, sizeof call->note, "a warp per row, %d pieces per lane",
                 plan->lane_pieces);
    else
        snprintf(call->note, sizeof call->note, "%d x %d warps per row, %d pieces per lane",
                 1 << plan->team.log_cluster, plan->team.warps, plan->lane_pieces);
}

extern "C" int row_plan_best(const struct row_job *job, struct assay_call *call,
                             struct row_plan *plan)
{
    static const double MARGIN = 0.98; /* a trial's median is no better than that */
    struct row_plan list[CANDIDATES];
    struct cuda_trial trial;
    double least_us = INFINITY;
    int count = candidates(job, list), found = -1;
    int status = cuda_trial_open(&trial, call);
    for (int i = 0; status == 0 && i < count; i++) {
        if (row_plan_allow(&list[i])) continue;
        struct attempt attempt = {job, &list[i]};
        struct cuda_work work = {enqueue, &attempt};
        double us = cuda_trial_us(&trial, &work, least_us);
        if (!(us < MARGIN * least_us)) continue;
        least_us = us;
        found = i;
    }
    cuda_trial_close(&trial);
    if (status) return status;
    if (found < 0) return assay_error("no division of the rows could be launched");
    *plan = list[found];
    write_note(plan, call);
    return 0;
}
