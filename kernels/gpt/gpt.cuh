/*
 * gpt.cuh - what the GPT kernels share: sums over a warp and a block, loads of either element type,
 * and how many blocks cover a count.
 */
#pragma once

#include "gpt.h"
#include "kernels/cuda/half.cuh"

static inline unsigned gpt_blocks(int64_t n, int64_t per_block)
{
    return (unsigned)((n + per_block - 1) / per_block);
}

/* The sum over the warp, in every lane. */
static __device__ __forceinline__ float gpt_warp_sum(float value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

/* The sum over eight neighbouring lanes, in each of them. */
static __device__ __forceinline__ float gpt_eight_sum(float value)
{
#pragma unroll
    for (int step = 4; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

/* The sum over the block, returned in every thread. All threads must call, in whole warps. `warps`
 * holds a float per warp and may be used again only after a barrier. */
static __device__ __forceinline__ float gpt_block_sum(float value, float *warps)
{
    int lane = threadIdx.x % 32, count = blockDim.x / 32;
    value = gpt_warp_sum(value);
    if (lane == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    return gpt_warp_sum(lane < count ? warps[lane] : 0.0f);
}

static __device__ __forceinline__ float gpt_float(float value)
{
    return value;
}

static __device__ __forceinline__ float gpt_float(uint16_t value)
{
    return bf16_float(value);
}

static __device__ __forceinline__ float gpt_float(fp16_t value)
{
    return fp16_float(value);
}

static __device__ __forceinline__ void gpt_put(float *y, float value)
{
    *y = value;
}

static __device__ __forceinline__ void gpt_put(uint16_t *y, float value)
{
    *y = bf16_of(value);
}

static __device__ __forceinline__ void gpt_put(fp16_t *y, float value)
{
    *y = fp16_of(value);
}

/* Two neighbours in the type of the tag, the first in the lower half. */
static __device__ __forceinline__ uint32_t gpt_pack(uint16_t, float first, float second)
{
    return bf16_pair(first, second);
}

static __device__ __forceinline__ uint32_t gpt_pack(fp16_t, float first, float second)
{
    return fp16_pair(first, second);
}

/* Those two, from their word. */
static __device__ __forceinline__ float2 gpt_unpack(uint16_t, uint32_t word)
{
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

static __device__ __forceinline__ float2 gpt_unpack(fp16_t, uint32_t word)
{
    return make_float2(fp16_float({(uint16_t)word}), fp16_float({(uint16_t)(word >> 16)}));
}

/* 2^x and 1 / x to about 2^-22, by one instruction each; what is below FLT_MIN is 0. */
static __device__ __forceinline__ float gpt_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ float gpt_inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* gelu as x / (1 + exp(-2 z)): two approximate instructions instead of tanhf. The approximate
 * division gives 0 for a divisor above 2^126; that is the limit of gelu there. */
static __device__ __forceinline__ float gpt_gelu_fast(float x)
{
    float z = GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x);
    return __fdividef(x, 1.0f + __expf(-2.0f * z));
}

/* 1 + exp(-2 z) of gpt_gelu_fast. The power of 2 is at most 2^60, where gelu is nothing, so that
 * the product of two of these is finite. */
static __device__ __forceinline__ float gpt_gelu_divisor(float x)
{
    const float factor = -2.0f * GPT_LOG2_E * GPT_GELU_SCALE;
    const float cube = factor * GPT_GELU_CUBE;
    return 1.0f + gpt_exp2(fminf(x * (factor + cube * x * x), 60.0f));
}

/* gelu of two numbers, with one division for both: three special functions instead of four. */
static __device__ __forceinline__ void gpt_gelu_two(float &a, float &b)
{
    const float of_a = gpt_gelu_divisor(a), of_b = gpt_gelu_divisor(b);
    const float inverse = gpt_inverse(of_a * of_b);
    a *= of_b * inverse;
    b *= of_a * inverse;
}
