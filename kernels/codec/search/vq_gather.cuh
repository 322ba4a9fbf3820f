/*
 * vq_gather.cuh - what the gathers on the GPU share: the passes that widen the codes, and the
 * choice of a kernel by the type to which they are widened.
 */
#pragma once

#include "vq_gather.h"

enum { GATHER_THREADS = 256, GATHER_WARPS = GATHER_THREADS / 32, GATHER_PIECES = 32 };

/* What a launch of a gather needs; C is uint8_t, int64_t or float. */
template <typename C> struct gather_job {
    const C *codes;
    const float4 *codebook; /* GATHER_PIECES per codeword */
    float4 *out;
    int64_t vectors;
    cudaStream_t stream;
};

template <typename From, typename To>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_widen(const From *__restrict__ from, To *__restrict__ to, int64_t vectors)
{
    int64_t i = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (i < vectors) to[i] = (To)from[i];
}

/* How many blocks of `per_block` cover `count`. */
static inline unsigned gather_blocks(int64_t count, int64_t per_block)
{
    return (unsigned)((count + per_block - 1) / per_block);
}

template <typename C>
static inline gather_job<C> gather_job_of(const struct assay_call *call, int codes)
{
    return {(const C *)call->buffer[codes], (const float4 *)call->buffer[GATHER_CODEBOOK],
            (float4 *)call->buffer[GATHER_OUT], gather_vectors(call->shape),
            (cudaStream_t)call->stream};
}

/* Enqueue the widening passes and then Gather::enqueue(call, job). */
template <typename Gather> static inline int gather_launch(struct assay_call *call)
{
    const int64_t index = call->shape->value[GATHER_INDEX], vectors = gather_vectors(call->shape);
    const unsigned blocks = gather_blocks(vectors, GATHER_THREADS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t *wide = (int64_t *)call->buffer[GATHER_WIDE];
    if (index == GATHER_U8) {
        Gather::enqueue(call, gather_job_of<uint8_t>(call, GATHER_CODES));
        return assay_launched();
    }
    gather_widen<<<blocks, GATHER_THREADS, 0, stream>>>((const uint8_t *)call->buffer[GATHER_CODES],
                                                        wide, vectors);
    if (index == GATHER_I64) {
        Gather::enqueue(call, gather_job_of<int64_t>(call, GATHER_WIDE));
        return assay_launched();
    }
    gather_widen<<<blocks, GATHER_THREADS, 0, stream>>>(
        (const int64_t *)wide, (float *)call->buffer[GATHER_FLOAT], vectors);
    Gather::enqueue(call, gather_job_of<float>(call, GATHER_FLOAT));
    return assay_launched();
}
