/*
 * model_persistent_memory.cuh - what a block of model_persistent.cuh keeps in shared memory, and
 * where its outputs go.
 */
#pragma once

#include "model_persistent_ring.cuh"
#include "model_persistent_sums.cuh"

/* Blocks that share columns: on tensor cores two. */
static __host__ __device__ constexpr int persistent_pair(bool tensor)
{
    return tensor ? 2 : 1;
}

/* Pairs fetch and bring with one warp, others with two. */
static __host__ __device__ constexpr int persistent_threads(int pair)
{
    return pair == 2 ? PERSISTENT_MEET : PERSISTENT_THREADS;
}

/* Units of a warp at a time on CUDA cores, of one group of rows: as many as fit into registers, and
 * for several sequences into the warp's memory. */
static __host__ __device__ constexpr int persistent_units(int sequences)
{
    return sequences <= 2 ? 24 : 48 / sequences;
}

/* What a block keeps in shared memory before its ring (and before the table of codewords, where
 * weights are codes); B as below. Behind the ring are the scale of
 * the next norm, what the attention joins, args.warp_floats for each warp, and the block's part of
 * the stream, [B][args.stream_rows]. */
template <typename T, typename W, int B, int PAIR> struct persistent_kept {
    persistent_base<T, W> base;
    float part[2][PAIR * PERSISTENT_WARPS][B][PERSISTENT_PITCH]; /* of two steps by turns */
    float2 measured[2][PAIR * PERSISTENT_WARPS][B];
    struct persistent_fold brought[2][PERSISTENT_PITCH]; /* into the outputs of a round */
    float from[B];                                       /* of norms */
};

/* And behind it what the format of the weights keeps. */
template <typename T, typename W, int B, int PAIR>
struct persistent_memory : persistent_kept<T, W, B, PAIR>, W::memory {
};

/* Where a lane's output goes; NULL where it does not go. */
struct persistent_output {
    uint32_t *words;
    float *stream; /* to which it is added first */
    void *y;       /* or the cache */

    /* Hand it over. */
    template <typename T>
    __device__ __forceinline__ void put(bool gelu, uint32_t turn, float value) const
    {
        if (gelu) value = gpt_gelu_fast(value);
        if (stream) *stream = value += *stream;
        if (words) word_put(words, value, turn);
        if (y) gpt_put((T *)y, value);
    }
};

/* The turns of a launch. The words of the stream are written once more than there are layers. */
struct persistent_turns {
    uint32_t launch, layers;

    __device__ __forceinline__ uint32_t of_layer(int layer) const
    {
        return (launch * layers + layer + 1) & 1;
    }

    /* As the layer finds it. */
    __device__ __forceinline__ uint32_t of_stream(int layer) const
    {
        return (launch * (layers + 1) + layer + 1) & 1;
    }

    /* As a step makes it. */
    __device__ __forceinline__ uint32_t of_output(int product, int layer) const
    {
        return product == MODEL_P_FC2 ? of_stream(layer + 1) : of_layer(layer);
    }
};
