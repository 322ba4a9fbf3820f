/*
 * gemv.h - the memory layout of decode_gemv; host code too, so that tests can follow its indices
 * without a GPU.
 *
 * A warp reads a chunk at a time: 64 bytes of each of 8 columns of B, 16 bytes per lane. The lane
 * of column g = lane / 4 and part t = lane % 4 owns blocks
 *
 *   chunk * 64 / M + t * 16 / M + s,   s = 0 .. 16 / M - 1
 *
 * and step s multiplies block s of every lane in one m16n8k32. In the instruction's k, part t is
 * entries 4t .. 4t + 3 (the block's first four) and 16 + 4t .. (its last four). A is stored in the
 * same order.
 *
 * Codewords of E8 with q = 2 have doubled coordinates -4 .. 4. With GEMV_BIAS added they fit four
 * bits: byte i of a word holds coordinate i low and coordinate i + 4 high. Levels are added with
 * their weights in bytes, which stay non-negative. The bias's share of a product depends on the
 * sum of A's row alone, so it can be subtracted.
 */
#pragma once

#include "lut.h"

enum {
    GEMV_BIAS = 4,
    GEMV_CHUNK_BYTES = 64, /* bytes of a column in a chunk */
    GEMV_LANE_BYTES = 16,
    GEMV_ROWS = 16,
};

/* Where a block of A is stored: its step, counted over all chunks, and its part. */
struct gemv_place {
    int step, part;
};

LUT_FUNCTION struct gemv_place gemv_place(int block, int levels)
{
    int of_lane = GEMV_LANE_BYTES / levels, of_chunk = GEMV_CHUNK_BYTES / levels;
    struct gemv_place place;
    place.part = block % of_chunk / of_lane;
    place.step = block / of_chunk * of_lane + block % of_lane;
    return place;
}

LUT_FUNCTION int gemv_chunks(int64_t blocks, int levels)
{
    return (int)((blocks * levels + GEMV_CHUNK_BYTES - 1) / GEMV_CHUNK_BYTES);
}

/* Steps of all chunks; a step holds four blocks. */
LUT_FUNCTION int gemv_steps(int64_t blocks, int levels)
{
    return gemv_chunks(blocks, levels) * (GEMV_LANE_BYTES / levels);
}

/* Rows r and r + 8 of A share an operand: how many such pairs there are. */
LUT_FUNCTION int gemv_pairs(int rows)
{
    return rows < 8 ? rows : 8;
}

/* The table's word for a codeword of 8 coordinates. */
LUT_FUNCTION uint32_t gemv_nibbles(const int8_t *point)
{
    uint32_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (uint32_t)(point[i] + GEMV_BIAS) << (i < 4 ? 8 * i : 8 * (i - 4) + 4);
    return word;
}

/* Add a codeword's biased coordinates, weighted 2^level, to four bytes each. */
LUT_FUNCTION void gemv_add(uint32_t word, int level, uint32_t *low, uint32_t *high)
{
    *low += (word & 0x0f0f0f0fu) << level;
    *high += (word >> 4 & 0x0f0f0f0fu) << level;
}

/* What the bias adds, times the sum of A's row. */
LUT_FUNCTION int gemv_bias(int levels)
{
    return GEMV_BIAS * ((1 << levels) - 1);
}
