/*
 * decode.cuh - decoding a block on the device: from indices to a point's int8
 * coordinates, levels weighted and added. Shared by kernels that decode.
 */
#pragma once

#include "lut.h"

/* Coordinates [4 word, 4 word + 4) of a block, one per byte (d = 2: the block's two, in the low
 * half). They fit int8, or lut_decode_unsupported has refused the shape. */
template <int D>
static __device__ __forceinline__ uint32_t decode_word(const struct lut_codes &codes, int q,
                                                       int levels,
                                                       const int8_t *__restrict__ points,
                                                       int64_t row, int64_t block, int word)
{
    constexpr int WIDTH = D < 4 ? D : 4;
    int sum[WIDTH] = {};
    int weight = 1;
    for (int m = 0; m < levels; m++, weight *= q) {
        const int8_t *point = points + (int64_t)lut_read(&codes, row, block * levels + m) * D;
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            sum[i] += weight * point[4 * word + i];
    }
    uint32_t packed = 0;
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        packed |= (uint32_t)(sum[i] & 0xff) << 8 * i;
    return packed;
}

/* The same for four entries [4 at, 4 at + 4) of a row, zero beyond its end: one
 * word of a block of 4 or 8, or two blocks of 2. */
template <int D>
static __device__ __forceinline__ uint32_t decode_four(const struct lut_codes &codes,
                                                       const struct lut_geometry &geometry,
                                                       const int8_t *__restrict__ points,
                                                       int64_t row, int64_t at)
{
    int64_t block = 4 * at / D;
    if (D >= 4) {
        if (block >= geometry.blocks) return 0;
        return decode_word<D>(codes, geometry.q, geometry.levels, points, row, block,
                              (int)(at % (D / 4 > 0 ? D / 4 : 1)));
    }
    uint32_t low = 0, high = 0;
    if (block < geometry.blocks)
        low = decode_word<D>(codes, geometry.q, geometry.levels, points, row, block, 0);
    if (block + 1 < geometry.blocks)
        high = decode_word<D>(codes, geometry.q, geometry.levels, points, row, block + 1, 0);
    return low | high << 16;
}
