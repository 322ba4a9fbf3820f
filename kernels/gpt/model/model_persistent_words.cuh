/*
 * model_persistent_words.cuh - words (model_persistent.h) and sums over a warp.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/gpt.cuh"
#include "model_persistent.h"

/* A word is one access of 8 bytes: what it holds is there when its tag is, and no fence is needed.
 * It holds an fp32 and a tag of 32 bits; or, PAIRED, two numbers of 24 bits (fp32 with a mantissa
 * of 15) and a tag of 16. */
static __device__ __forceinline__ uint64_t word_of(float value, uint32_t tag)
{
    return (uint64_t)tag << 32 | __float_as_uint(value);
}

/* To the nearest, ties to even. */
static __device__ __forceinline__ uint64_t word_narrow(float value)
{
    uint32_t bits = __float_as_uint(value);
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return (finite ? bits + 0x7f + (bits >> 8 & 1) : bits) >> 8;
}

static __device__ __forceinline__ uint64_t word_of_pair(float first, float second, uint32_t tag)
{
    return (uint64_t)tag << 48 | word_narrow(second) << 24 | word_narrow(first);
}

/* A word's number; of a pair the first or the second. */
template <bool PAIRED> static __device__ __forceinline__ float word_number(uint64_t word, int which)
{
    if (!PAIRED) return __uint_as_float((uint32_t)word);
    return __uint_as_float((uint32_t)(which ? word >> 24 : word) << 8);
}

static __device__ __forceinline__ void word_put(uint64_t *at, uint64_t word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}

static __device__ __forceinline__ uint64_t word_get(const uint64_t *at)
{
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

/* Wait for N words, asked for at once: at(i) is where, or NULL for one that is left out, of which
 * `out` stays as it was. */
template <bool PAIRED, int N, typename AT>
static __device__ __forceinline__ void words_wait(AT at, uint32_t tag, uint64_t (&out)[N])
{
    uint32_t missing = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        missing |= (uint32_t)(at(i) != NULL) << i;
    while (missing) {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (missing >> i & 1) out[i] = word_get(at(i));
#pragma unroll
        for (int i = 0; i < N; i++) {
            bool there = PAIRED ? (uint32_t)(out[i] >> 48) == (tag & 0xffff)
                                : (uint32_t)(out[i] >> 32) == tag;
            if (there) missing &= ~(1u << i);
        }
    }
}

/* Wait for up to N pairs of neighbouring words, on 16 bytes, asked for at once: pair i, of `count`,
 * is `apart` words behind pair i - 1. The pairs behind the last are not written. */
template <bool PAIRED, int N>
static __device__ __forceinline__ void words_wait_pairs(const uint64_t *at, int apart, int count,
                                                        uint32_t tag, uint64_t (&out)[N][2])
{
    bool there;
    do {
        there = true;
#pragma unroll
        for (int i = 0; i < N; i++)
            if (i < count)
                asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                             : "=l"(out[i][0]), "=l"(out[i][1])
                             : "l"(at + i * apart)
                             : "memory");
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                uint32_t upper = (uint32_t)(out[i][j] >> 32);
                there &= i >= count || (PAIRED ? (upper ^ tag << 16) < 0x10000 : upper == tag);
            }
    } while (!there);
}

/* N sums over the warp, N a power of 2 of at most 32: returns that of value[lane % N]. Lanes that
 * are `half` apart exchange halves of what they hold, so that there are N - 1 + log2(32 / N)
 * shuffles and not 5 N. */
template <int N> static __device__ __forceinline__ float warp_sums(float (&value)[N])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
        bool upper = lane & half;
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            if (i >= half) continue;
            float kept = upper ? value[i + half] : value[i];
            float given = upper ? value[i] : value[i + half];
            value[i] = kept + __shfl_xor_sync(0xffffffffu, given, half);
        }
    }
    float sum = value[0];
#pragma unroll
    for (int step = 16; step >= N; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

/* All warps but the one that fetches. */
static __device__ __forceinline__ void persistent_sync(void)
{
    hopper_turn_wait(1, PERSISTENT_LANES);
}
