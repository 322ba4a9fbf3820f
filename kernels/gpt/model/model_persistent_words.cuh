/*
 * model_persistent_words.cuh - words (model_persistent.h), and four of them at a time.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/gpt.cuh"
#include "model_persistent.h"

/* Each word holds its turn itself, so that no order of memory and no fence is needed. */
static __device__ __forceinline__ void word_put(uint32_t *at, float value, uint32_t turn)
{
    uint32_t word = (__float_as_uint(value) & ~1u) | turn;
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}

/* A word that the block has written itself, or that it has waited for. */
static __device__ __forceinline__ uint32_t word_get(const uint32_t *at)
{
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}

static __device__ __forceinline__ float word_number(uint32_t word)
{
    return __uint_as_float(word & ~1u);
}

static __device__ __forceinline__ float4 word_numbers(const uint4 &word)
{
    return make_float4(word_number(word.x), word_number(word.y), word_number(word.z),
                       word_number(word.w));
}

static __device__ __forceinline__ void words_get(const uint32_t *at, uint32_t &out)
{
    out = word_get(at);
}

static __device__ __forceinline__ void words_get(const uint32_t *at, uint4 &out)
{
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w)
                 : "l"(at)
                 : "memory");
}

static __device__ __forceinline__ bool words_there(uint32_t out, uint32_t turn)
{
    return ((out ^ turn) & 1) == 0;
}

static __device__ __forceinline__ bool words_there(const uint4 &out, uint32_t turn)
{
    uint32_t off = (out.x ^ turn) | (out.y ^ turn) | (out.z ^ turn) | (out.w ^ turn);
    return (off & 1) == 0;
}

/* Wait for N words, or quads of words on 16 bytes, asked for at once: at(i) is where, or NULL for
 * one that is left out, of which `out` stays as it was. */
template <int N, typename WORDS, typename AT>
static __device__ __forceinline__ void words_wait(AT at, uint32_t turn, WORDS (&out)[N])
{
    uint32_t missing = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        missing |= (uint32_t)(at(i) != NULL) << i;
    while (missing) {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (missing >> i & 1) words_get(at(i), out[i]);
#pragma unroll
        for (int i = 0; i < N; i++)
            if (words_there(out[i], turn)) missing &= ~(1u << i);
    }
}

/* Where word i is (model_persistent.h); the first of a quad is at 2 i. */
static __device__ __forceinline__ int word_place(int i)
{
    return i + (i & ~3);
}

/* Four neighbouring elements as memory has them, and as numbers. */
template <typename T> struct persistent_stored {
    uint2 words;

    __device__ __forceinline__ float4 numbers(void) const
    {
        const float2 low = gpt_unpack(T(), words.x), high = gpt_unpack(T(), words.y);
        return make_float4(low.x, low.y, high.x, high.y);
    }
};

template <> struct persistent_stored<float> {
    float4 words;

    __device__ __forceinline__ float4 numbers(void) const
    {
        return words;
    }
};

template <typename T> static __device__ __forceinline__ float4 persistent_four(const T *from)
{
    return persistent_stored<T>{*(const decltype(persistent_stored<T>::words) *)from}.numbers();
}

/* The warps that multiply. */
static __device__ __forceinline__ void persistent_sync(void)
{
    hopper_turn_wait(1, PERSISTENT_LANES);
}
