/*
 * fp8.cuh - what the kernels of fp8_quantize share: loads of the three input types, magnitudes,
 * the largest over lanes and blocks, and the last step.
 *
 * An input type T is float, uint16_t for the bits of a bf16, or __half. A piece is 16 bytes of
 * input. FORMAT is __NV_E4M3 or __NV_E5M2: cuda_fp8.h converts by one instruction for two numbers
 * on sm_89 and later, and by integer code before. Arithmetic is written with intrinsics.
 */
#pragma once

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "fp8.h"

template <typename T> struct fp8_piece {
    enum { WIDTH = 16 / sizeof(T) };
};

static __device__ __forceinline__ float fp8_widen(float x)
{
    return x;
}

static __device__ __forceinline__ float fp8_widen(uint16_t half)
{
    return __uint_as_float((uint32_t)half << 16);
}

static __device__ __forceinline__ float fp8_widen(__half half)
{
    return __half2float(half);
}

static __device__ __forceinline__ void fp8_unpack(float (&to)[4], const uint4 &piece, float)
{
    to[0] = __uint_as_float(piece.x);
    to[1] = __uint_as_float(piece.y);
    to[2] = __uint_as_float(piece.z);
    to[3] = __uint_as_float(piece.w);
}

static __device__ __forceinline__ void fp8_unpack(float (&to)[8], const uint4 &piece, uint16_t)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[i] = __uint_as_float(i % 2 ? word[i / 2] & 0xffff0000u : word[i / 2] << 16);
}

static __device__ __forceinline__ void fp8_unpack(float (&to)[8], const uint4 &piece, __half)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[i] = __half2float(__ushort_as_half((unsigned short)(word[i / 2] >> i % 2 * 16)));
}

/* ------------------------------------------------------------- magnitudes -- */

/* As integers, which order like the numbers; 0 for infinities and NaN. */
static __device__ __forceinline__ uint32_t fp8_size(float x)
{
    uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0u;
}

template <typename T>
static __device__ __forceinline__ uint32_t fp8_fold(uint32_t most, const uint4 &piece)
{
    float x[fp8_piece<T>::WIDTH];
    fp8_unpack(x, piece, T());
#pragma unroll
    for (int i = 0; i < fp8_piece<T>::WIDTH; i++)
        most = max(most, fp8_size(x[i]));
    return most;
}

/* The largest over groups of LANES neighbouring lanes, in each of them. All lanes of a warp call.
 */
template <int LANES> static __device__ __forceinline__ uint32_t fp8_lanes_max(uint32_t most)
{
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        most = max(most, __shfl_xor_sync(0xffffffffu, most, lanes));
    return most;
}

/* The largest over a block of whole warps, in every thread. `warps` holds a word for each; a second
 * call of a kernel needs a barrier before it. */
static __device__ __forceinline__ uint32_t fp8_block_max(uint32_t most, uint32_t *warps)
{
    int lane = threadIdx.x % 32, count = blockDim.x / 32;
    most = fp8_lanes_max<32>(most);
    if (lane == 0) warps[threadIdx.x / 32] = most;
    __syncthreads();
    return fp8_lanes_max<32>(lane < count ? warps[lane] : 0u);
}

/* --------------------------------------------------------------- last step -- */

template <__nv_fp8_interpretation_t FORMAT> static __device__ __forceinline__ float fp8_most()
{
    return FORMAT == __NV_E4M3 ? 448.0f : 57344.0f;
}

/* a, from the largest magnitude. */
static __device__ __forceinline__ float fp8_absmax(uint32_t most)
{
    return fmaxf(__uint_as_float(most), FP8_FLOOR);
}

template <__nv_fp8_interpretation_t FORMAT>
static __device__ __forceinline__ uint8_t fp8_one(float x, float multiplier)
{
    return __nv_cvt_float_to_fp8(__fmul_rn(x, multiplier), __NV_SATFINITE, FORMAT);
}

/* Four codes in a word, the first lowest. */
template <__nv_fp8_interpretation_t FORMAT>
static __device__ __forceinline__ uint32_t fp8_four(const float *x, float multiplier)
{
    float2 low = make_float2(__fmul_rn(x[0], multiplier), __fmul_rn(x[1], multiplier));
    float2 high = make_float2(__fmul_rn(x[2], multiplier), __fmul_rn(x[3], multiplier));
    return __nv_cvt_float2_to_fp8x2(low, __NV_SATFINITE, FORMAT) |
           (uint32_t)__nv_cvt_float2_to_fp8x2(high, __NV_SATFINITE, FORMAT) << 16;
}

/* The codes of a piece: 4 or 8 bytes at y, aligned to as many. */
template <typename T, __nv_fp8_interpretation_t FORMAT>
static __device__ __forceinline__ void fp8_put(uint8_t *y, const uint4 &piece, float multiplier)
{
    float x[fp8_piece<T>::WIDTH];
    fp8_unpack(x, piece, T());
    if constexpr (fp8_piece<T>::WIDTH == 4)
        *(uint32_t *)y = fp8_four<FORMAT>(x, multiplier);
    else
        *(uint2 *)y =
            make_uint2(fp8_four<FORMAT>(x, multiplier), fp8_four<FORMAT>(x + 4, multiplier));
}

/* ------------------------------------------------------------------ launch -- */

/* Calls enqueue<T, FORMAT>(call), a functor's member, for the shape's types. */
template <typename ENQUEUE>
static inline int fp8_dispatch(struct assay_call *call, const ENQUEUE &enqueue)
{
    const int64_t *value = call->shape->value;
    bool e5m2 = value[FP8_FORMAT] == FP8_E5M2;
    if (value[FP8_INPUT] == FP8_FP32)
        e5m2 ? enqueue.template run<float, __NV_E5M2>(call)
             : enqueue.template run<float, __NV_E4M3>(call);
    else if (value[FP8_INPUT] == FP8_BF16)
        e5m2 ? enqueue.template run<uint16_t, __NV_E5M2>(call)
             : enqueue.template run<uint16_t, __NV_E4M3>(call);
    else
        e5m2 ? enqueue.template run<__half, __NV_E5M2>(call)
             : enqueue.template run<__half, __NV_E4M3>(call);
    return assay_launched();
}
