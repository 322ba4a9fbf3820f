/*
 * fp8.cuh - what the kernels of fp8_quantize share: loads of the three input types, magnitudes,
 * the largest over lanes and blocks, and the last step.
 *
 * An input type T is float, uint16_t for the bits of a bf16, or fp16_t. A piece is 16 bytes of
 * input. The format of the codes is the same for a whole launch: sm_89 and later convert two
 * numbers by one instruction, of which each format has its own; before that fp8_code does it.
 * Arithmetic is written with intrinsics.
 */
#pragma once

#include "fp8.h"
#include "kernels/cuda/half.cuh"

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

static __device__ __forceinline__ float fp8_widen(fp16_t half)
{
    return fp16_float(half);
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

static __device__ __forceinline__ void fp8_unpack(float (&to)[8], const uint4 &piece, fp16_t)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[i] = fp16_float({(uint16_t)(word[i / 2] >> i % 2 * 16)});
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

/* a, from the largest magnitude. */
static __device__ __forceinline__ float fp8_absmax(uint32_t most)
{
    return fmaxf(__uint_as_float(most), FP8_FLOOR);
}

/* Two codes, the first lower. */
static __device__ __forceinline__ uint32_t fp8_pair(const struct fp8_format &format, float2 q)
{
#if __CUDA_ARCH__ >= 890
    uint16_t pair;
    if (format.type == ASSAY_E5M2)
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(q.y), "f"(q.x));
    else
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(q.y), "f"(q.x));
    return pair;
#else
    return fp8_code(q.x, format.most, format.fraction_bits, format.bias) |
           (uint32_t)fp8_code(q.y, format.most, format.fraction_bits, format.bias) << 8;
#endif
}

static __device__ __forceinline__ uint8_t fp8_one(const struct fp8_format &format, float x,
                                                  float multiplier)
{
    return (uint8_t)fp8_pair(format, make_float2(__fmul_rn(x, multiplier), 0.0f));
}

/* Four codes in a word, the first lowest. */
static __device__ __forceinline__ uint32_t fp8_four(const struct fp8_format &format, const float *x,
                                                    float multiplier)
{
    float2 low = make_float2(__fmul_rn(x[0], multiplier), __fmul_rn(x[1], multiplier));
    float2 high = make_float2(__fmul_rn(x[2], multiplier), __fmul_rn(x[3], multiplier));
    return fp8_pair(format, low) | fp8_pair(format, high) << 16;
}

/* The codes of a piece: 4 or 8 bytes at y, aligned to as many. */
template <typename T>
static __device__ __forceinline__ void fp8_put(const struct fp8_format &format, uint8_t *y,
                                               const uint4 &piece, float multiplier)
{
    float x[fp8_piece<T>::WIDTH];
    fp8_unpack(x, piece, T());
    if constexpr (fp8_piece<T>::WIDTH == 4)
        *(uint32_t *)y = fp8_four(format, x, multiplier);
    else
        *(uint2 *)y =
            make_uint2(fp8_four(format, x, multiplier), fp8_four(format, x + 4, multiplier));
}

/* ------------------------------------------------------------------ launch -- */

/* enqueue.run<T>(call, format) for the shape's input type and format. */
template <typename ENQUEUE>
static inline int fp8_dispatch(struct assay_call *call, const ENQUEUE &enqueue)
{
    const int64_t *value = call->shape->value;
    const struct fp8_format format = fp8_format(value[FP8_FORMAT]);
    if (value[FP8_INPUT] == FP8_FP32) return enqueue.template run<float>(call, format);
    if (value[FP8_INPUT] == FP8_BF16) return enqueue.template run<uint16_t>(call, format);
    return enqueue.template run<fp16_t>(call, format);
}
