/*
 * pipe_figures_cuda.c - the times of a batch pipeline's stages, by the GPU's clock.
 *
 * In a launch the stages overlap and wait for each other, and an event pair around a stage would
 * include the waiting. So each stage is timed separately, in a pass that takes one batch after the
 * other. A kernel holds the stream while begin event, stage and end event are enqueued behind it;
 * when the hold ends they run back to back.
 *
 *   network         the event pair around it, less a pair around nothing
 *   copy            what a second copy behind the first adds: an event pair alone would include
 *                   some microseconds in which the queue changes to a copy engine and back
 *   pageable copy   the event pair around it, less a pair around nothing. It is not held,
 *                   because the driver's copy to its staging memory belongs to it. A second copy
 *                   would find its memory in the host's caches
 *   allocating and freeing memory   the host's time, by the host's clock
 *
 * Each such difference has the noise of two pairs and may be negative. So a stage's time is the
 * median over all batches, times the number of batches; few batches are timed several times.
 *
 * Copies by the host are timed in the launches themselves. Their speed depends on what the host's
 * caches hold and on what else reads its memory, and a copy that runs alone shares neither with a
 * launch: one batch after the other, timed here, took longer than a launch with all of it.
 */
#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "pipe.h"

enum {
    MOST_TIMED = 256, /* batches; with more, an evenly spaced choice of them is timed */
    LEAST_TIMED = 16, /* with fewer batches, all are timed again until there are so many times */
};

/* A measurement of which the median is taken is repeated so often, but for no longer than
 * REPEATS_NS: long ones vary little. */
enum { REPEATS = 5 };
static const double REPEATS_NS = 0.5e9;

/* Longer than the host needs to enqueue a copy, or the network's kernels for a part of a batch. */
static const double HOLD_COPY_NS = 20e3, HOLD_PART_NS = 20e3;

struct watch {
    cudaEvent_t begin, end;
};

/* What the GPU's stages took, batch by batch. */
struct timed {
    int count;
    double ns[PIPE_STAGES][MOST_TIMED + LEAST_TIMED];
};

/* From event to event around `times` of the stage in a row. */
static int time_pair(pipe_stage_function *stage, int times, struct pipe *pipe,
                     struct pipe_slot *slot, const struct watch *watch, double hold_ns, double *ns)
{
    cudaStream_t stream = slot->net_stream;
    float ms;
    if (hold_ns > 0 && pipe_hold(stream, hold_ns)) return -1;
    if (cuda_error(cudaEventRecord(watch->begin, stream), "an event")) return -1;
    for (int i = 0; i < times; i++)
        if (stage(pipe, slot, stream)) return -1;
    if (cuda_error(cudaEventRecord(watch->end, stream), "an event")) return -1;
    if (cuda_error(cudaEventSynchronize(watch->end), "a stage")) return -1;
    if (cuda_error(cudaEventElapsedTime(&ms, watch->begin, watch->end), "a stage")) return -1;
    *ns = 1e6 * (double)ms;
    return 0;
}

/* The time of the stage: how much longer `times` of it take than one fewer. Where `times` is two,
 * another one goes first: data that the host has just written are in its caches, and only the
 * first copy is slower for it. */
static int time_stage(pipe_stage_function *stage, int times, struct pipe *pipe,
                      struct pipe_slot *slot, const struct watch *watch, double hold_ns,
                      double *taken_ns)
{
    double fewer_ns, ns;
    if (times > 1 && stage(pipe, slot, slot->net_stream)) return -1;
    if (time_pair(stage, times - 1, pipe, slot, watch, fmin(hold_ns, HOLD_COPY_NS), &fewer_ns))
        return -1;
    if (time_pair(stage, times, pipe, slot, watch, hold_ns, &ns)) return -1;
    *taken_ns = ns - fewer_ns;
    return 0;
}

static int time_batch(struct pipe *pipe, struct pipe_slot *slot, const struct watch *watch,
                      struct timed *timed, struct pipe_times *times)
{
    double *in_ns = &timed->ns[PIPE_STAGE_IN][timed->count];
    double *net_ns = &timed->ns[PIPE_STAGE_NET][timed->count];
    double *out_ns = &timed->ns[PIPE_STAGE_OUT][timed->count];
    double hold_ns = pipe->axes->host == PIPE_PAGEABLE ? 0 : HOLD_COPY_NS;
    int copies = pipe->axes->host == PIPE_PAGEABLE ? 1 : 2;
    double parts = (double)((pipe->leaves + pipe->part - 1) / pipe->part);
    double start = pipe_now_ns();
    if (pipe_obtain_host(pipe, slot) || pipe_obtain_block(pipe, slot)) return -1;
    times->alloc_ns += pipe_now_ns() - start;
    if (slot->host_in) pipe_copy_in(pipe, slot);
    /* Memory of a pool is ordered by in_stream, the stages by net_stream. */
    if (cuda_error(cudaStreamSynchronize(slot->in_stream), "a block")) return -1;
    if (time_stage(pipe_stage_in, copies, pipe, slot, watch, hold_ns, in_ns)) return -1;
    if (time_stage(pipe_stage_net, 1, pipe, slot, watch, HOLD_COPY_NS + parts * HOLD_PART_NS,
                   net_ns))
        return -1;
    if (time_stage(pipe_stage_out, copies, pipe, slot, watch, hold_ns, out_ns)) return -1;
    start = pipe_now_ns();
    if (pipe_return_block(pipe, slot) || pipe_return_host(pipe, slot)) return -1;
    times->alloc_ns += pipe_now_ns() - start;
    timed->count++;
    return 0;
}

/* All batches' times, from those of the timed. */
static void times_scale(struct timed *timed, int64_t batches, struct pipe_times *times)
{
    double scale = timed->count ? (double)batches / (double)timed->count : 0;
    times->calls = batches;
    times->h2d_ns = pipe_stage_ns(timed->ns[PIPE_STAGE_IN], timed->count, batches);
    times->compute_ns = pipe_stage_ns(timed->ns[PIPE_STAGE_NET], timed->count, batches);
    times->d2h_ns = pipe_stage_ns(timed->ns[PIPE_STAGE_OUT], timed->count, batches);
    times->alloc_ns *= scale;
}

/* In the slots that a launch uses, since each has host memory of its own. */
static int time_pipe(struct pipe *pipe, struct pipe_times *times)
{
    struct watch watch = {0};
    struct timed timed = {0};
    int64_t batches = pipe_batches(pipe), stride = (batches + MOST_TIMED - 1) / MOST_TIMED;
    int status = cuda_error(cudaEventCreate(&watch.begin), "an event");
    if (status == 0) status = cuda_error(cudaEventCreate(&watch.end), "an event");
    while (status == 0 && batches > 0 && timed.count < LEAST_TIMED)
        for (int64_t turn = 0; status == 0 && turn < batches; turn += stride) {
            struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
            slot->batch = pipe->first + turn * pipe->step;
            status = time_batch(pipe, slot, &watch, &timed, times);
            slot->batch = -1;
        }
    times_scale(&timed, batches, times);
    if (watch.begin) cudaEventDestroy(watch.begin);
    if (watch.end) cudaEventDestroy(watch.end);
    return status;
}

/* All networks without copies, on the slots' streams as in a launch: the time that they take
 * together bounds a launch, the sum of their separate times does not. The input of each slot is
 * the last one that was copied there. */
static int networks_launch(struct pipe *pipe)
{
    int64_t turn = 0;
    for (int64_t batch = pipe->first; batch < pipe->beyond; batch += pipe->step, turn++) {
        struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
        if (pipe_stage_net(pipe, slot, slot->net_stream)) return -1;
    }
    for (int i = 0; i < pipe->slot_count; i++)
        if (cuda_error(cudaStreamSynchronize(pipe->slot[i].net_stream), "the networks")) return -1;
    return 0;
}

/* The median of several in a row. */
static int time_networks(struct pipe *pipe, double *median_ns)
{
    double ns[REPEATS], begin = pipe_now_ns(), end = begin;
    int count = 0;
    while (count < REPEATS && end - begin < REPEATS_NS) {
        double start = end;
        if (networks_launch(pipe)) return -1;
        end = pipe_now_ns();
        ns[count++] = end - start;
    }
    *median_ns = pipe_median(ns, count);
    return 0;
}

int pipes_launch_timed(struct pipes *pipes)
{
    double start = pipe_now_ns();
    if (pipes_launch(pipes)) return -1;
    int64_t at = pipes->launches++ % PIPE_LAUNCHES;
    pipes->launch_ns[at] = pipe_now_ns() - start;
    for (int i = 0; i < pipes->count; i++)
        pipes->pipe[i].staging_ns[at] = pipes->pipe[i].staged_ns;
    return 0;
}

/* The median of the row's own launches, as they were sampled: in turns with other variants, cold
 * or hot. Where none was sampled (a run that only checks), a few more are made. */
static int time_launches(struct pipes *pipes)
{
    double begin = pipe_now_ns();
    while (pipes->launches < REPEATS && pipe_now_ns() - begin < REPEATS_NS)
        if (pipes_launch_timed(pipes)) return -1;
    return 0;
}

/* The median of a ring that holds a value for each of the last launches. */
static double median_launch(const struct pipes *pipes, const double ring[PIPE_LAUNCHES])
{
    double ns[PIPE_LAUNCHES];
    int count = pipes->launches < PIPE_LAUNCHES ? (int)pipes->launches : PIPE_LAUNCHES;
    memcpy(ns, ring, sizeof *ns * (size_t)count);
    return pipe_median(ns, count);
}

/* On the pipe's GPU: the times of its stages, and of its networks as they overlap. */
static int time_one(struct pipe *pipe, struct pipe_times *own)
{
    if (time_pipe(pipe, own)) return -1;
    own->networks_ns = own->compute_ns;
    if (!pipe_networks_overlap(pipe->axes)) return 0;
    return time_networks(pipe, &own->networks_ns);
}

/* The pipes' GPUs one after the other, and then the harness's again. */
static int time_all(struct pipes *pipes, struct pipe_times *times, double *bound_ns)
{
    int status = 0;
    *bound_ns = 0;
    for (int i = 0; status == 0 && i < pipes->count; i++) {
        struct pipe_times own = {0};
        status = cuda_error(cudaSetDevice(pipes->pipe[i].device), "choosing the GPU");
        if (status == 0) status = time_one(&pipes->pipe[i], &own);
        own.staging_ns = median_launch(pipes, pipes->pipe[i].staging_ns);
        *bound_ns = fmax(*bound_ns, pipe_bound_ns(&own));
        times->calls += own.calls;
        times->h2d_ns += own.h2d_ns;
        times->compute_ns += own.compute_ns;
        times->networks_ns += own.networks_ns;
        times->d2h_ns += own.d2h_ns;
        times->staging_ns += own.staging_ns;
        times->alloc_ns += own.alloc_ns;
    }
    return pipes_go_home(pipes, status);
}

/* The figures, most important first: where those of the operation leave no space for all, the
 * last ones are left out. */
static int tell(const struct pipes *pipes, const struct pipe_times *times, double bound_ns,
                struct assay_metric *out, int max)
{
    const struct pipe_axes *axes = &pipes->axes;
    bool obtains = axes->alloc != PIPE_PREALLOCATED || axes->host == PIPE_PINNED_EACH;
    /* The share that overlapping saved is defined only for one GPU whose stages are timed
     * separately, and for a host that does not wait for each batch. */
    bool overlaps = pipes->count == 1 && !pipe_networks_overlap(axes) && axes->streams != PIPE_WAIT;
    const struct {
        bool has;
        struct assay_metric metric;
    } figure[] = {
        {true, {"calls", (double)times->calls}},
        {true, {"h2d_ns", times->h2d_ns}},
        {true, {"compute_ns", times->compute_ns}},
        {true, {"d2h_ns", times->d2h_ns}},
        {pipe_is_staged(axes), {"staging_ns", times->staging_ns}},
        {obtains, {"alloc_ns", times->alloc_ns}},
        {true, {"bound_share", pipe_share(bound_ns, times->launch_ns)}},
        {overlaps, {"overlap_share", pipe_overlap_share(times)}},
        {true, {"compared", (double)pipes->compared}},
        {true, {"h2d_each_ns", pipe_each_ns(times->h2d_ns, times->calls)}},
        {true, {"compute_each_ns", pipe_each_ns(times->compute_ns, times->calls)}},
        {true, {"d2h_each_ns", pipe_each_ns(times->d2h_ns, times->calls)}},
        {obtains, {"alloc_each_ns", pipe_each_ns(times->alloc_ns, times->calls)}},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof figure / sizeof *figure && count < max; i++)
        if (figure[i].has) out[count++] = figure[i].metric;
    return count;
}

int pipes_figures(struct pipes *pipes, struct assay_metric *out, int max)
{
    struct pipe_times times = {0};
    double bound_ns;
    if (pipes->source_bytes == 0) return 0;
    if (time_launches(pipes)) return -1;
    times.launch_ns = median_launch(pipes, pipes->launch_ns);
    if (time_all(pipes, &times, &bound_ns)) return -1;
    return tell(pipes, &times, bound_ns, out, max);
}
