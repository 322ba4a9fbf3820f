/*
 * pipe_figures_cuda.c - the times of a batch pipeline's stages, by the GPU's clock.
 *
 * Overlapped stages wait for each other, and an event pair around one would take in the
 * waiting. So each stage is timed by itself, in a pass that takes one batch after the
 * other: the stream is held, begin event, stage and end event are enqueued behind the
 * hold, and only then do they run, one directly behind the other. A pageable copy is not
 * held: the driver would copy to its staging memory meanwhile, and that belongs to it.
 * An event pair also takes in what the queue needs to change engines for a copy and back,
 * some 5 us: so a copy is what a second one behind it adds, and the network is its pair
 * less a pair around nothing. So is a pageable copy, of which a second one would find
 * its memory in the host's caches.
 * Obtaining and returning memory is the host's time and is taken by its clock.
 */
#include <math.h>
#include <time.h>

#include "baselines/cuda_error.h"
#include "pipe.h"

enum { MOST_TIMED = 256 }; /* batches; of more, every so many-th is timed */

/* A launch is repeated so often, but not past so much time: long ones are steady. */
enum { LAUNCHES = 3 };
static const double LAUNCHES_NS = 0.5e9;

/* The host enqueues a copy, and the network's kernels for a part of a batch, in less. */
static const double HOLD_COPY_NS = 20e3, HOLD_PART_NS = 20e3;

struct watch {
    cudaEvent_t begin, end;
};

static double host_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* What the host copies for a batch. */
static void time_staging(void (*copy)(const struct pipe *, const struct pipe_slot *),
                         const struct pipe *pipe, const struct pipe_slot *slot, double *sum_ns)
{
    if (!pipe_is_staged(pipe->axes)) return;
    double start = host_ns();
    copy(pipe, slot);
    *sum_ns += host_ns() - start;
}

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

/* `*sum_ns` grows by what the stage takes, which is what `times` of it take longer than
 * one fewer. Where that is a second one, another goes ahead of all: what the host has just
 * written lies in its caches, and only the first copy is the slower for it. */
static int time_stage(pipe_stage_function *stage, int times, struct pipe *pipe,
                      struct pipe_slot *slot, const struct watch *watch, double hold_ns,
                      double *sum_ns)
{
    double fewer_ns, ns;
    if (times > 1 && stage(pipe, slot, slot->net_stream)) return -1;
    if (time_pair(stage, times - 1, pipe, slot, watch, fmin(hold_ns, HOLD_COPY_NS), &fewer_ns))
        return -1;
    if (time_pair(stage, times, pipe, slot, watch, hold_ns, &ns)) return -1;
    *sum_ns += ns - fewer_ns;
    return 0;
}

static int time_batch(struct pipe *pipe, struct pipe_slot *slot, const struct watch *watch,
                      struct pipe_times *times)
{
    double hold_ns = pipe->axes->host == PIPE_PAGEABLE ? 0 : HOLD_COPY_NS;
    int copies = pipe->axes->host == PIPE_PAGEABLE ? 1 : 2;
    double parts = (double)((pipe->leaves + pipe->part - 1) / pipe->part);
    double start = host_ns();
    if (pipe_obtain_host(pipe, slot) || pipe_obtain_block(pipe, slot)) return -1;
    times->alloc_ns += host_ns() - start;
    time_staging(pipe_copy_in, pipe, slot, &times->staging_ns);
    /* What a pool obtains is ordered by in_stream, the stages by net_stream. */
    if (cuda_error(cudaStreamSynchronize(slot->in_stream), "a block")) return -1;
    if (time_stage(pipe_stage_in, copies, pipe, slot, watch, hold_ns, &times->h2d_ns)) return -1;
    if (time_stage(pipe_stage_net, 1, pipe, slot, watch, HOLD_COPY_NS + parts * HOLD_PART_NS,
                   &times->compute_ns))
        return -1;
    if (time_stage(pipe_stage_out, copies, pipe, slot, watch, hold_ns, &times->d2h_ns)) return -1;
    time_staging(pipe_copy_out, pipe, slot, &times->staging_ns);
    start = host_ns();
    if (pipe_return_block(pipe, slot) || pipe_return_host(pipe, slot)) return -1;
    times->alloc_ns += host_ns() - start;
    times->calls++;
    return 0;
}

/* All batches' times, from those of the timed. */
static void times_scale(struct pipe_times *times, int64_t batches)
{
    double scale = times->calls ? (double)batches / (double)times->calls : 0;
    times->calls = batches;
    times->h2d_ns *= scale;
    times->compute_ns *= scale;
    times->d2h_ns *= scale;
    times->staging_ns *= scale;
    times->alloc_ns *= scale;
}

/* In the slots that a launch has them in: each has host memory of its own. */
static int time_pipe(struct pipe *pipe, struct pipe_times *times)
{
    struct watch watch = {0};
    int64_t batches = pipe_batches(pipe), stride = (batches + MOST_TIMED - 1) / MOST_TIMED;
    int status = cuda_error(cudaEventCreate(&watch.begin), "an event");
    if (status == 0) status = cuda_error(cudaEventCreate(&watch.end), "an event");
    for (int64_t turn = 0; status == 0 && turn < batches; turn += stride) {
        struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
        slot->batch = pipe->first + turn * pipe->step;
        status = time_batch(pipe, slot, &watch, times);
        slot->batch = -1;
    }
    times_scale(times, batches);
    if (watch.begin) cudaEventDestroy(watch.begin);
    if (watch.end) cudaEventDestroy(watch.end);
    return status;
}

/* All networks alone, side by side on the slots' streams as a launch has them: what
 * they take together bounds a launch, and the sum of each by itself does not. The input
 * of each slot is the last that was copied there. */
static int networks_launch(void *of)
{
    struct pipe *pipe = of;
    int64_t turn = 0;
    for (int64_t batch = pipe->first; batch < pipe->beyond; batch += pipe->step, turn++) {
        struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
        if (pipe_stage_net(pipe, slot, slot->net_stream)) return -1;
    }
    for (int i = 0; i < pipe->slot_count; i++)
        if (cuda_error(cudaStreamSynchronize(pipe->slot[i].net_stream), "the networks")) return -1;
    return 0;
}

static int launch_all(void *pipes)
{
    return pipes_launch(pipes);
}

/* The least of a few, as it is held against a bound, or is one. */
static int time_least(int (*launch)(void *of), void *of, double *least_ns)
{
    double begin = host_ns(), end = begin;
    *least_ns = INFINITY;
    for (int i = 0; i < LAUNCHES && end - begin < LAUNCHES_NS; i++) {
        double start = end;
        if (launch(of)) return -1;
        end = host_ns();
        *least_ns = fmin(*least_ns, end - start);
    }
    return 0;
}

/* On the pipe's GPU: its stages' times, and what its networks take as they overlap. */
static int time_one(struct pipe *pipe, struct pipe_times *own)
{
    if (time_pipe(pipe, own)) return -1;
    own->networks_ns = own->compute_ns;
    if (!pipe_networks_overlap(pipe->axes)) return 0;
    return time_least(networks_launch, pipe, &own->networks_ns);
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

int pipes_figures(struct pipes *pipes, struct assay_metric *out, int max)
{
    struct pipe_times times = {0};
    double bound_ns;
    if (pipes->source_bytes == 0) return 0;
    if (time_all(pipes, &times, &bound_ns) || time_least(launch_all, pipes, &times.launch_ns))
        return -1;
    /* What could be saved is a question for one GPU's stages, each at its own time. */
    bool plain = pipes->count == 1 && !pipe_networks_overlap(&pipes->axes);
    const struct assay_metric figure[] = {
        {"calls", (double)times.calls},
        {"h2d_ns", times.h2d_ns},
        {"compute_ns", times.compute_ns},
        {"d2h_ns", times.d2h_ns},
        {"staging_ns", pipe_is_staged(&pipes->axes) ? times.staging_ns : NAN},
        {"alloc_ns", times.alloc_ns},
        {"bound_share", pipe_share(bound_ns, times.launch_ns)},
        {"overlap_share", plain ? pipe_overlap_share(&times) : NAN},
        {"h2d_each_ns", pipe_each_ns(times.h2d_ns, times.calls)},
        {"compute_each_ns", pipe_each_ns(times.compute_ns, times.calls)},
        {"d2h_each_ns", pipe_each_ns(times.d2h_ns, times.calls)},
        {"alloc_each_ns", pipe_each_ns(times.alloc_ns, times.calls)},
    };
    int count = (int)(sizeof figure / sizeof *figure);
    for (int i = 0; i < count && i < max; i++)
        out[i] = figure[i];
    return count < max ? count : max;
}
