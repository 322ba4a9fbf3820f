/*
 * pipe_spans_cuda.c - when the stages of a launch's first batches ran, by events in the streams
 * that they run in. A lane is a stream; the lanes of several GPUs follow one another.
 *
 * A span begins when nothing before the stage is left in its stream. Where two streams want the
 * same copy engine or the same multiprocessors, the span includes the waiting. The spans of several
 * GPUs count from the beginning of each GPU's own work.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "pipe.h"

static const char *const stage_name[PIPE_STAGES] = {"h2d", "compute", "d2h"};

static void trace_release(struct pipe_trace *trace)
{
    if (trace->start) cudaEventDestroy(trace->start);
    for (int64_t i = 0; i < trace->batches; i++)
        for (int s = 0; s < PIPE_STAGES; s++) {
            if (trace->mark[i][s].begin) cudaEventDestroy(trace->mark[i][s].begin);
            if (trace->mark[i][s].end) cudaEventDestroy(trace->mark[i][s].end);
        }
}

/* On the pipe's GPU. trace_release takes what a failure has left. */
static int trace_make(struct pipe_trace *trace, int64_t batches)
{
    trace->batches = batches;
    if (cuda_error(cudaEventCreate(&trace->start), "an event")) return -1;
    for (int64_t i = 0; i < batches; i++)
        for (int s = 0; s < PIPE_STAGES; s++)
            if (cuda_error(cudaEventCreate(&trace->mark[i][s].begin), "an event") ||
                cuda_error(cudaEventCreate(&trace->mark[i][s].end), "an event"))
                return -1;
    return 0;
}

static int open_traces(struct pipes *pipes, struct pipe_trace *trace, int64_t most)
{
    int status = 0;
    for (int i = 0; status == 0 && i < pipes->count; i++) {
        struct pipe *pipe = &pipes->pipe[i];
        int64_t batches = pipe_batches(pipe) < most ? pipe_batches(pipe) : most;
        pipe->trace = &trace[i];
        status = cuda_error(cudaSetDevice(pipe->device), "choosing the GPU");
        if (status == 0) status = trace_make(pipe->trace, batches);
    }
    return pipes_go_home(pipes, status);
}

static void close_traces(struct pipes *pipes)
{
    for (int i = 0; i < pipes->count; i++) {
        struct pipe *pipe = &pipes->pipe[i];
        if (!pipe->trace) continue;
        trace_release(pipe->trace);
        pipe->trace = NULL;
    }
}

/* The index of the stream that a stage of the batch ran in. */
static int lane_of(const struct pipe *pipe, int64_t turn, enum pipe_stage stage)
{
    const struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
    const cudaStream_t stream[PIPE_STAGES] = {slot->in_stream, slot->net_stream, slot->out_stream};
    for (int i = 0; i < pipe->stream_count; i++)
        if (pipe->stream[i] == stream[stage]) return i;
    return 0;
}

static int read_span(const struct pipe *pipe, int64_t turn, enum pipe_stage stage,
                     struct assay_span *out)
{
    const struct pipe_trace *trace = pipe->trace;
    float begin_ms, end_ms;
    if (cuda_error(cudaEventElapsedTime(&begin_ms, trace->start, trace->mark[turn][stage].begin),
                   "a stage's begin") ||
        cuda_error(cudaEventElapsedTime(&end_ms, trace->start, trace->mark[turn][stage].end),
                   "a stage's end"))
        return -1;
    *out = (struct assay_span){stage_name[stage], lane_of(pipe, turn, stage),
                               1e6 * (double)begin_ms, 1e6 * (double)end_ms};
    return 0;
}

int pipes_spans(struct pipes *pipes, struct assay_span *out, int max)
{
    int count = 0, status, lanes = 0;
    int64_t most = max / PIPE_STAGES / pipes->count;
    if (pipes->source_bytes == 0) return 0;
    struct pipe_trace *trace = calloc((size_t)pipes->count, sizeof *trace);
    if (!trace) return assay_error("out of memory");
    status = open_traces(pipes, trace, most < PIPE_TRACED ? most : PIPE_TRACED);
    if (status == 0) status = pipes_launch(pipes);
    for (int i = 0; status == 0 && i < pipes->count; i++) {
        const struct pipe *pipe = &pipes->pipe[i];
        for (int64_t turn = 0; status == 0 && turn < pipe->trace->batches; turn++)
            for (int s = 0; status == 0 && s < PIPE_STAGES; s++) {
                status = read_span(pipe, turn, (enum pipe_stage)s, &out[count]);
                out[count++].lane += lanes;
            }
        lanes += pipe->stream_count;
    }
    close_traces(pipes);
    free(trace);
    return status == 0 ? count : -1;
}
