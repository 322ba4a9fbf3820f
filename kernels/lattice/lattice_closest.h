/*
 * lattice_closest.h - the lattices Z2, A2, D4 and E8 and their closest points, as one source for
 * the host and for CUDA, after Conway and Sloane, "Fast quantizing and decoding algorithms for
 * lattice quantizers and codes" (IEEE Trans. Inf. Theory 28, 1982).
 *
 * A point is stored by its doubled coordinates z, whole numbers: x_i = z_i / 2, and for A2 x =
 * (z_0 / 2, z_1 sqrt(3) / 2). For D4 and Z2 all z are even; for E8 and A2 all have the same
 * parity.
 *
 * Level 0, in fp32. v_i = fma(x_i, r, e_i) with e the dither. t_i = floor(2 v_i) and |a_i| =
 * |v_i - rint(v_i)| are exact, and serve both cosets: rounding half up is (t + 1) >> 1, the
 * nearest half-integer is (t >> 1) + 1/2, and their errors are |a| and 1/2 - |a|. In the
 * difference of the two squared distances the squares cancel:
 *     E8: D0 - D1 = sum |a| - 2 + [p0 odd] (1 - 2 max |a|) - [p1 odd] 2 min |a|
 *     A2: D0 - D1 = |a_0| + 3 |a_1| - 1,  a_1 that of x_1 / sqrt(3)
 * Every fused step is written as an intrinsic, so the compiler has nothing to contract. The place
 * of the largest and of the smallest |a| is kept in the last three bits of their keys, an error
 * below 2^-21.
 *
 * Levels above, in whole numbers: v = z / (2 q) + e, all times 2 q 2^22. The dither is rounded to
 * 2^-22, a thirtieth of the gap that it opens at a tie of E8.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define LATTICE_FN    static __host__ __device__ __forceinline__
#define LATTICE_CONST static constexpr __host__ __device__
#else
#define LATTICE_FN    static inline __attribute__((always_inline, unused))
#define LATTICE_CONST LATTICE_FN
#endif
/* On a GPU an array whose indices are all constants is registers. A loop that seldom goes round
 * twice stays a loop. */
#ifdef __CUDA_ARCH__
#define LATTICE_UNROLL _Pragma("unroll")
#define LATTICE_LOOP   _Pragma("unroll 1")
#else
#define LATTICE_UNROLL
#define LATTICE_LOOP
#endif

/* The choices of `lattice` and of `code`. Named, since a kernel whose type depends on one has it in
 * its name, where one without a name is another with every compilation. */
enum lattice_choice { LATTICE_Z2, LATTICE_A2, LATTICE_D4, LATTICE_E8, LATTICES };
enum code_choice { CODE_Q2M1, CODE_Q4M1, CODE_Q4M2, CODE_Q3M2, CODE_Q4M3, CODES };

enum {
    LATTICE_MAX_D = 8,
    LATTICE_T_MAX = 10, /* doublings of beta before a block is given up */
    LATTICE_LOST = 255, /* T of a block without digits */
    LATTICE_UNIT_BITS = 22,
};

/* A block whose sum of v^2 is not below this (infinite and NaN too) is lost: all
 * its digits are 0. Well below what fp32 tells apart to a half. */
#define LATTICE_LIMIT 0x1p40f

LATTICE_CONST int lattice_d(int lattice)
{
    return lattice == LATTICE_E8 ? 8 : lattice == LATTICE_D4 ? 4 : 2;
}

LATTICE_CONST int code_q(int code)
{
    return code == CODE_Q2M1 ? 2 : code == CODE_Q3M2 ? 3 : 4;
}

LATTICE_CONST int code_levels(int code)
{
    return code == CODE_Q4M3 ? 3 : code == CODE_Q2M1 || code == CODE_Q4M1 ? 1 : 2;
}

/* 2^-10 u, u_i = frac(sqrt(prime_i)) - 1/2 normalised, from double to fp32. */
LATTICE_FN float lattice_dither(int lattice, int i)
{
    const float two[] = {-0x1.6312dap-12f, 0x1.e03be6p-11f};
    const float four[] = {-0x1.c2792ap-13f, 0x1.30a16ep-11f, -0x1.5a7bc4p-11f, 0x1.7ead70p-12f};
    const float eight[] = {-0x1.254abap-13f, 0x1.8cacbap-12f, -0x1.c32c66p-12f, 0x1.f24db0p-13f,
                           -0x1.397798p-12f, 0x1.68dd78p-13f, -0x1.42232ap-11f, -0x1.e267a6p-13f};
    return lattice == LATTICE_E8 ? eight[i] : lattice == LATTICE_D4 ? four[i & 3] : two[i & 1];
}

/* The same in units of 2^-22; A2's second divided by sqrt(3), as its coordinate. */
LATTICE_FN int lattice_dither_units(int lattice, int i)
{
    const int z2[] = {-1420, 3842};
    const int a2[] = {-1420, 2218};
    const int d4[] = {-901, 2437, -2772, 1531};
    const int e8[] = {-587, 1587, -1805, 997, -1254, 722, -2577, -965};
    return lattice == LATTICE_E8   ? e8[i]
           : lattice == LATTICE_D4 ? d4[i & 3]
           : lattice == LATTICE_A2 ? a2[i & 1]
                                   : z2[i & 1];
}

/* ------------------------------------------------------------ fp32 steps -- */

LATTICE_FN float lattice_add(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

LATTICE_FN float lattice_mul(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

LATTICE_FN uint32_t lattice_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

LATTICE_FN float lattice_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* floor(2 v) for |v| < 2^20: added to 1.5 2^22 and rounded down, v keeps one binary
 * place. The low 22 bits of what comes out are the answer's. */
LATTICE_FN int lattice_floor2(float v)
{
#ifdef __CUDA_ARCH__
    return __float_as_int(__fadd_rd(v, 0x1.8p22f)) - 0x4ac00000;
#else
    return (int)floorf(2.0f * v);
#endif
}

/* v - rint(v), exact. */
LATTICE_FN float lattice_rest(float v)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(v, -__fadd_rn(__fadd_rn(v, 0x1.8p23f), -0x1.8p23f));
#else
    return v - rintf(v);
#endif
}

/* --------------------------------------------------------- closest points -- */

/* Round t = floor(2 v) to coset 0 (z even) or 1 (z odd), coordinate k the other way
 * (k < 0: none). */
LATTICE_FN void lattice_round(int d, const int t[], int coset, int k, int z[])
{
    LATTICE_UNROLL
    for (int i = 0; i < d; i++) {
        int up = (t[i] ^ coset) & 1;
        z[i] = t[i] + up + (i == k ? 2 - 4 * up : 0);
    }
}

/* Whether the rounded point of a coset has an odd sum (of its floors, coset 1). */
LATTICE_FN int lattice_odd(int d, const int t[], int coset)
{
    int sum = 0;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++)
        sum ^= (t[i] + 1 - coset) >> 1;
    return sum & 1;
}

/* The sum of |a|. Pairs, then pairs of pairs: the order of a butterfly between lanes. */
LATTICE_FN float lattice_sum8(const float a[])
{
    return lattice_add(
        lattice_add(lattice_add(fabsf(a[0]), fabsf(a[1])), lattice_add(fabsf(a[2]), fabsf(a[3]))),
        lattice_add(lattice_add(fabsf(a[4]), fabsf(a[5])), lattice_add(fabsf(a[6]), fabsf(a[7]))));
}

/* The key of an error a: ordered as |a|, with its place. */
LATTICE_FN uint32_t lattice_key(float rest, int i)
{
    return (lattice_bits(rest) & 0x7ffffff8u) | (uint32_t)(7 - i);
}

LATTICE_FN int lattice_key_place(uint32_t key)
{
    return 7 - (int)(key & 7);
}

/* Coset 1 of E8 is strictly closer: see the head of this file. */
LATTICE_FN bool lattice_e8_coset(float sum, uint32_t most, uint32_t least, int odd0, int odd1)
{
    float diff = lattice_add(sum, -2.0f);
    if (odd0) diff = lattice_add(diff, fmaf(-2.0f, lattice_float(most), 1.0f));
    if (odd1) diff = fmaf(-2.0f, lattice_float(least), diff);
    return diff > 0.0f;
}

LATTICE_FN bool lattice_a2_coset(float rest0, float rest1)
{
    return fmaf(3.0f, fabsf(rest1), fabsf(rest0)) > 1.0f;
}

/* The point closest to v, which has its dither (A2: v_1 divided by sqrt(3)). */
LATTICE_FN void lattice_closest(int lattice, const float v[], int z[])
{
    const int d = lattice_d(lattice);
    int t[LATTICE_MAX_D];
    float rest[LATTICE_MAX_D];
    uint32_t most = 0, least = 0xffffffffu;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++) {
        t[i] = lattice_floor2(v[i]);
        rest[i] = lattice_rest(v[i]);
        uint32_t key = lattice_key(rest[i], i);
        most = key > most ? key : most;
        least = key < least ? key : least;
    }
    int coset = 0, place = -1;
    if (lattice == LATTICE_A2) coset = lattice_a2_coset(rest[0], rest[1]);
    if (lattice == LATTICE_D4) place = lattice_odd(d, t, 0) ? lattice_key_place(most) : -1;
    if (lattice == LATTICE_E8) {
        int odd0 = lattice_odd(d, t, 0), odd1 = lattice_odd(d, t, 1);
        coset = lattice_e8_coset(lattice_sum8(rest), most, least, odd0, odd1);
        if (coset ? odd1 : odd0) place = lattice_key_place(coset ? least : most);
    }
    lattice_round(d, t, coset, place, z);
}

/* floor(a / q), q a constant 2, 3 or 4. */
LATTICE_FN int lattice_floor_div(int a, int q)
{
    if (q == 2) return a >> 1;
    if (q == 4) return a >> 2;
    return (a - (a < 0 ? q - 1 : 0)) / q;
}

/* The point closest to z / (2 q) + dither: the lattice's point z divided by q. */
LATTICE_FN void lattice_closest_quotient(int lattice, int q, const int z[], int out[])
{
    const int d = lattice_d(lattice), unit = 2 * q << LATTICE_UNIT_BITS;
    int t[LATTICE_MAX_D], rest[LATTICE_MAX_D];
    int sum = 0, most = -1, least = 0x7fffffff;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++) {
        int dither = lattice_dither_units(lattice, i);
        t[i] = lattice_floor_div(z[i] - (dither < 0), q);
        int left = z[i] - 2 * q * ((t[i] + 1) >> 1);
        int a = left * (1 << LATTICE_UNIT_BITS) + 2 * q * dither;
        rest[i] = a < 0 ? -a : a;
        sum += rest[i];
        int key = rest[i] * 8 + (7 - i);
        most = key > most ? key : most;
        least = key < least ? key : least;
    }
    int coset = 0, place = -1;
    if (lattice == LATTICE_A2) coset = rest[0] + 3 * rest[1] > unit;
    if (lattice == LATTICE_D4) place = lattice_odd(d, t, 0) ? 7 - (most & 7) : -1;
    if (lattice == LATTICE_E8) {
        int odd0 = lattice_odd(d, t, 0), odd1 = lattice_odd(d, t, 1);
        int diff =
            sum - 2 * unit + (odd0 ? unit - 2 * (most >> 3) : 0) - (odd1 ? 2 * (least >> 3) : 0);
        coset = diff > 0;
        if (coset ? odd1 : odd0) place = 7 - ((coset ? least : most) & 7);
    }
    lattice_round(d, t, coset, place, out);
}
