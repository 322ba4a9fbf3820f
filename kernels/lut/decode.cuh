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

/* From four signed coordinates c_i, one per byte, to the number sum c_i 256^i, and back. Such
 * numbers can be added and multiplied by a weight as a whole, borrows included, if the results fit
 * int8. */
static __device__ __forceinline__ uint32_t decode_digits_of(uint32_t bytes)
{
    return bytes - ((bytes & 0x80808080u) << 1);
}

static __device__ __forceinline__ uint32_t decode_bytes_of(uint32_t digits)
{
    return (digits + 0x80808080u) ^ 0x80808080u;
}

/* Add a block's weighted coordinates, as digits, to the 16 bytes of `sum`, from byte `place` on. */
template <int D>
static __device__ __forceinline__ void decode_add(uint32_t sum[4], int place,
                                                  const struct lut_codes &codes, int q, int levels,
                                                  const int8_t *__restrict__ points, int64_t row,
                                                  int block)
{
    uint32_t weight = 1;
    for (int m = 0; m < levels; m++, weight *= (uint32_t)q) {
        uint32_t index = lut_read(&codes, row, block * levels + m);
        if (D == 8) {
            uint2 point = __ldg((const uint2 *)points + index);
            sum[place / 4] += weight * decode_digits_of(point.x);
            sum[place / 4 + 1] += weight * decode_digits_of(point.y);
        } else if (D == 4) {
            sum[place / 4] += weight * decode_digits_of(__ldg((const uint32_t *)points + index));
        } else {
            uint32_t two = decode_digits_of(__ldg((const uint16_t *)points + index));
            sum[place / 4] += weight * two << 8 * (place % 4);
        }
    }
}

/* The row of place `at`, where each row has `width` of them. */
static __device__ __forceinline__ int64_t decode_row_of(int64_t at, int width)
{
    return at < (int64_t)1 << 32 ? (int64_t)((uint32_t)at / (uint32_t)width) : at / width;
}

/* Entries [16 piece, 16 piece + 16) of a row, zeros behind its end. */
template <int D>
static __device__ __forceinline__ uint4 decode_piece(const struct lut_codes &codes,
                                                     const struct lut_geometry &geometry,
                                                     const int8_t *__restrict__ points, int64_t row,
                                                     int piece)
{
    uint32_t sum[4] = {};
#pragma unroll
    for (int place = 0; place < 16; place += D) {
        int block = piece * (16 / D) + place / D;
        if (block < geometry.blocks)
            decode_add<D>(sum, place, codes, geometry.q, geometry.levels, points, row, block);
    }
    return make_uint4(decode_bytes_of(sum[0]), decode_bytes_of(sum[1]), decode_bytes_of(sum[2]),
                      decode_bytes_of(sum[3]));
}

/* The same as decode_word for four entries [4 at, 4 at + 4) of a row, zero beyond its end: one
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
