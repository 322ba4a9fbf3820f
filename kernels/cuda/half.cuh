/*
 * half.cuh - numbers of 16 bits: fp16, and bf16 as the uint16_t of its bits. <cuda_fp16.h> and
 * <cuda_bf16.h> have the same instructions under many more names, and parsing them takes as long
 * as everything else of a small file: 0.3 CPU seconds.
 *
 * All round to nearest, ties to even.
 */
#pragma once

#include <stdint.h>

struct fp16_t {
    uint16_t bits;
};

static __device__ __forceinline__ fp16_t __ldg(const fp16_t *from)
{
    return {__ldg(&from->bits)};
}

static __device__ __forceinline__ float fp16_float(fp16_t value)
{
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
}

static __device__ __forceinline__ fp16_t fp16_of(float value)
{
    fp16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}

static __device__ __forceinline__ float e4m3_float(uint8_t code)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    uint32_t pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((uint16_t)code));
    return fp16_float({(uint16_t)pair});
#else
    /* As an fp16 its exponent has a bias that is larger by 8. */
    fp16_t half = {(uint16_t)((code & 0x80) << 8 | (code & 0x7f) << 7)};
    return (code & 0x7f) == 0x7f ? NAN : 256.0f * fp16_float(half);
#endif
}

/* The lower two codes of four, as fp16, which has all of their values. */
static __device__ __forceinline__ uint32_t e4m3_pair(uint32_t codes)
{
    uint32_t pair;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((uint16_t)codes));
    return pair;
#else
    const uint32_t upper = __byte_perm(codes, 0, 0x1404); /* each in the upper byte of its half */
    const uint32_t size = upper >> 1 & 0x3f803f80u, nan = (size + 0x00800080u) & 0x40004000u;
    asm("mul.rn.f16x2 %0, %1, %2;" /* by 2^8, the difference of the exponents' biases */
        : "=r"(pair)
        : "r"((upper & 0x80008000u) | size), "r"(0x5c005c00u));
    return pair | nan >> 1; /* 480 with one bit more of the exponent */
#endif
}

static __device__ __forceinline__ float bf16_float(uint16_t bits)
{
    return __uint_as_float((uint32_t)bits << 16);
}

static __device__ __forceinline__ uint16_t bf16_of(float value)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    uint16_t half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#else
    uint32_t bits = __float_as_uint(value);
    if (isnan(value)) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

/* Two neighbours, the first in the lower half. */
static __device__ __forceinline__ uint32_t fp16_pair(float first, float second)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
#else
    return fp16_of(first).bits | (uint32_t)fp16_of(second).bits << 16;
#endif
}

static __device__ __forceinline__ uint32_t bf16_pair(float first, float second)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
#else
    return bf16_of(first) | (uint32_t)bf16_of(second) << 16;
#endif
}
