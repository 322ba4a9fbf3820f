/*
 * pipe_stage_cuda.c - what one stage of one batch enqueues; see pipe.h.
 *
 * Bytes per leaf over the link: 2048 in one direction, 64 in the other. Operations: codec_net.h.
 */
#include <string.h>
#include <time.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_graph.h"
#include "pipe.h"

/* --------------------------------------------------------------------- host -- */

double pipe_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void copy(struct pipe *pipe, void *to, const void *from, size_t bytes)
{
    double start = pipe_now_ns();
    memcpy(to, from, bytes);
    pipe->staged_ns += pipe_now_ns() - start;
}

void pipe_copy_in(struct pipe *pipe, const struct pipe_slot *slot)
{
    size_t bytes = (size_t)pipe_in_bytes(pipe);
    copy(pipe, slot->host_in, pipe->source + (size_t)slot->batch * bytes, bytes);
}

void pipe_copy_out(struct pipe *pipe, const struct pipe_slot *slot)
{
    size_t bytes = (size_t)pipe_out_bytes(pipe);
    copy(pipe, pipe->result + (size_t)slot->batch * bytes, slot->host_out, bytes);
}

/* --------------------------------------------------------------------- link -- */

int pipe_stage_in(const struct pipe *pipe, const struct pipe_slot *slot, cudaStream_t stream)
{
    int64_t bytes = pipe_in_bytes(pipe);
    if (pipe->axes->host == PIPE_MAPPED) return 0;
    const unsigned char *from = slot->host_in ? slot->host_in : pipe->source + slot->batch * bytes;
    return cuda_error(cudaMemcpyAsync(slot->block + pipe->layout.in, from, (size_t)bytes,
                                      cudaMemcpyHostToDevice, stream),
                      "a batch to the device");
}

int pipe_stage_out(const struct pipe *pipe, const struct pipe_slot *slot, cudaStream_t stream)
{
    int64_t bytes = pipe_out_bytes(pipe);
    if (pipe->axes->host == PIPE_MAPPED) return 0;
    unsigned char *to = slot->host_out ? slot->host_out : pipe->result + slot->batch * bytes;
    return cuda_error(cudaMemcpyAsync(to, slot->block + pipe->layout.out, (size_t)bytes,
                                      cudaMemcpyDeviceToHost, stream),
                      "a batch to the host");
}

/* ------------------------------------------------------------------ network -- */

static int through_int64(const struct pipe *pipe, const struct pipe_slot *slot, void *codes,
                         cudaStream_t stream)
{
    int64_t *wide = (int64_t *)(slot->block + pipe->layout.wide);
    int64_t count = pipe->leaves * LEAF_CODE_BYTES;
    if (pipe_widen(codes, wide, count, stream)) return -1;
    return pipe_narrow(wide, codes, count, stream);
}

static int encode(const struct pipe *pipe, const struct pipe_slot *slot, const void *in,
                  cudaStream_t stream)
{
    uint8_t *codes = pipe_net_out(pipe, slot);
    for (int64_t at = 0; at < pipe->leaves; at += pipe->part) {
        int64_t count = pipe->leaves - at < pipe->part ? pipe->leaves - at : pipe->part;
        if (codec_net_encode(pipe->net, (const float *)in + at * LEAF_VOXELS,
                             codes + at * LEAF_VECTORS, count, slot->block + pipe->layout.workspace,
                             stream))
            return -1;
    }
    return pipe->axes->copies & PIPE_WIDEN ? through_int64(pipe, slot, codes, stream) : 0;
}

static int decode(const struct pipe *pipe, const struct pipe_slot *slot, void *in,
                  cudaStream_t stream)
{
    float *leaves = (float *)pipe_net_out(pipe, slot);
    if (pipe->axes->copies & PIPE_WIDEN && through_int64(pipe, slot, in, stream)) return -1;
    for (int64_t at = 0; at < pipe->leaves; at += pipe->part) {
        int64_t count = pipe->leaves - at < pipe->part ? pipe->leaves - at : pipe->part;
        if (codec_net_decode(pipe->net, (const uint8_t *)in + at * LEAF_VECTORS,
                             leaves + at * LEAF_VOXELS, count, stream))
            return -1;
    }
    return 0;
}

static int enqueue_net(const struct pipe *pipe, const struct pipe_slot *slot, cudaStream_t stream)
{
    void *in = pipe_net_in(pipe, slot);
    if (pipe->axes->copies & PIPE_EXTRA) {
        void *extra = slot->block + pipe->layout.extra;
        if (cuda_error(cudaMemcpyAsync(extra, in, (size_t)pipe_in_bytes(pipe),
                                       cudaMemcpyDeviceToDevice, stream),
                       "the extra copy"))
            return -1;
        in = extra;
    }
    return pipe->direction == PIPE_ENCODE ? encode(pipe, slot, in, stream)
                                          : decode(pipe, slot, in, stream);
}

int pipe_stage_net(const struct pipe *pipe, const struct pipe_slot *slot, cudaStream_t stream)
{
    return slot->graph ? cuda_graph_launch(slot->graph, stream) : enqueue_net(pipe, slot, stream);
}

struct net_work {
    const struct pipe *pipe;
    const struct pipe_slot *slot;
};

static int enqueue_work(const void *what, void *stream)
{
    const struct net_work *net = what;
    return enqueue_net(net->pipe, net->slot, stream);
}

int pipe_record_graph(const struct pipe *pipe, struct pipe_slot *slot)
{
    const struct net_work net = {pipe, slot};
    const struct cuda_work work = {enqueue_work, &net};
    /* Kernels are loaded by their first launch, which a capture need not allow. */
    if (enqueue_net(pipe, slot, slot->net_stream)) return -1;
    if (cuda_error(cudaStreamSynchronize(slot->net_stream), "the network")) return -1;
    return cuda_graph_record(&slot->graph, &work, 1);
}
