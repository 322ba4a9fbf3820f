/*
 * pipe_memory_cuda.c - what a batch pipeline keeps (host memory, device memory, streams), and what
 * it allocates for each batch. See pipe.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_graph.h"
#include "kernels/codec/network/codec_net_internal.h"
#include "host_memory.h"
#include "pipe.h"

enum { RESULT_POISON = 0xa5 };

/* Left free beside the pipeline's blocks: the harness wants a quarter of a gibibyte. */
static const int64_t LEFT_BYTES = INT64_C(512) << 20;

/* The largest part of the GPU's memory that a pipeline takes, unless it needs more: the variants
 * of a group exist side by side, and how a batch is split must not depend on their order. */
enum { MOST_SHARE = 16 };

/* ------------------------------------------------------------- page-locked -- */

static int host_alloc(void **out, int64_t bytes, unsigned flags)
{
    return cuda_error(cudaHostAlloc(out, (size_t)bytes, flags | cudaHostAllocPortable),
                      "page-locked memory");
}

static int host_obtain(struct pipe *pipe, struct pipe_slot *slot)
{
    if (host_alloc((void **)&slot->host_in, pipe_in_bytes(pipe), cudaHostAllocDefault)) return -1;
    return host_alloc((void **)&slot->host_out, pipe_out_bytes(pipe), cudaHostAllocDefault);
}

static int host_return(struct pipe_slot *slot)
{
    unsigned char *in = slot->host_in, *out = slot->host_out;
    slot->host_in = slot->host_out = NULL;
    if (in && cuda_error(cudaFreeHost(in), "cudaFreeHost")) return -1;
    return out ? cuda_error(cudaFreeHost(out), "cudaFreeHost") : 0;
}

int pipe_obtain_host(struct pipe *pipe, struct pipe_slot *slot)
{
    return pipe->axes->host == PIPE_PINNED_EACH ? host_obtain(pipe, slot) : 0;
}

int pipe_return_host(struct pipe *pipe, struct pipe_slot *slot)
{
    return pipe->axes->host == PIPE_PINNED_EACH ? host_return(slot) : 0;
}

static bool volume_is_pinned(const struct pipes *pipes)
{
    enum pipe_host host = pipes->axes.host;
    return host == PIPE_PINNED || host == PIPE_WRITE_COMBINED || host == PIPE_MAPPED;
}

/* The memory of all batches: what a caller of the codec would bring and get. Mapped memory has the
 * same address on the GPU: every 64-bit system has one address space for both. */
static int volume_alloc(struct pipes *pipes)
{
    size_t in = (size_t)pipes->source_bytes, out = (size_t)pipes->result_bytes;
    if (volume_is_pinned(pipes)) {
        unsigned both =
            pipes->axes.host == PIPE_MAPPED ? cudaHostAllocMapped : cudaHostAllocDefault;
        unsigned flags =
            pipes->axes.host == PIPE_WRITE_COMBINED ? cudaHostAllocWriteCombined : both;
        if (host_alloc((void **)&pipes->source, (int64_t)in, flags)) return -1;
        return host_alloc((void **)&pipes->result, (int64_t)out, both);
    }
    pipes->source = malloc(in);
    pipes->result = malloc(out);
    return pipes->source && pipes->result ? 0 : assay_error("out of memory for the batches");
}

/* Each variant of a group keeps its own, all of them side by side. */
static int64_t host_bytes(const struct pipes *pipes, const struct assay_shape *shape)
{
    int64_t leaf = leaf_in_bytes(pipes->direction) + leaf_out_bytes(pipes->direction);
    int64_t staged = pipe_is_staged(&pipes->axes) ? pipes->count * pipes->axes.depth : 0;
    return pipes->source_bytes + pipes->result_bytes + staged * shape->value[PIPE_LEAVES] * leaf;
}

/* Copy the input from the harness's buffer, make the output wrong everywhere, and give both to
 * the pipes. */
static int volume_open(struct pipes *pipes, const void *input)
{
    if (volume_alloc(pipes)) return -1;
    memset(pipes->result, RESULT_POISON, (size_t)pipes->result_bytes);
    for (int i = 0; i < pipes->count; i++) {
        pipes->pipe[i].source = pipes->source;
        pipes->pipe[i].result = pipes->result;
    }
    return cuda_error(
        cudaMemcpy(pipes->source, input, (size_t)pipes->source_bytes, cudaMemcpyDeviceToHost),
        "the batches");
}

static void volume_release(struct pipes *pipes)
{
    if (volume_is_pinned(pipes)) {
        if (pipes->source) cudaFreeHost(pipes->source);
        if (pipes->result) cudaFreeHost(pipes->result);
    } else {
        free(pipes->source);
        free(pipes->result);
    }
}

/* ---------------------------------------------------------- device memory -- */

/* A free block of exactly so many bytes, or NULL. */
static unsigned char *spare_take(struct pipe *pipe, int64_t bytes)
{
    for (int i = 0; i < PIPE_MOST_SLOTS; i++)
        if (pipe->spare[i].block && pipe->spare[i].bytes == bytes) {
            unsigned char *block = pipe->spare[i].block;
            pipe->spare[i].block = NULL;
            return block;
        }
    return NULL;
}

/* There is a place for each slot's block. The host waits for a batch before it begins the next, so
 * that nothing uses a block which is taken again. */
static void spare_give(struct pipe *pipe, unsigned char *block, int64_t bytes)
{
    int i = 0;
    while (pipe->spare[i].block)
        i++;
    pipe->spare[i] = (struct pipe_spare){block, bytes};
}

int pipe_obtain_block(struct pipe *pipe, struct pipe_slot *slot)
{
    size_t bytes = (size_t)pipe->layout.bytes;
    void **block = (void **)&slot->block;
    switch (pipe->axes->alloc) {
    case PIPE_PREALLOCATED:
        return 0;
    case PIPE_BY_SHAPE:
        slot->block = spare_take(pipe, (int64_t)bytes);
        if (slot->block) return 0;
        return cuda_error(cudaMalloc(block, bytes), "cudaMalloc");
    case PIPE_MALLOC:
        return cuda_error(cudaMalloc(block, bytes), "cudaMalloc");
    case PIPE_ASYNC_0:
    case PIPE_ASYNC_MAX:
        break;
    }
    return cuda_error(cudaMallocFromPoolAsync(block, bytes, pipe->pool, slot->in_stream),
                      "cudaMallocFromPoolAsync");
}

/* Everything that uses the block is enqueued, and the copy of the output comes last. */
int pipe_return_block(struct pipe *pipe, struct pipe_slot *slot)
{
    void *block = slot->block;
    if (pipe->axes->alloc == PIPE_PREALLOCATED) return 0;
    slot->block = NULL;
    if (pipe->axes->alloc == PIPE_BY_SHAPE) {
        spare_give(pipe, block, pipe->layout.bytes);
        return 0;
    }
    if (pipe->axes->alloc != PIPE_MALLOC)
        return cuda_error(cudaFreeAsync(block, slot->out_stream), "cudaFreeAsync");
    cudaError_t error = cudaStreamSynchronize(slot->out_stream);
    if (cuda_error(cudaFree(block), "cudaFree")) return -1;
    return cuda_error(error, "a batch");
}

static int pool_make(struct pipe *pipe)
{
    uint64_t threshold = pipe->axes->alloc == PIPE_ASYNC_MAX ? UINT64_MAX : 0;
    if (pipe->axes->alloc != PIPE_ASYNC_MAX && pipe->axes->alloc != PIPE_ASYNC_0) return 0;
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .handleTypes = cudaMemHandleTypeNone,
                                     .location = {.type = cudaMemLocationTypeDevice}};
    props.location.id = pipe->device;
    if (cuda_error(cudaMemPoolCreate(&pipe->pool, &props), "cudaMemPoolCreate")) return -1;
    return cuda_error(
        cudaMemPoolSetAttribute(pipe->pool, cudaMemPoolAttrReleaseThreshold, &threshold),
        "release threshold");
}

/* -------------------------------------------------------------------- slots -- */

static int streams_make(struct pipe *pipe)
{
    enum pipe_streams kind = pipe->axes->streams;
    pipe->stream_count = kind == PIPE_ROLES ? 3 : kind == PIPE_WHOLE ? pipe->axes->depth : 1;
    for (int i = 0; i < pipe->stream_count; i++)
        if (cuda_error(cudaStreamCreateWithFlags(&pipe->stream[i], cudaStreamNonBlocking),
                       "a stream"))
            return -1;
    return 0;
}

static void slot_streams(const struct pipe *pipe, struct pipe_slot *slot, int index)
{
    const cudaStream_t *stream = pipe->stream;
    bool roles = pipe->axes->streams == PIPE_ROLES;
    cudaStream_t own = stream[index % pipe->stream_count];
    slot->in_stream = roles ? stream[0] : own;
    slot->net_stream = roles ? stream[1] : own;
    slot->out_stream = roles ? stream[2] : own;
}

static int slot_make(struct pipe *pipe, int index)
{
    struct pipe_slot *slot = &pipe->slot[index];
    cudaEvent_t *events[] = {&slot->loaded, &slot->computed, &slot->stored};
    slot->batch = -1;
    slot_streams(pipe, slot, index);
    for (int i = 0; i < 3; i++)
        if (cuda_error(cudaEventCreateWithFlags(events[i], cudaEventDisableTiming), "an event"))
            return -1;
    if (pipe->axes->host == PIPE_STAGED && host_obtain(pipe, slot)) return -1;
    if (pipe->axes->alloc != PIPE_PREALLOCATED) return 0;
    if (cuda_error(cudaMalloc((void **)&slot->block, (size_t)pipe->layout.bytes), "a slot"))
        return -1;
    return pipe->axes->graph ? pipe_record_graph(pipe, slot) : 0;
}

static void slot_release(struct pipe_slot *slot)
{
    cudaEvent_t events[] = {slot->loaded, slot->computed, slot->stored};
    cuda_graph_release(slot->graph);
    for (int i = 0; i < 3; i++)
        if (events[i]) cudaEventDestroy(events[i]);
    if (slot->block) cudaFree(slot->block);
    host_return(slot);
}

/* -------------------------------------------------------------------- pipes -- */

static int64_t net_bytes(enum pipe_direction direction, int64_t leaves)
{
    return direction == PIPE_ENCODE ? (int64_t)codec_net_workspace_bytes(leaves) : 0;
}

/* Choose how much of a batch to process at a time, by the free memory of the GPU. 0, -1 or
 * ASSAY_SKIP. */
static int fit(struct pipe *pipe)
{
    size_t free_bytes, all;
    int64_t needed;
    if (cuda_error(cudaMemGetInfo(&free_bytes, &all), "free memory")) return -1;
    int64_t left = (int64_t)free_bytes - LEFT_BYTES, share = (int64_t)all / MOST_SHARE;
    pipe->part = pipe_part(pipe->direction, pipe->axes, pipe->leaves, left < share ? left : share,
                           net_bytes, &needed);
    if (pipe->part == 0)
        pipe->part = pipe_part(pipe->direction, pipe->axes, pipe->leaves, left, net_bytes, &needed);
    if (pipe->part == 0) {
        assay_error("batches of %" PRId64 " leaves need %" PRId64
                    " bytes of device memory even with "
                    "four leaves at a time, and %" PRId64 " are left",
                    pipe->leaves, needed, (int64_t)free_bytes);
        return ASSAY_SKIP;
    }
    pipe->layout = pipe_block(pipe->direction, pipe->axes, pipe->leaves,
                              net_bytes(pipe->direction, pipe->part));
    return 0;
}

/* On the current GPU. */
static int pipe_open(struct pipe *pipe)
{
    const struct codec_weights *weights = codec_weights_default();
    if (!weights || codec_net_create(&pipe->net, weights)) return -1;
    if (pipe_networks_overlap(pipe->axes)) codec_net_side_by_side(pipe->net, pipe->axes->depth);
    int status = fit(pipe);
    if (status) return status;
    if (pool_make(pipe) || streams_make(pipe)) return -1;
    for (; pipe->slot_count < pipe->axes->depth; pipe->slot_count++)
        if (slot_make(pipe, pipe->slot_count)) {
            pipe->slot_count++; /* what it has of its own is released too */
            return -1;
        }
    return 0;
}

static void pipe_close(struct pipe *pipe)
{
    for (int i = 0; i < pipe->slot_count; i++)
        slot_release(&pipe->slot[i]);
    for (int i = 0; i < pipe->stream_count; i++)
        if (pipe->stream[i]) cudaStreamDestroy(pipe->stream[i]);
    for (int i = 0; i < PIPE_MOST_SLOTS; i++)
        if (pipe->spare[i].block) cudaFree(pipe->spare[i].block);
    if (pipe->pool) cudaMemPoolDestroy(pipe->pool);
    codec_net_destroy(pipe->net);
}

/* How many GPUs take part. 0, -1 or ASSAY_SKIP. */
static int count_gpus(struct pipes *pipes)
{
    if (cuda_error(cudaGetDevice(&pipes->home), "cudaGetDevice")) return -1;
    pipes->count = 1;
    if (!pipes->axes.all_gpus) return 0;
    if (cuda_error(cudaGetDeviceCount(&pipes->visible), "counting the GPUs")) return -1;
    if (pipes->visible < 2) {
        assay_error("spreads over several GPUs, and there is one");
        return ASSAY_SKIP;
    }
    pipes->count = pipes->visible < PIPE_MOST_GPUS ? pipes->visible : PIPE_MOST_GPUS;
    return 0;
}

/* Batch i goes to GPU i modulo their number, the harness's GPU first. */
static int open_all(struct pipes *pipes, const struct assay_shape *shape)
{
    for (int i = 0; i < pipes->count; i++) {
        struct pipe *pipe = &pipes->pipe[i];
        pipe->axes = &pipes->axes;
        pipe->direction = pipes->direction;
        pipe->leaves = shape->value[PIPE_LEAVES];
        pipe->first = i;
        pipe->step = pipes->count;
        pipe->beyond = shape->value[PIPE_BATCHES];
        pipe->device = i == 0 ? pipes->home : (pipes->home + i) % pipes->visible;
        if (cuda_error(cudaSetDevice(pipe->device), "choosing the GPU")) return -1;
        int status = pipe_open(pipe);
        if (status) return status;
    }
    return 0;
}

static void tell(const struct pipes *pipes, struct assay_call *call)
{
    const struct pipe *pipe = &pipes->pipe[0];
    int64_t pieces = (pipe->leaves + pipe->part - 1) / pipe->part;
    call->workspace_bytes += pipes->source_bytes + pipes->result_bytes;
    if (pipes->axes.alloc == PIPE_PREALLOCATED)
        call->workspace_bytes += pipes->count * pipes->axes.depth * pipe->layout.bytes;
    size_t used = strlen(call->note);
    const char *between = used ? ", " : "";
    if (pieces > 1)
        snprintf(call->note + used, sizeof call->note - used, "%sbatches split in %" PRId64,
                 between, pieces);
    else if (pipes->count > 1)
        snprintf(call->note + used, sizeof call->note - used, "%s%d GPUs", between, pipes->count);
}

int pipes_open(struct pipes **out, struct assay_call *call, enum pipe_direction direction,
               const struct pipe_axes *axes)
{
    struct pipes *pipes = calloc(1, sizeof *pipes);
    *out = pipes;
    if (!pipes) return assay_error("out of memory");
    pipes->axes = *axes;
    pipes->direction = direction;
    pipes->source_bytes = pipe_leaves(call->shape) * leaf_in_bytes(direction);
    pipes->result_bytes = pipe_leaves(call->shape) * leaf_out_bytes(direction);
    int status = count_gpus(pipes);
    if (status) return status;
    if (pipe_volume_open(call)) return -1;
    if (pipes->source_bytes == 0) return 0;
    /* Slots without a batch would only take memory from those that have one. */
    pipes->axes.depth = pipe_depth(axes, call->shape->value[PIPE_BATCHES], pipes->count);
    status = host_memory_check(host_bytes(pipes, call->shape), "the batches");
    if (status) return status;
    status = pipes_go_home(pipes, open_all(pipes, call->shape));
    if (status) return status;
    tell(pipes, call);
    return volume_open(pipes, call->buffer[PIPE_IN]);
}

int pipes_go_home(const struct pipes *pipes, int status)
{
    cudaError_t error = cudaSetDevice(pipes->home);
    if (status) return status; /* its words stay */
    return cuda_error(error, "choosing the GPU");
}

void pipes_close(struct pipes *pipes)
{
    if (!pipes) return;
    for (int i = 0; i < pipes->count; i++) {
        if (pipes->pipe[i].axes) cudaSetDevice(pipes->pipe[i].device);
        pipe_close(&pipes->pipe[i]);
    }
    cudaSetDevice(pipes->home);
    volume_release(pipes);
    free(pipes);
}
