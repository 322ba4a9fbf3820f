/*
 * gemv_table.h - the memory layout of table_gemv; host code too, so that tests can follow its
 * indices without a GPU.
 *
 * For E8 with q = 2 an index is a byte. The inner product of a block of A with any of the 256
 * codewords fits a byte too: it is at most 4 for two codewords (codebook.h), so at most 4 (2^M -
 * 1) <= 60 for a block of M levels. The 256 products of a block are its table.
 *
 * A warp reads a chunk at a time: 512 bytes of one column of B, 16 bytes per lane, which at M
 * levels are 16 / M blocks per lane. No two lanes share a table, so every lane has a bank of
 * shared memory to itself. A word there holds the products of four blocks with one codeword. A
 * thread block holds the tables of M chunks, four words per lane and codeword:
 *
 *   offset = word / 2 * 64 KiB + codeword * 256 + word % 2 * 128 + lane * 4
 *
 * So the byte of a code becomes byte 1 of an address, and the lane byte 0.
 */
#pragma once

#include "lut.h"

enum {
    GEMV_TABLE_CHUNK = 512,  /* bytes of a column that a warp reads at once */
    GEMV_TABLE_WORDS = 4,    /* per lane and codeword */
    GEMV_TABLE_BLOCKS = 512, /* blocks of A whose tables one thread block holds: a part */
    GEMV_TABLE_BYTES = GEMV_TABLE_BLOCKS * 256,
    GEMV_TABLE_PARTS = 8, /* thread blocks that may share the parts of a row */
};

/* The first of the four blocks of word `word` of a lane, counted within the part. */
LUT_FUNCTION int gemv_table_block(int levels, int word, int lane)
{
    int of_lane = 16 / levels, words = of_lane / 4;
    return word / words * 32 * of_lane + lane * of_lane + word % words * 4;
}

/* Where byte `byte` of a lane's 16 bytes of chunk `chunk` is looked up: the word's offset without
 * codeword and lane, and the factor of that word (dp4a): 2^level in the block's byte. */
LUT_FUNCTION int gemv_table_offset(int levels, int chunk, int byte)
{
    int word = (chunk * (16 / levels) + byte / levels) / 4;
    return (word >> 1 << 16) + (word & 1) * 128;
}

LUT_FUNCTION int gemv_table_weight(int levels, int byte)
{
    return 1 << (byte % levels + 8 * (byte / levels % 4));
}

/* From four products of doubled coordinates, each a multiple of 4, to the word that holds the four
 * products in its bytes. */
LUT_FUNCTION uint32_t gemv_table_word(int v0, int v1, int v2, int v3)
{
    uint32_t even = ((uint32_t)v0 & 0xffff) | (uint32_t)v2 << 16;
    uint32_t odd = ((uint32_t)v1 & 0xffff) | (uint32_t)v3 << 16;
    return (even >> 2 & 0x00ff00ffu) | (odd << 6 & 0xff00ff00u);
}

LUT_FUNCTION int gemv_table_parts(int64_t blocks)
{
    return (int)((blocks + GEMV_TABLE_BLOCKS - 1) / GEMV_TABLE_BLOCKS);
}
