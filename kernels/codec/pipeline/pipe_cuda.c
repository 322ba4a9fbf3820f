/*
 * pipe_cuda.c - a launch of a batch pipeline: which batch runs when, on which stream.
 *
 * The input memory of a slot is free again when its batch has been through the network, its output
 * memory when the output is in host memory. Where a slot has one stream, the order of the stream
 * guarantees that; with three streams, each stage waits for the events that do.
 */
#include "kernels/cuda/cuda_error.h"
#include "pipe.h"

static int wait_for(cudaStream_t stream, cudaEvent_t event)
{
    return cuda_error(cudaStreamWaitEvent(stream, event, 0), "waiting for a stage");
}

static int mark(cudaEvent_t event, cudaStream_t stream)
{
    return cuda_error(cudaEventRecord(event, stream), "marking a stage");
}

/* The host's part after a batch: wait for it and, where it was staged, copy it to its place in
 * the output. */
static int collect(struct pipe *pipe, struct pipe_slot *slot)
{
    if (slot->batch < 0) return 0;
    if (cuda_error(cudaEventSynchronize(slot->stored), "a batch")) return -1;
    if (slot->host_out) pipe_copy_out(pipe, slot);
    slot->batch = -1;
    return pipe_return_host(pipe, slot);
}

/* A stage, and the events around it where the batch is traced. */
static int enqueue(struct pipe *pipe, struct pipe_slot *slot, enum pipe_stage stage,
                   cudaStream_t stream)
{
    static pipe_stage_function *const enqueue_stage[PIPE_STAGES] = {
        [PIPE_STAGE_IN] = pipe_stage_in,
        [PIPE_STAGE_NET] = pipe_stage_net,
        [PIPE_STAGE_OUT] = pipe_stage_out,
    };
    int64_t turn = (slot->batch - pipe->first) / pipe->step;
    bool traced = pipe->trace && turn < pipe->trace->batches;
    if (traced && mark(pipe->trace->mark[turn][stage].begin, stream)) return -1;
    if (enqueue_stage[stage](pipe, slot, stream)) return -1;
    return traced ? mark(pipe->trace->mark[turn][stage].end, stream) : 0;
}

/* In one stream the slot's own order holds, and no event is needed. */
static int enqueue_in_order(struct pipe *pipe, struct pipe_slot *slot)
{
    cudaStream_t stream = slot->net_stream;
    if (enqueue(pipe, slot, PIPE_STAGE_IN, stream)) return -1;
    if (enqueue(pipe, slot, PIPE_STAGE_NET, stream)) return -1;
    return enqueue(pipe, slot, PIPE_STAGE_OUT, stream);
}

static int enqueue_by_roles(struct pipe *pipe, struct pipe_slot *slot)
{
    /* Waiting for an event that was never recorded takes no time: the first round. */
    if (wait_for(slot->in_stream, slot->computed)) return -1;
    if (enqueue(pipe, slot, PIPE_STAGE_IN, slot->in_stream)) return -1;
    if (mark(slot->loaded, slot->in_stream) || wait_for(slot->net_stream, slot->loaded)) return -1;
    if (wait_for(slot->net_stream, slot->stored)) return -1;
    if (enqueue(pipe, slot, PIPE_STAGE_NET, slot->net_stream)) return -1;
    if (mark(slot->computed, slot->net_stream)) return -1;
    if (wait_for(slot->out_stream, slot->computed)) return -1;
    return enqueue(pipe, slot, PIPE_STAGE_OUT, slot->out_stream);
}

static int begin(struct pipe *pipe, struct pipe_slot *slot, int64_t batch)
{
    slot->batch = batch;
    if (pipe_obtain_host(pipe, slot) || pipe_obtain_block(pipe, slot)) return -1;
    if (slot->host_in) pipe_copy_in(pipe, slot);
    bool roles = pipe->axes->streams == PIPE_ROLES;
    if (roles ? enqueue_by_roles(pipe, slot) : enqueue_in_order(pipe, slot)) return -1;
    if (mark(slot->stored, slot->out_stream)) return -1;
    return pipe_return_block(pipe, slot);
}

/* A slot whose last batch the host must finish before the slot takes another. */
static bool host_is_wanted(const struct pipe *pipe)
{
    return pipe->axes->streams == PIPE_WAIT || pipe_is_staged(pipe->axes);
}

static int run(struct pipe *pipe)
{
    int64_t turn = 0;
    pipe->staged_ns = 0;
    if (pipe->trace && mark(pipe->trace->start, pipe->stream[0])) return -1;
    for (int64_t batch = pipe->first; batch < pipe->beyond; batch += pipe->step, turn++) {
        struct pipe_slot *slot = &pipe->slot[turn % pipe->slot_count];
        if (host_is_wanted(pipe) && collect(pipe, slot)) return -1;
        if (begin(pipe, slot, batch)) return -1;
        if (pipe->axes->streams == PIPE_WAIT && collect(pipe, slot)) return -1;
    }
    for (int i = 0; i < pipe->slot_count; i++)
        if (collect(pipe, &pipe->slot[i])) return -1;
    return 0;
}

/* One host thread per GPU, because one thread that enqueues for all would delay each of them. The
 * text of an error is kept per thread, so the calling one reports it again. */
static int run_all(struct pipes *pipes)
{
    int failed = -1;
    cudaError_t error = cudaSuccess;
#pragma omp parallel for num_threads(pipes->count) schedule(static, 1)
    for (int i = 0; i < pipes->count; i++) {
        struct pipe *pipe = &pipes->pipe[i];
        if (cudaSetDevice(pipe->device) == cudaSuccess && run(pipe) == 0) continue;
#pragma omp critical(pipe_failed)
        {
            failed = pipe->device;
            error = cudaPeekAtLastError();
        }
    }
    if (failed < 0) return pipes_go_home(pipes, 0);
    pipes_go_home(pipes, -1);
    return assay_error("the pipeline of GPU %d: %s", failed, cudaGetErrorString(error));
}

int pipes_launch(struct pipes *pipes)
{
    if (pipes->source_bytes == 0) return 0;
    return pipes->count == 1 ? run(&pipes->pipe[0]) : run_all(pipes);
}
