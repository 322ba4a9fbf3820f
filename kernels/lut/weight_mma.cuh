/*
 * weight_mma.cuh - what weight_only_linear's kernels by mma.sync share: the product, with 16
 * columns of C as its rows and 8 rows of X as its columns, and eight entries of X.
 */
#pragma once

#include <stdint.h>

#include "kernels/cuda/ampere.cuh"

/* Adds a product of 16 entries of K; `upper` and `lower` have those of column g = lane / 4 and of
 * g + 8 that this lane keeps. */
static __device__ __forceinline__ void weight_multiply(float c[4], const uint32_t upper[2],
                                                       const uint32_t lower[2], uint32_t b0,
                                                       uint32_t b1)
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(upper[0]), "r"(lower[0]), "r"(upper[1]), "r"(lower[1]), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

/* Eight entries of a row of X from `at` on, where `left` more are in the row: zeros beyond its end.
 * Whether rows start on 16 bytes is the same for all. */
static __device__ __forceinline__ uint4 weight_load_x(const uint16_t *at, int64_t left,
                                                      bool aligned)
{
    uint32_t word[4] = {};
    if (aligned) return left > 0 ? *(const uint4 *)at : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < left) word[i / 2] |= (uint32_t)at[i] << 16 * (i % 2);
    return make_uint4(word[0], word[1], word[2], word[3]);
}
