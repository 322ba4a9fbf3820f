/*
 * memory.cuh - the mixes of `memory` on CUDA, as template arguments of a kernel: how many vectors
 * there are, how one is loaded and stored, and what remains after the last whole vector.
 *
 * A vector is 16 bytes of input, or of output for a write. The mix `read` is in memory_vec4.cu,
 * because its unit is a slice.
 */
#pragma once

#include <cuda_runtime.h>

#include "memory.h"

enum { MEMORY_THREADS = 256 }; /* per block, in every kernel of this operation */

typedef void memory_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in,
                           int64_t out_words, int64_t in_words);

/* Plain cached accesses. */
struct cached_access {
    static __device__ uint4 load(const uint4 *from)
    {
        return __ldg(from);
    }
    template <class T> static __device__ void store(T *to, T value)
    {
        *to = value;
    }
};

/* Evict-first: data that is used once should not displace other data. */
struct streaming_access {
    static __device__ uint4 load(const uint4 *from)
    {
        return __ldcs(from);
    }
    template <class T> static __device__ void store(T *to, T value)
    {
        __stcs(to, value);
    }
};

static __device__ inline uint32_t memory_xor(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

template <class Access> struct copy_mix {
    static __host__ __device__ int64_t vectors(int64_t out_words, int64_t)
    {
        return out_words / 4;
    }
    static __device__ uint4 load(const uint32_t *in, int64_t vector)
    {
        return Access::load((const uint4 *)in + vector);
    }
    static __device__ void store(uint32_t *out, int64_t vector, uint4 value)
    {
        Access::store((uint4 *)out + vector, value);
    }
    /* The words after the last vector, at most three. */
    static __device__ void rest(uint32_t *out, const uint32_t *in, int64_t out_words, int64_t)
    {
        for (int64_t i = out_words & ~(int64_t)3; i < out_words; i++)
            out[i] = in[i];
    }
};

template <class Access> struct r4w1_mix {
    static __host__ __device__ int64_t vectors(int64_t, int64_t in_words)
    {
        return in_words / 4;
    }
    static __device__ uint4 load(const uint32_t *in, int64_t vector)
    {
        return Access::load((const uint4 *)in + vector);
    }
    static __device__ void store(uint32_t *out, int64_t vector, uint4 value)
    {
        Access::store(out + vector, memory_xor(value));
    }
    /* The last output word, where fewer than four input words are left for it. */
    static __device__ void rest(uint32_t *out, const uint32_t *in, int64_t out_words,
                                int64_t in_words)
    {
        int64_t whole = in_words / 4;
        if (whole == out_words) return;
        uint32_t word = 0;
        for (int64_t i = 4 * whole; i < in_words; i++)
            word ^= in[i];
        out[whole] = word;
    }
};

template <class Access> struct write_mix {
    static __host__ __device__ int64_t vectors(int64_t out_words, int64_t)
    {
        return out_words / 4;
    }
    static __device__ uint4 load(const uint32_t *, int64_t)
    {
        return make_uint4(MEMORY_WORD_WRITTEN, MEMORY_WORD_WRITTEN, MEMORY_WORD_WRITTEN,
                          MEMORY_WORD_WRITTEN);
    }
    static __device__ void store(uint32_t *out, int64_t vector, uint4 value)
    {
        Access::store((uint4 *)out + vector, value);
    }
    static __device__ void rest(uint32_t *out, const uint32_t *, int64_t out_words, int64_t)
    {
        for (int64_t i = out_words & ~(int64_t)3; i < out_words; i++)
            out[i] = MEMORY_WORD_WRITTEN;
    }
};
