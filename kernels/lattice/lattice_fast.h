/*
 * lattice_fast.h - the encoder for q a power of two, with as few instructions as could be found.
 * It is compiled for the host too, so that tests run it. Two ideas go beyond lattice_math.h.
 *
 * 1. The levels above the first need no closest point. A point g = G k splits into k = q k' + b,
 * with b its digits, so g / q = G k' + G b / q. A rounding that breaks ties by the dither commutes
 * with the lattice's translations, so
 *     Q(g / q) = G k' + Q(G b / q) = G (k' + c(b)),   c(b) = G^-1 Q(G b / q).
 * The next level's digits are k' + c(b) mod q, and c is a table over the q^d digits of one level:
 * 65536 entries of 16 bits for E8 at q = 4, 256 for D4, 16 for Z2 and A2.
 *
 * 2. For E8, all steps after the roundings work on four coordinates per 32-bit word, one byte
 * each. The order is reversed (the last coordinate is lowest), so that a multiplication by
 * 0x01010101 gives the running sums that G^-1 consists of. 7 bits of a doubled coordinate are
 * enough, because 64 e_i = 32 (2 e_i) has coordinates in the basis that are 0 mod 32.
 */
#pragma once

#include "lattice_math.h"

/* The low bytes of four words, the first lowest. */
LATTICE_FN uint32_t fast_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
#else
    return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
#endif
}

/* floor(2 v) in the low 22 bits; above them are others. */
LATTICE_FN uint32_t fast_floor2(float v)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(__fadd_rd(v, 0x1.8p22f));
#else
    return (uint32_t)lattice_floor2(v) + 0x4ac00000u;
#endif
}

LATTICE_FN uint32_t fast_max3(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    return __vimax3_u32(a, b, c);
#else
    uint32_t most = a > b ? a : b;
    return most > c ? most : c;
#endif
}

LATTICE_FN uint32_t fast_min3(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    return __vimin3_u32(a, b, c);
#else
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
#endif
}

/* lattice_key in one instruction. That instruction takes one constant, so `mask`, FAST_KEY_MASK,
 * comes as an argument of the kernel, whose value the compiler does not know. */
#define FAST_KEY_MASK 0x7ffffff8u

LATTICE_FN uint32_t fast_key(float rest, int i, uint32_t mask)
{
    return (lattice_bits(rest) & mask) | (uint32_t)(7 - i);
}

/* z = t + up, and where `flip` has a 1: t - 1 (up) or t + 2 (down); bytes, mod 128. */
LATTICE_FN uint32_t fast_round(uint32_t t, uint32_t coset, uint32_t flip)
{
    uint32_t up = (t ^ coset) & 0x01010101u;
    return (t & 0x7f7f7f7fu) + up + 2 * flip + 124 * (flip & up); /* 1 + 2 + 124 = -1 */
}

/* The E8 point closest to v: doubled coordinates 4, 3, 2, 1 and 8, 7, 6, 5 as bytes,
 * the low 7 bits of each. */
LATTICE_FN void fast_closest_e8(const float v[8], uint32_t mask, uint32_t *low, uint32_t *high)
{
    uint32_t t[8], key[8];
    float rest[8];
    LATTICE_UNROLL
    for (int i = 0; i < 8; i++) {
        t[i] = fast_floor2(v[i]);
        rest[i] = lattice_rest(v[i]);
        key[i] = fast_key(rest[i], i, mask);
    }
    uint32_t most = fast_max3(fast_max3(key[0], key[1], key[2]), fast_max3(key[3], key[4], key[5]),
                              fast_max3(key[6], key[7], key[7]));
    uint32_t least = fast_min3(fast_min3(key[0], key[1], key[2]), fast_min3(key[3], key[4], key[5]),
                               fast_min3(key[6], key[7], key[7]));
    uint32_t first = fast_bytes(t[3], t[2], t[1], t[0]);
    uint32_t second = fast_bytes(t[7], t[6], t[5], t[4]);
    /* Sums over the bytes arrive in the top one: the parity of the floors, and of
     * what rounding up adds to it. */
    uint32_t both = first ^ second;
    uint32_t odd1 = ((both & 0x02020202u) * 0x01010101u) >> 25 & 1;
    uint32_t odd0 = odd1 ^ (((both & 0x01010101u) * 0x01010101u) >> 24 & 1);
    bool coset = lattice_e8_coset(lattice_sum8(rest), most, least, (int)odd0, (int)odd1);
    uint32_t place = (coset ? least : most) & 7;
    /* Place 7 - i: the second word is the low half. */
    uint64_t flip = (uint64_t)(coset ? odd1 : odd0) << (8 * place);
    uint32_t ones = coset ? 0x01010101u : 0;
    *low = fast_round(first, ones, (uint32_t)(flip >> 32));
    *high = fast_round(second, ones, (uint32_t)flip);
}

/* Coordinates in the basis, 4, 3, 2, 1 and 8, 7, 6, 5 as bytes: the low 5 bits of each,
 * of the first 4. */
LATTICE_FN void fast_coordinates_e8(uint32_t *low, uint32_t *high)
{
    const uint32_t ones = 0x01010101u;
    uint32_t h0 = *low >> 1 & 0x1f1f1f1fu;
    uint32_t h1 = *high >> 1 & 0x1f1f1f1fu;
    /* The last coordinate is taken from all; no sum of a byte reaches 256 but that
     * of the top one, whose carry is lost, a multiple of 32. */
    uint32_t last = (32 - (h1 & 0x1f)) * ones;
    uint32_t sums1 = (h1 + last) * ones;
    uint32_t sums0 = (h0 + last + (sums1 >> 24 & 0x1f)) * ones;
    *high = (sums1 & 0xffffff00u) | (*high & 0xffu);
    *low = (sums0 & 0x00ffffffu) | (sums0 >> 1 & 0x7f000000u);
}

/* Bits `shift` and `shift` + 1 of each byte, the top byte's lowest, in the top byte. */
LATTICE_FN uint32_t fast_gather2(uint32_t bytes, int shift)
{
    return (bytes >> shift & 0x03030303u) * 0x40100401u;
}

/* One bit of each byte, the top byte's lowest, in the top four bits. */
LATTICE_FN uint32_t fast_gather1(uint32_t bytes)
{
    return (bytes & 0x01010101u) * 0x80402010u;
}

LATTICE_FN uint32_t fast_tops(uint32_t low, uint32_t high)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(low, high, 0x4473) & 0xffff;
#else
    return low >> 24 | (high >> 24) << 8;
#endif
}

/* Fields of two bits added, each mod 4. */
LATTICE_FN uint32_t fast_add2(uint32_t a, uint32_t b)
{
    return a ^ b ^ (a & b & 0x55555555u) << 1;
}

/* c(b) for the digits b of one level, in the same fields. */
LATTICE_FN uint32_t fast_carry(int lattice, uint32_t digits)
{
    const int d = lattice_d(lattice);
    int k[LATTICE_MAX_D], z[LATTICE_MAX_D], near[LATTICE_MAX_D];
    uint32_t carry = 0;
    for (int i = 0; i < d; i++)
        k[i] = (int)(digits >> (2 * i) & 3);
    lattice_point(lattice, k, z);
    lattice_closest_quotient(lattice, 4, z, near);
    lattice_coordinates(lattice, near, k);
    for (int i = 0; i < d; i++)
        carry |= (uint32_t)(k[i] & 3) << (2 * i);
    return carry;
}

/* Packed digits of an E8 block; `carry` is the table of c (not read for one level). */
LATTICE_FN uint32_t fast_encode_e8(int code, const float x[8], float r, const uint16_t *carry,
                                   uint32_t mask)
{
    float v[8];
    uint32_t low, high;
    bool sound = lattice_scale(LATTICE_E8, x, r, v);
    fast_closest_e8(v, mask, &low, &high);
    fast_coordinates_e8(&low, &high);
    if (code == CODE_Q2M1) {
        uint32_t bits = fast_gather1(low) >> 28 | fast_gather1(high) >> 28 << 4;
        return sound ? bits : 0;
    }
    uint32_t digits = fast_tops(fast_gather2(low, 0), fast_gather2(high, 0));
    if (code == CODE_Q4M1) return sound ? digits : 0;
    uint32_t above = fast_tops(fast_gather2(low, 2), fast_gather2(high, 2));
    uint32_t next = fast_add2(above, carry[digits]) << 16;
    return sound ? digits | next : 0;
}

/* The D4 point closest to v: doubled coordinates 4, 3, 2, 1 as bytes, 7 bits of each. */
LATTICE_FN uint32_t fast_closest_d4(const float v[4], uint32_t mask)
{
    uint32_t t[4], key[4];
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = fast_floor2(v[i]);
        key[i] = fast_key(lattice_rest(v[i]), i, mask);
    }
    uint32_t most = fast_max3(fast_max3(key[0], key[1], key[2]), key[3], key[3]);
    uint32_t bytes = fast_bytes(t[3], t[2], t[1], t[0]);
    /* Rounded up is odd where the two low bits differ. */
    uint32_t odd = (((bytes ^ bytes << 1) & 0x02020202u) * 0x01010101u) >> 25 & 1;
    return fast_round(bytes, 0, odd << (8 * (most & 3)));
}

/* Its coordinates in the basis, 4, 3, 2, 1 as bytes: the low 5 bits of each, of the first 4. */
LATTICE_FN uint32_t fast_coordinates_d4(uint32_t z)
{
    uint32_t h = z >> 1 & 0x1f1f1f1fu;
    uint32_t sums = (0x20202020u - h) * 0x01010101u; /* of what is subtracted from 32 */
    uint32_t first = sums >> 25;
    return (sums & 0xffffu) | (((h >> 24) + first) & 0x1f) << 16 | first << 24;
}

/* Packed digits of two D4 blocks. */
LATTICE_FN uint32_t fast_encode_d4(int code, const float x[8], float r, const uint16_t *carry,
                                   uint32_t mask)
{
    uint32_t k[2], lost = 0;
    LATTICE_UNROLL
    for (int b = 0; b < 2; b++) {
        float v[4];
        if (!lattice_scale(LATTICE_D4, x + 4 * b, r, v)) lost |= 0xffu << (8 * b);
        k[b] = fast_coordinates_d4(fast_closest_d4(v, mask));
    }
    if (code == CODE_Q2M1)
        return (fast_gather1(k[0]) >> 28 | fast_gather1(k[1]) >> 28 << 8) & ~lost;
    uint32_t digits = fast_tops(fast_gather2(k[0], 0), fast_gather2(k[1], 0));
    if (code == CODE_Q4M1) return digits & ~lost;
    uint32_t above = fast_tops(fast_gather2(k[0], 2), fast_gather2(k[1], 2));
    uint32_t c = carry[digits & 255] | (uint32_t)carry[digits >> 8] << 8;
    uint32_t next = fast_add2(above, c) & ~lost;
    digits &= ~lost;
#ifdef __CUDA_ARCH__
    return __byte_perm(digits, next, 0x5140);
#else
    return (digits & 255) | (next & 255) << 8 | (digits >> 8 & 255) << 16 | next >> 8 << 24;
#endif
}

/* Packed digits of a block of another lattice, by the same table. */
LATTICE_FN uint32_t fast_encode(int lattice, int code, const float x[], float r,
                                const uint16_t *carry)
{
    const int d = lattice_d(lattice), fields = code == CODE_Q2M1 ? 1 : 2;
    float v[LATTICE_MAX_D];
    int z[LATTICE_MAX_D], k[LATTICE_MAX_D];
    bool sound = lattice_scale(lattice, x, r, v);
#ifndef __CUDA_ARCH__
    if (!sound) return 0; /* a GPU goes on with any numbers: a branch would cost more */
#endif
    lattice_closest(lattice, v, z);
    lattice_coordinates(lattice, z, k);
    uint32_t digits = 0, above = 0;
    LATTICE_UNROLL
    for (int i = 0; i < d; i++) {
        digits |= ((uint32_t)k[i] & (fields == 1 ? 1 : 3)) << (fields * i);
        above |= ((uint32_t)k[i] >> 2 & 3) << (2 * i);
    }
    if (code == CODE_Q4M2) digits |= fast_add2(above, carry[digits]) << (2 * d);
    return sound ? digits : 0;
}
