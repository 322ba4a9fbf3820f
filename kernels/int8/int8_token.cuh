/*
 * int8_token.cuh - the per-token formula on the GPU.
 *
 * Magnitudes are compared as the integers that their bits are: clearing the sign
 * leaves numbers that order like the floats (a NaN above infinity), and a warp
 * folds integers in one instruction (from sm_80 on).
 */
#pragma once

#include "int8.cuh"
#include "kernels/cuda/ampere.cuh"

static __device__ __forceinline__ uint32_t token_magnitude(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}

static __device__ __forceinline__ uint32_t token_fold(uint32_t most, float4 v)
{
    return max(max(most, max(token_magnitude(v.x), token_magnitude(v.y))),
               max(token_magnitude(v.z), token_magnitude(v.w)));
}

static __device__ __forceinline__ uint32_t token_warp_max(uint32_t most)
{
#ifdef AMPERE_CODE
    most = __reduce_max_sync(0xffffffffu, most);
#else
    for (int lanes = 16; lanes > 0; lanes /= 2)
        most = max(most, __shfl_xor_sync(0xffffffffu, most, lanes));
#endif
    return most;
}

/* The largest over the block, in every thread. `warps` holds a word a warp; all
 * threads call, in whole warps, once a kernel (a second call needs a barrier between). */
static __device__ __forceinline__ float token_block_max(uint32_t most, uint32_t *warps)
{
    most = token_warp_max(most);
    int count = blockDim.x / 32;
    int lane = threadIdx.x % 32;
    if (lane == 0) warps[threadIdx.x / 32] = most;
    __syncthreads();
    most = token_warp_max(lane < count ? warps[lane] : 0u);
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
