/*
 * int8_token.cuh - the per-token formula on the GPU.
 *
 * Magnitudes are compared as integers: the bits of a float without the sign, as an integer, have
 * the same order as the magnitudes (a NaN is above infinity), and a warp finds the largest integer
 * in one instruction.
 */
#pragma once

#include "int8.cuh"

static __device__ __forceinline__ uint32_t token_magnitude(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}

static __device__ __forceinline__ uint32_t token_fold(uint32_t most, float4 v)
{
    return max(max(most, max(token_magnitude(v.x), token_magnitude(v.y))),
               max(token_magnitude(v.z), token_magnitude(v.w)));
}

/* The largest value over the block, returned in every thread. All threads must call, in whole
 * warps, once per kernel (a second call needs a barrier before it). `warps` holds a word per warp.
 */
static __device__ __forceinline__ float token_block_max(uint32_t most, uint32_t *warps)
{
    most = __reduce_max_sync(0xffffffffu, most);
    int count = blockDim.x / 32;
    int lane = threadIdx.x % 32;
    if (lane == 0) warps[threadIdx.x / 32] = most;
    __syncthreads();
    most = __reduce_max_sync(0xffffffffu, lane < count ? warps[lane] : 0u);
    return __uint_as_float(most);
}

static __device__ __forceinline__ float token_scale(float absmax)
{
    return __fdiv_rn(absmax, 127.0f);
}

/* 127 / a; a row of zeros stays zeros. */
static __device__ __forceinline__ float token_multiplier(float absmax)
{
    return absmax > 0.0f ? __fdiv_rn(127.0f, absmax) : 0.0f;
}

static __device__ __forceinline__ uint32_t token_pack(float4 v, float multiplier)
{
    return int8_pack(make_float4(__fmul_rn(v.x, multiplier), __fmul_rn(v.y, multiplier),
                                 __fmul_rn(v.z, multiplier), __fmul_rn(v.w, multiplier)));
}
