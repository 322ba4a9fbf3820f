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

static __device__ __forceinline__ float word_number(uint32_t word)
{
    return __uint_as_float(word & ~1u);
}

/* Four of them, or zeros. */
static __device__ __forceinline__ float4 word_numbers(const uint4 &word, bool there)
{
    uint32_t mask = there ? ~1u : 0;
    return make_float4(__uint_as_float(word.x & mask), __uint_as_float(word.y & mask),
                       __uint_as_float(word.z & mask), __uint_as_float(word.w & mask));
}

/* Where `ask`, a word, or four; otherwise `out` stays as it was. */
static __device__ __forceinline__ void words_get(const uint32_t *at, bool ask, uint32_t &out)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.ne.u32 p, %2, 0;\n"
                 " @p ld.relaxed.gpu.global.u32 %0, [%1];\n"
                 "}"
                 : "+r"(out)
                 : "l"(at), "r"((uint32_t)ask)
                 : "memory");
}

static __device__ __forceinline__ void words_get(const uint32_t *at, bool ask, uint4 &out)
{
    asm volatile("{\n"
                 " .reg .pred p;\n"
                 " setp.ne.u32 p, %5, 0;\n"
                 " @p ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];\n"
                 "}"
                 : "+r"(out.x), "+r"(out.y), "+r"(out.z), "+r"(out.w)
                 : "l"(at), "r"((uint32_t)ask)
                 : "memory");
}

/* As if they were there. */
static __device__ __forceinline__ void words_fill(uint32_t turn, uint32_t &out)
{
    out = turn;
}

static __device__ __forceinline__ void words_fill(uint32_t turn, uint4 &out)
{
    out = make_uint4(turn, turn, turn, turn);
}

/* The lowest bit is 1 where one has another turn. */
static __device__ __forceinline__ uint32_t words_off(uint32_t out, uint32_t turn)
{
    return out ^ turn;
}

static __device__ __forceinline__ uint32_t words_off(const uint4 &out, uint32_t turn)
{
    return (out.x ^ turn) | (out.y ^ turn) | (out.z ^ turn) | (out.w ^ turn);
}

/* Wait for `count` words, up to N, or quads of words on 16 bytes: at(i) is where. By all lanes of a
 * warp, which stay together (hopper_barrier_wait_all) and have the same count. All loads of a lane
 * are under way at once. When it has its words it asks no more: all blocks ask L2 for the same
 * lines, and questions delay the words that others miss. What is beyond `count` is 0 or 1. */
template <int N, typename WORDS, typename AT>
static __device__ __forceinline__ void words_wait(AT at, int count, uint32_t turn, WORDS (&out)[N])
{
    bool ask = true;
#pragma unroll
    for (int i = 0; i < N; i++)
        words_fill(turn, out[i]);
    do {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i >= count) break;
            words_get(at(i), ask, out[i]);
        }
        uint32_t off = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            off |= words_off(out[i], turn);
        ask = off & 1;
    } while (__any_sync(0xffffffffu, ask));
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

template <typename T>
static __device__ __forceinline__ persistent_stored<T> persistent_four(const T *from)
{
    return {*(const decltype(persistent_stored<T>::words) *)from};
}

/* The warps that multiply. */
static __device__ __forceinline__ void persistent_sync(void)
{
    hopper_turn_wait(1, PERSISTENT_LANES);
}
