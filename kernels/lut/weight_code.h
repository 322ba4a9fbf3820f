/*
 * weight_code.h - how weight_only_linear's kernels store the 65,536 codewords of E8 with q = 4, and
 * how two of them become eight pairs of bf16; host code too, so that tests can follow it without a
 * GPU.
 *
 * Weights are constants, so setup may number the codewords anew. The numbers here need one lookup
 * of 16 bits and few operations. z is a codeword's doubled coordinates, -7 .. 8; all are odd or all
 * are even, and their sum is a multiple of 4. With o = z_0 mod 2
 *
 *   z_i = 4 u_i + 2 t_i - 6 - o,    u_i = 2 h_i + l_i in 0 .. 3, t_i in 0 .. 1, sum of the t_i even
 *
 * Codewords are all there is modulo 4 E8. So with one o and t, there is one u of each class modulo
 * (doubled) E8, whose points are all even or all odd. That leaves the l_i xor l_j free: they are 0
 * and 1 equally often, whatever others are. Of 16 bits, j = 0 .. 3:
 *
 *   number   bit 0: o;  3 j + 1, j > 0: t_j;  3 j + 2: t_(4 + j);  3 j + 3: l_(4 + j) xor l_j;
 *            1, 13, 14, 15: which of the 16 codewords with these bits it is
 *   entry    bit 1: t_0;  3 j + 2: l_j;  3 j + 3: h_j;  3 j + 4: h_(4 + j)
 *
 * Two numbers lie in the halves of a word, and so do their entries. They make two words with fields
 * t_i, l_i, h_i of three bits in a row. Where such a field is within the 7 bits of a bf16's
 * fraction, a constant exponent makes it a number: 128 + 4 u + 2 t from bit 1 on, 16 + 4 u + 2 t
 * from bit 4 on. Eight fields need three shifts to get there. Then 134 + o or 22 + o is subtracted,
 * exactly. Two levels are added in bf16: z + 4 z', whole numbers of at most 8 bits all the way,
 * exactly too.
 */
#pragma once

#include "lut.h"

enum { WEIGHT_CODES = 1 << 16, WEIGHT_TABLE_BYTES = 2 * WEIGHT_CODES };

/* Instructions have space for one constant and need two of these. The compiler leaves them in
 * registers if they come as arguments of the kernel. */
struct weight_constants {
    uint32_t field_1, field_4, offset; /* 128, 16 and -134 as bf16, twice */
    uint32_t two, upper;               /* factors instead of shifts, for the pipe with less to do */
};

#define WEIGHT_CONSTANTS                                                                           \
    {                                                                                              \
        0x43004300u, 0x41804180u, 0xc306c306u, 2, 1u << 16                                         \
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
 * too large by 134 + o (i even) or 22 + o (i odd). */
LUT_FUNCTION void weight_fields(const struct weight_constants *constants, uint32_t numbers,
                                uint32_t entries, uint32_t out[8])
{
    uint32_t p = weight_merge(0x1b6e1b6eu, entries, numbers);
    uint32_t q = numbers ^ (p * constants->two & 0x12481248u);
    q = weight_merge(0x24902490u, entries, q);
    uint32_t fields[4] = {p, p >> 6, q >> 1, q >> 7};
    for (int i = 0; i < 4; i++) {
        out[2 * i] = (fields[i] & 0x000e000eu) | constants->field_1;
        out[2 * i + 1] = (fields[i] & 0x00700070u) | constants->field_4;
    }
}

/* Minus (134 + o) as bf16, for both numbers. */
LUT_FUNCTION uint32_t weight_offset(const struct weight_constants *constants, uint32_t numbers)
{
    return (numbers & 0x00010001u) | constants->offset;
}

/* ------------------------------------------------------- making the table -- */

struct weight_parts {
    uint32_t o, t[8], l[8], h[8];
};

LUT_FUNCTION struct weight_parts weight_parts(const int8_t point[8])
{
    struct weight_parts parts;
    parts.o = (uint32_t)point[0] & 1u;
    for (int i = 0; i < 8; i++) {
        uint32_t field = (uint32_t)(point[i] + 6 + (int)parts.o) >> 1;
        parts.t[i] = field & 1;
        parts.l[i] = field >> 1 & 1;
        parts.h[i] = field >> 2 & 1;
    }
    return parts;
}

/* The number of rank `rank`, of 16. */
LUT_FUNCTION uint32_t weight_number(const struct weight_parts *parts, uint32_t rank)
{
    uint32_t number = parts->o | (rank & 1) << 1 | rank >> 1 << 13;
    for (int j = 0; j < 4; j++) {
        if (j > 0) number |= parts->t[j] << (3 * j + 1);
        number |= parts->t[4 + j] << (3 * j + 2);
        number |= (parts->l[4 + j] ^ parts->l[j]) << (3 * j + 3);
    }
    return number;
}

LUT_FUNCTION uint16_t weight_entry(const struct weight_parts *parts)
{
    uint32_t entry = parts->t[0] << 1;
    for (int j = 0; j < 4; j++) {
        entry |= parts->l[j] << (3 * j + 2) | parts->h[j] << (3 * j + 3);
        entry |= parts->h[4 + j] << (3 * j + 4);
    }
    return (uint16_t)entry;
}

/* number[index] of each codeword of E8 with q = 4, and entry[number]. `next` is space for 65,536
 * counts. 0, or -1 with assay_error if more than 16 codewords have the same bits. */
static inline int weight_numbers(const int8_t *points, uint16_t *number, uint16_t *entry,
                                 uint16_t *next)
{
    for (int i = 0; i < WEIGHT_CODES; i++)
        next[i] = 0;
    for (int index = 0; index < WEIGHT_CODES; index++) {
        struct weight_parts parts = weight_parts(points + 8 * (int64_t)index);
        uint32_t rank = next[weight_number(&parts, 0)]++;
        if (rank > 15) return assay_error("more than 16 codewords have the same bits");
        number[index] = (uint16_t)weight_number(&parts, rank);
        entry[number[index]] = weight_entry(&parts);
    }
    return 0;
}
