/*
 * lattice_math.h - the arithmetic of the lattice family, in one text for the host
 * and for CUDA: what the host tests exercise is what runs on the GPU.
 *
 * Lattices Z2, A2, D4 and E8; closest points as in Conway and Sloane, "Fast
 * quantizing and decoding algorithms for lattice quantizers and codes" (IEEE
 * Trans. Inf. Theory 28, 1982); nested digits as in Kaplan and Ordentlich, "High-Rate
 * Nested-Lattice Quantized Matrix Multiplication with Small Lookup Tables"
 * (2025), algorithms 1 and 2.
 *
 * A point is its doubled coordinates z, whole numbers: x_i = z_i / 2, and for A2
 * x = (z_0 / 2, z_1 sqrt(3) / 2). D4 and Z2 have all z even, E8 and A2 all of one
 * parity.
 *
 * Level 0, in fp32. v_i = fma(x_i, r, e_i) with e the dither; t_i = floor(2 v_i) and
 * |a_i| = |v_i - rint(v_i)| are exact then. The two cosets share all of it:
 * round half up is (t + 1) >> 1, the half-integer is (t >> 1) + 1/2, and with
 * errors |a| and 1/2 - |a| the squares cancel from the difference of the distances:
 *     E8: D0 - D1 = sum |a| - 2 + [p0 odd] (1 - 2 max |a|) - [p1 odd] 2 min |a|
 *     A2: D0 - D1 = |a_0| + 3 |a_1| - 1,  a_1 that of x_1 / sqrt(3)
 * Nothing is left that a compiler could contract: every fused step says so.
 * The place of the largest and smallest |a| is in the last three bits of their
 * keys, an error below 2^-21.
 *
 * Levels above, in whole numbers: v = z / (2 q) + e, everything times 2 q 2^22, with
 * the dither rounded to 2^-22, a thirtieth of the gap it opens at a tie of E8.
 */
#ifndef LATTICE_MATH_H
#define LATTICE_MATH_H

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
/* On a GPU an array whose indices are all constants is registers. */
#ifdef __CUDA_ARCH__
#define LATTICE_UNROLL _Pragma("unroll")
#else
#define LATTICE_UNROLL
#endif

/* The choices of `lattice` and of `code`. */
enum { LATTICE_Z2, LATTICE_A2, LATTICE_D4, LATTICE_E8, LATTICES };
enum { CODE_Q2M1, CODE_Q4M1, CODE_Q4M2, CODE_Q3M2, CODE_Q4M3, CODES };

enum {
    LATTICE_MAX_D = 8,
    LATTICE_MAX_DIGITS = 24, /* levels times d */
    LATTICE_T_MAX = 10,      /* doublings of beta before a block is given up */
    LATTICE_LOST = 255,      /* T of a block without digits */
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

/* -------------------------------------------------------- basis and digits -- */

/* G^-1: the coordinates of point z in the basis (the running sums of its steps). */
LATTICE_FN void lattice_coordinates(int lattice, const int z[], int k[])
{
    if (lattice == LATTICE_Z2) {
        k[0] = z[0] >> 1;
        k[1] = z[1] >> 1;
    } else if (lattice == LATTICE_A2) {
        k[0] = (z[0] - z[1]) >> 1;
        k[1] = z[1];
    } else if (lattice == LATTICE_D4) {
        k[3] = -(z[3] >> 1);
        k[2] = k[3] - (z[2] >> 1);
        k[0] = -((z[0] + z[1] + z[2] + z[3]) >> 2);
        k[1] = (z[0] >> 1) + k[0];
    } else {
        int sum = 0;
        k[7] = z[7];
        LATTICE_UNROLL
        for (int i = 6; i >= 0; i--) {
            sum += (z[i] - z[7]) >> 1;
            k[i] = sum;
        }
        k[0] = sum >> 1;
    }
}

/* G: the point of coordinates k. */
LATTICE_FN void lattice_point(int lattice, const int k[], int z[])
{
    if (lattice == LATTICE_Z2) {
        z[0] = 2 * k[0];
        z[1] = 2 * k[1];
    } else if (lattice == LATTICE_A2) {
        z[0] = 2 * k[0] + k[1];
        z[1] = k[1];
    } else if (lattice == LATTICE_D4) {
        z[0] = 2 * (k[1] - k[0]);
        z[1] = 2 * (k[2] - k[0] - k[1]);
        z[2] = 2 * (k[3] - k[2]);
        z[3] = -2 * k[3];
    } else {
        z[0] = 4 * k[0] - 2 * k[1] + k[7];
        LATTICE_UNROLL
        for (int i = 1; i < 6; i++)
            z[i] = 2 * (k[i] - k[i + 1]) + k[7];
        z[6] = 2 * k[6] + k[7];
        z[7] = k[7];
    }
}

/* `value` mod q, in 0 to q - 1. */
LATTICE_FN int lattice_mod(int value, int q)
{
    return q == 3 ? value - 3 * lattice_floor_div(value, 3) : value & (q - 1);
}

/*
 * The digits of a block in one word: digit m d + j (level m, coordinate j) is two
 * bits at 2 (m d + j), whatever q is.
 */

/* Digits of the nested points of z; *overload: the last does not vanish. */
LATTICE_FN uint64_t lattice_nest(int lattice, int q, int levels, const int point[], bool *overload)
{
    const int d = lattice_d(lattice);
    uint64_t digits = 0;
    int z[LATTICE_MAX_D], next[LATTICE_MAX_D];
    LATTICE_UNROLL
    for (int i = 0; i < d; i++)
        z[i] = point[i];
    LATTICE_UNROLL
    for (int m = 0; m < levels; m++) {
        int k[LATTICE_MAX_D];
        uint32_t level = 0;
        lattice_coordinates(lattice, z, k);
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            level |= (uint32_t)lattice_mod(k[i], q) << (2 * i);
        digits |= (uint64_t)level << (2 * d * m);
        if (m + 1 == levels && !overload) break;
        lattice_closest_quotient(lattice, q, z, next);
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            z[i] = next[i];
    }
    if (overload) {
        int any = 0;
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            any |= z[i];
        *overload = any != 0;
    }
    return digits;
}

/* The point that digits decode to. */
LATTICE_FN void lattice_unnest(int lattice, int q, int levels, uint64_t digits, int z[])
{
    const int d = lattice_d(lattice);
    int weight = 1;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++)
        z[i] = 0;
    LATTICE_UNROLL
    for (int m = 0; m < levels; m++) {
        int k[LATTICE_MAX_D], point[LATTICE_MAX_D], near[LATTICE_MAX_D];
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            k[i] = (int)(digits >> (2 * (m * d + i)) & 3);
        lattice_point(lattice, k, point);
        lattice_closest_quotient(lattice, q, point, near);
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            z[i] += weight * (point[i] - q * near[i]);
        weight *= q;
    }
}

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
    return lattice_nest(lattice, q, levels, z, overload);
}

/* Digits of a block, beta doubled until it is not overloaded; *t counts. */
LATTICE_FN uint64_t lattice_encode_protected(int lattice, int q, int levels, const float x[],
                                             float r, int *t)
{
    float v[LATTICE_MAX_D];
    int z[LATTICE_MAX_D];
    bool overload = lattice_scale(lattice, x, r, v);
    *t = LATTICE_LOST;
    if (!overload) return 0;
    for (int doublings = 0; doublings <= LATTICE_T_MAX; doublings++) {
        lattice_scale(lattice, x, r * lattice_power(-doublings), v);
        lattice_closest(lattice, v, z);
        uint64_t digits = lattice_nest(lattice, q, levels, z, &overload);
        if (overload) continue;
        *t = doublings;
        return digits;
    }
    return 0;
}

/* What a block's digits stand for; `half` is beta / 2. A lost block is zeros. */
LATTICE_FN void lattice_decode_block(int lattice, int q, int levels, uint64_t digits, float half,
                                     int t, float y[])
{
    const int d = lattice_d(lattice);
    int z[LATTICE_MAX_D];
    float scale = t > LATTICE_T_MAX ? 0.0f : lattice_mul(half, lattice_power(t));
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

#endif
