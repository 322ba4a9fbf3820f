/*
 * gemv_q4.h - how decode_gemv decodes E8 with q = 4, and its memory layout; host code too, so that
 * tests can follow it without a GPU.
 *
 * A codeword is kept as m_i = 8 - z_i, 0 <= m_i < 16, with z its doubled coordinates (-7 .. 8).
 * Half of its 32 bits need no table: z differs from twice G b by a multiple of 4, so m_i mod 4
 * follows from the index. With digits b_0 .. b_7, and l_i the lower bit of b_i,
 *
 *   m_i = -(b_7 + 2 (l_i + l_(i+1))) mod 4    l_0, l_7 and l_8 left out
 *
 * (the basis of codebook.c). The table holds the other half, m_i / 4 at bits 2 i and 2 i + 1 of 16
 * bits: 128 KiB for 65,536 codewords. So a codeword takes one lookup.
 *
 * Two indices are decoded at a time, in the two halves of a word. Word j of the result has m_j and
 * m_(j+4) of the lower index in its lower bytes, those of the upper index above. Two levels are
 * added with their weights in bytes: at most 15 (1 + 4).
 *
 * With one level, words 2 and 3 are left as m_j + 16 m_(j+2) for j = 0 and 1, which saves shifts
 * and masks, and A's entries compensate. With a = -x,
 *
 *   (16 a_j - a_(j+2)) m_j + a_(j+2) (m_j + 16 m_(j+2)) = 16 (a_j m_j + a_(j+2) m_(j+2))
 *
 * The first factor fits int8, because |a_j| <= 7: only one codeword has an 8, at i = 6. Sums are
 * then 16 times too large.
 *
 * A warp reads a chunk at a time, 64 bytes of each of 8 columns of B, 16 bytes per lane, as for q
 * = 2 (gemv.h). The lane of column lane / 4 and part t = lane % 4 owns blocks
 *
 *   chunk * 32 / M + t * 8 / M + s,   s = 0 .. 8 / M - 1
 *
 * Four of these, a quad, are four m16n8k32: the j-th multiplies entries j and j + 4. Columns of B
 * are the rows of the instruction here, two groups of 8, and the up to 8 rows of A its columns. A
 * is stored in the same order, eight bytes per operand.
 */
#pragma once

#include "gemv.h"

enum {
    GEMV_Q4_CODEWORDS = 1 << 16,
    GEMV_Q4_TABLE_BYTES = 2 * GEMV_Q4_CODEWORDS,
    GEMV_Q4_ZERO = 8, /* m of a coordinate 0 */
    GEMV_Q4_ROWS = 8, /* most rows per launch: the table leaves no space for 16 */
    GEMV_Q4_LEVELS = 2,
};

/* ---------------------------------------------------------------- codewords -- */

/* The table's entry for a codeword of 8 doubled coordinates. */
LUT_FUNCTION uint16_t gemv_q4_entry(const int8_t *point)
{
    uint32_t entry = 0;
    for (int i = 0; i < 8; i++)
        entry |= (uint32_t)(GEMV_Q4_ZERO - point[i]) >> 2 << 2 * i;
    return (uint16_t)entry;
}

/* m_i mod 4 at bits 2 i and 2 i + 1 of each half, from two indices. */
LUT_FUNCTION uint32_t gemv_q4_low(uint32_t indices)
{
    /* l_i at bit 2 i - 1, l_1 to l_6; times 5 it is l_i + l_(i+1) at bit 2 i + 1, whose
     * carry goes to an even bit. */
    uint32_t sums = (indices >> 1 & 0x0aaa0aaau) * 5;
    /* -b_7 mod 4: its lower bit is that of b_7, its upper one the two bits' difference. */
    uint32_t last = (indices ^ (indices << 1 & 0x80008000u)) >> 14 & 0x00030003u;
    return (sums & 0xaaaaaaaau) ^ last * 0x5555u;
}

/* Of every four bits, 0 and 1 from `a`, 2 and 3 from `b`: one instruction, for which the compiler
 * would take two. */
LUT_FUNCTION uint32_t gemv_q4_merge(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t merged;
    asm("lop3.b32 %0, %1, %2, 0x33333333, 0xe4;" : "=r"(merged) : "r"(a), "r"(b));
    return merged;
#else
    return (a & 0x33333333u) | (b & 0xccccccccu);
#endif
}

/* Add level `level` of two codewords to four words; `entries` are those of the indices. */
LUT_FUNCTION void gemv_q4_add(uint32_t indices, uint32_t entries, int levels, int level,
                              uint32_t out[4])
{
    uint32_t low = gemv_q4_low(indices);
    uint32_t even = gemv_q4_merge(low, entries << 2);
    uint32_t odd = gemv_q4_merge(low >> 2, entries);
    if (levels == 1) {
        out[0] = even & 0x0f0f0f0fu;
        out[1] = odd & 0x0f0f0f0fu;
        out[2] = even;
        out[3] = odd;
        return;
    }
    out[0] += (even & 0x0f0f0f0fu) << 2 * level;
    out[1] += (odd & 0x0f0f0f0fu) << 2 * level;
    out[2] += (even >> 4 & 0x0f0f0f0fu) << 2 * level;
    out[3] += (odd >> 4 & 0x0f0f0f0fu) << 2 * level;
}

/* log2 of the factor by which sums of products are too large. */
LUT_FUNCTION int gemv_q4_shift(int levels)
{
    return levels == 1 ? 4 : 0;
}

/* The weighted sum over the levels of m of a coordinate 0: x . z = gemv_q4_bias sum x - x . m. */
LUT_FUNCTION int gemv_q4_bias(int levels)
{
    return GEMV_Q4_ZERO * ((1 << 2 * levels) - 1) / 3;
}

/* A's coordinates j and j + 4 of a block as int8, negated, from the lower half of word j. Sums are
 * then x . z minus gemv_q4_bias times the sum of A's row, as for q = 2. */
LUT_FUNCTION uint16_t gemv_q4_negative(uint32_t word, int levels, int j)
{
    uint32_t m = levels == 1 && j >= 2 ? word >> 4 & 0x0f0fu : word & 0xffffu;
    /* 128 more keeps both bytes positive; the exclusive or takes it off again. */
    uint32_t lift = (uint32_t)(128 - gemv_q4_bias(levels)) * 0x0101u;
    return (uint16_t)((m + lift) ^ 0x8080u);
}

/* 16 a - b for both int8 of a pair. */
LUT_FUNCTION uint16_t gemv_q4_scaled(uint16_t a, uint16_t b)
{
    int low = 16 * (int8_t)(a & 0xff) - (int8_t)(b & 0xff);
    int high = 16 * (int8_t)(a >> 8) - (int8_t)(b >> 8);
    return (uint16_t)((low & 0xff) | (high & 0xff) << 8);
}

/* The factors of B's words, from A's negated entries. */
LUT_FUNCTION void gemv_q4_factors(const uint16_t negative[4], int levels, uint16_t out[4])
{
    for (int j = 0; j < 4; j++)
        out[j] = levels == 1 && j < 2 ? gemv_q4_scaled(negative[j], negative[j + 2]) : negative[j];
}

/* ------------------------------------------------------------------- layout -- */

/* The two indices of level `level` in blocks 2 pair and 2 pair + 1 of the lane's 16 bytes,
 * given as words. */
LUT_FUNCTION uint32_t gemv_q4_indices(const uint32_t words[4], int levels, int level, int pair)
{
    if (levels == 1) return words[pair];
    uint32_t first = words[2 * pair], second = words[2 * pair + 1];
    return level == 0 ? (first & 0xffffu) | second << 16 : first >> 16 | (second & 0xffff0000u);
}

/* Where a block of A is stored: its quad, counted over all chunks, its part, its place. */
struct gemv_q4_place {
    int quad, part, in_quad;
};

LUT_FUNCTION struct gemv_q4_place gemv_q4_place(int block, int levels)
{
    int of_lane = 8 / levels, of_chunk = 4 * of_lane;
    struct gemv_q4_place place;
    place.part = block % of_chunk / of_lane;
    place.quad = block / of_chunk * (of_lane / 4) + block % of_lane / 4;
    place.in_quad = block % 4;
    return place;
}

/* The 16-bit element of A that holds entries j and j + 4 of a block. */
LUT_FUNCTION int64_t gemv_q4_element(struct gemv_q4_place place, int j, int rows, int row)
{
    return ((((int64_t)place.quad * 4 + j) * rows + row) * 4 + place.part) * 4 + place.in_quad;
}

LUT_FUNCTION int gemv_q4_chunks(int64_t blocks, int levels)
{
    int of_chunk = 32 / levels;
    return (int)((blocks + of_chunk - 1) / of_chunk);
}

/* Bytes of `rows` rows of A. */
LUT_FUNCTION int64_t gemv_q4_a_bytes(int64_t blocks, int levels, int rows)
{
    return (int64_t)gemv_q4_chunks(blocks, levels) * (32 / levels) * 8 * rows;
}

#ifdef __cplusplus
extern "C" {
#endif

/* ---- decode_gemv_q4.cu: what the variant decode_gemv calls where q = 4 */

/* Why this shape, E8 with q = 4, cannot be done, or NULL. */
const char *gemv_q4_unsupported(const struct assay_shape *shape);
int64_t gemv_q4_shared_bytes(const struct assay_shape *shape); /* for one row of A */
int gemv_q4_setup(struct assay_call *call);
int gemv_q4_launch(struct assay_call *call);
void gemv_q4_teardown(struct assay_call *call);

#ifdef __cplusplus
}
#endif
