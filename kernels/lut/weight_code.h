/*
 * weight_code.h - how weight_only_linear's kernels store the 65,536 codewords of E8 with q = 4, and
 * how two of them become eight pairs of bf16; host code too, so that tests can follow it without a
 * GPU.
 *
 * Weights are constants, so setup may number the codewords anew. The numbers here need one lookup
 * of 16 bits and few operations. z is a codeword's doubled coordinates, -7 .. 8; all are odd or all
 * are even, and their sum is a multiple of 4. With o = z_0 mod 2
 *
 *   z_i = 4 u_i + 2 t_i - 6 - o,    u_i in 0 .. 3, t_i in 0 .. 1, sum of the t_i even
 *
 * The table has the u_i, at bits 2 i and 2 i + 1 of 16. The number has the rest:
 *
 *   bit 0                 o
 *   bit 2 i - 1, i = 1-7  t_i xor t_(i+1) xor .. t_7; at i = 1 that is t_0
 *   bits 2, 4 .. 14, 15   which of the 256 codewords with these o and t it is
 *
 * Two numbers lie in the halves of a word, and so do their entries. t_i and u_i are three bits in a
 * row, from bit 2 i - 1. Where such a field is within the 7 bits of a bf16's fraction, a constant
 * exponent makes it a number: 128 + 4 u + 2 t from bit 1 on, 32 + 4 u + 2 t from bit 3 on. Eight
 * fields need five shifts to get there. Then 134 + o or 38 + o is subtracted, exactly. Two levels
 * are added in bf16: z + 4 z', whole numbers of at most 8 bits all the way, exactly too.
 */
#pragma once

#include "lut.h"

enum { WEIGHT_CODES = 1 << 16, WEIGHT_TABLE_BYTES = 2 * WEIGHT_CODES };

/* Constants of which instructions need one more than they have space for. The compiler leaves them
 * in registers if they come as arguments of the kernel. */
struct weight_constants {
    uint32_t field_1, field_3, offset; /* 128, 32 and -134 as bf16, twice */
    uint32_t two, upper;               /* factors instead of shifts, for the pipe with less to do */
};

#define WEIGHT_CONSTANTS                                                                           \
    {                                                                                              \
        0x43004300u, 0x42004200u, 0xc306c306u, 2, 1u << 16                                         \
    }

/* Bits of `a` where `mask` has ones, else of `b`: one instruction, for which the compiler would
 * take two. */
LUT_FUNCTION uint32_t weight_merge(uint32_t mask, uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t merged;
    asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(merged) : "r"(a), "r"(b), "r"(mask));
    return merged;
#else
    return (a & mask) | (b & ~mask);
#endif
}

/* The fields of two numbers and their entries: out[i] is coordinate i of both, as a bf16 that is
 * too large by 134 + o (i = 0 or odd) or 38 + o (the others). */
LUT_FUNCTION void weight_fields(const struct weight_constants *constants, uint32_t numbers,
                                uint32_t entries, uint32_t out[8])
{
    uint32_t t = numbers ^ (numbers >> 2 & 0x0aaa0aaau), at_1 = 0x000e000eu, at_3 = 0x00380038u;
    uint32_t first = weight_merge(0xccccccccu, entries << 2, numbers);
    uint32_t odd = weight_merge(0xccccccccu, entries, t);
    uint32_t even = weight_merge(0x33333333u, entries, t);
    out[0] = (first & at_1) | constants->field_1;
    out[1] = (odd & at_1) | constants->field_1;
    out[2] = (even & at_3) | constants->field_3;
    out[3] = (odd >> 4 & at_1) | constants->field_1;
    out[4] = (even >> 4 & at_3) | constants->field_3;
    out[5] = (odd >> 8 & at_1) | constants->field_1;
    out[6] = (even >> 8 & at_3) | constants->field_3;
    out[7] = (odd >> 12 & at_1) | constants->field_1;
}

/* Whether coordinate i is too large by 134 + o. */
LUT_FUNCTION bool weight_is_high(int i)
{
    return i == 0 || i % 2 == 1;
}

/* Minus (134 + o) as bf16, for both numbers. */
LUT_FUNCTION uint32_t weight_offset(const struct weight_constants *constants, uint32_t numbers)
{
    return (numbers & 0x00010001u) | constants->offset;
}

/* ------------------------------------------------------- making the table -- */

/* The o and t of a codeword, in their places of its number. */
LUT_FUNCTION uint32_t weight_class(const int8_t point[8])
{
    uint32_t o = (uint32_t)point[0] & 1u, number = o, chain = 0;
    for (int i = 7; i > 0; i--) {
        chain ^= (uint32_t)(point[i] + 6 + (int)o) >> 1 & 1u;
        number |= chain << (2 * i - 1);
    }
    return number;
}

/* Number `rank` of 256, in its places. */
LUT_FUNCTION uint32_t weight_rank(uint32_t rank)
{
    uint32_t number = rank >> 7 << 15;
    for (int i = 0; i < 7; i++)
        number |= (rank >> i & 1u) << (2 * i + 2);
    return number;
}

LUT_FUNCTION uint16_t weight_entry(const int8_t point[8])
{
    int o = point[0] & 1;
    uint32_t entry = 0;
    for (int i = 0; i < 8; i++)
        entry |= (uint32_t)(point[i] + 6 + o) >> 2 << 2 * i;
    return (uint16_t)entry;
}

/* number[index] of each codeword of E8 with q = 4, and entry[number]. `next` is space for 65,536
 * counts. 0, or -1 with assay_error if a class has not 256 codewords. */
static inline int weight_numbers(const int8_t *points, uint16_t *number, uint16_t *entry,
                                 uint16_t *next)
{
    for (int i = 0; i < WEIGHT_CODES; i++)
        next[i] = 0;
    for (int index = 0; index < WEIGHT_CODES; index++) {
        const int8_t *point = points + 8 * (int64_t)index;
        uint32_t of = weight_class(point), rank = next[of]++;
        if (rank > 255) return assay_error("a class of codewords has more than 256");
        number[index] = (uint16_t)(of | weight_rank(rank));
        entry[number[index]] = weight_entry(point);
    }
    return 0;
}
