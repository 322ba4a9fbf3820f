/*
 * lattice_math.h - a block of numbers to digits and back, and how digits are packed,
 * in one text for the host and for CUDA: what the host tests exercise is what runs
 * on the GPU. lattice_closest.h has the points, lattice_digits.h the digits.
 */
#pragma once

#include "lattice_digits.h"

/* ------------------------------------------------------------------ blocks -- */

/* v of a block of x, times 2^-doublings; false: the block is lost. */
LATTICE_FN bool lattice_scale(int lattice, const float x[], float r, float v[])
{
    const int d = lattice_d(lattice);
    float norm = 0.0f;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++) {
        v[i] = fmaf(x[i], r, lattice_dither(lattice, i));
        norm = fmaf(v[i], v[i], norm);
    }
    if (lattice == LATTICE_A2) v[1] = lattice_mul(v[1], 0x1.279a74p-1f);
    return norm < LATTICE_LIMIT;
}

/* 2^-t and 2^t, exactly. */
LATTICE_FN float lattice_power(int t)
{
    return lattice_float((uint32_t)(127 + t) << 23);
}

/* Digits of a block at 1 / beta = r. */
LATTICE_FN uint64_t lattice_encode_once(int lattice, int q, int levels, const float x[], float r,
                                        bool *overload)
{
    float v[LATTICE_MAX_D];
    int z[LATTICE_MAX_D];
    if (overload) *overload = false;
    if (!lattice_scale(lattice, x, r, v)) return 0;
    lattice_closest(lattice, v, z);
    return lattice_nest(lattice, q, levels, z, overload != NULL, overload);
}

/* Digits of a block; where it is to be `is_protected`, beta is doubled until it is not overloaded,
 * and *t counts. One loop for both, so that a kernel that decides at run time has the arithmetic
 * once. */
LATTICE_FN uint64_t lattice_encode_block(int lattice, int q, int levels, const float x[], float r,
                                         bool is_protected, int *t)
{
    float v[LATTICE_MAX_D];
    int z[LATTICE_MAX_D];
    *t = is_protected ? LATTICE_LOST : 0;
    if (!lattice_scale(lattice, x, r, v)) return 0;
    LATTICE_LOOP
    for (int doublings = 0; doublings <= LATTICE_T_MAX; doublings++) {
        bool overload;
        lattice_closest(lattice, v, z);
        uint64_t digits = lattice_nest(lattice, q, levels, z, is_protected, &overload);
        if (!is_protected || !overload) {
            *t = doublings;
            return digits;
        }
        lattice_scale(lattice, x, r * lattice_power(-1 - doublings), v);
    }
    return 0;
}

/* Half of a block's own beta; `half` is half the shape's. 0 for a lost block. */
LATTICE_FN float lattice_half(float half, int t)
{
    return t > LATTICE_T_MAX ? 0.0f : lattice_mul(half, lattice_power(t));
}

/* What a block's digits stand for; `half` is beta / 2. A lost block is zeros. */
LATTICE_FN void lattice_decode_block(int lattice, int q, int levels, uint64_t digits, float half,
                                     int t, float y[])
{
    const int d = lattice_d(lattice);
    int z[LATTICE_MAX_D];
    float scale = lattice_half(half, t);
    lattice_unnest(lattice, q, levels, digits, z);
    LATTICE_UNROLL
    for (int i = 0; i < d; i++)
        y[i] = lattice_mul((float)z[i], scale);
    if (lattice == LATTICE_A2) y[1] = lattice_mul((float)z[1], lattice_mul(scale, 0x1.bb67aep0f));
}

/* ----------------------------------------------------------------- packing -- */

/* Bytes of a packed block: ceil(M d log2 q / 8). */
LATTICE_FN int lattice_packed_bytes(int lattice, int code)
{
    int digits = lattice_d(lattice) * code_levels(code);
    if (code == CODE_Q2M1) return (digits + 7) / 8;
    if (code == CODE_Q3M2) return digits == 16 ? 4 : digits == 8 ? 2 : 1; /* 3^16 < 2^32 */
    return (2 * digits + 7) / 8;
}

/* Digits as the packed integer: digit i has weight q^i. For q = 4 that is the word. */
LATTICE_FN uint64_t lattice_pack(int q, int count, uint64_t digits)
{
    if (q == 4) return digits;
    uint64_t packed = 0;
    if (q == 2) {
        LATTICE_UNROLL
        for (int i = 0; i < count; i++)
            packed |= (digits >> (2 * i) & 1) << i;
        return packed;
    }
    uint32_t value = 0;
    LATTICE_UNROLL
    for (int i = count - 1; i >= 0; i--)
        value = 3 * value + (uint32_t)(digits >> (2 * i) & 3);
    return value;
}

/* The word of a packed integer; what lies above the last digit is ignored. */
LATTICE_FN uint64_t lattice_unpack(int q, int count, uint64_t packed)
{
    if (q == 4) return packed;
    uint64_t digits = 0;
    if (q == 2) {
        LATTICE_UNROLL
        for (int i = 0; i < count; i++)
            digits |= (packed >> i & 1) << (2 * i);
        return digits;
    }
    uint32_t value = (uint32_t)packed;
    LATTICE_UNROLL
    for (int i = 0; i < count; i++) {
        digits |= (uint64_t)(value % 3) << (2 * i);
        value /= 3;
    }
    return digits;
}
