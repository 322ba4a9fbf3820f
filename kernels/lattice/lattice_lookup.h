/*
 * lattice_lookup.h - D4 and A2 at q4m2: the digits of both levels, for four entries, by one
 * look-up. It is compiled for the host too, so that tests run it.
 *
 * At q = 4, the digits of two levels depend on the closest point only modulo 16 times the lattice.
 * For four entries (one block of D4, two of A2) that is 16 bits, so the table has 65536 entries of
 * 16 bits. The index is made from bytes of the rounded entries, with its bits in whichever order
 * is cheapest; the table is filled by walking over all points.
 *
 *   D4  h_i = z_i / 2 mod 16, four bits each. Their sum is even, so one lowest bit carries no
 *       information; it holds the parity of the four h_i / 16 instead, because 16 e_i is not in
 *       16 D4 but 16 (e_i + e_j) is
 *   A2  one byte per block: k_0 above k_1, with the lowest bit of k_1 inverted
 */
#pragma once

#include "lattice_fast.h"

enum { LOOKUP_ENTRIES = 1 << 16 };

/* Index of the D4 point with h_4, h_3, h_2, h_1 as bytes, 5 bits of each. */
LATTICE_FN uint32_t lookup_index_d4(uint32_t h)
{
    const uint32_t free_bit = 1u << 28;
    uint32_t bits = (h & 0x0f0f0f0fu) * 0x00100001u; /* bytes 3, 1, 4, 2 from bit 16 up */
    uint32_t parity = (h & 0x10101010u) * 0x01010101u;
    return ((bits & ~free_bit) | (parity & free_bit)) >> 16;
}

/* Index of two A2 points. For each, `h` has (z_1 - c) / 2 and (z_0 - c) / 2 as bytes, their
 * low 5 bits shifted up by one; `even` is 0x0101 for each point of coset c = 0. */
LATTICE_FN uint32_t lookup_index_a2(uint32_t h, uint32_t even)
{
    uint32_t k = ((h & 0x3e3e3e3eu) | 0x40004000u) - ((h & 0x003e003eu) << 8);
    uint32_t bits = (k & 0x1e0e1e0eu) | (even & 0x00010001u);
    bits |= bits >> 5;
#ifdef __CUDA_ARCH__
    return __byte_perm(bits, 0, 0x4420);
#else
    return (bits & 255) | (bits >> 8 & 0xff00);
#endif
}

LATTICE_FN uint32_t lookup_closest_d4(const float v[4], uint32_t mask)
{
    uint32_t t[4], key[4];
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = fast_floor2(v[i]);
        key[i] = fast_key(lattice_rest(v[i]), i, mask);
    }
    uint32_t most = fast_max3(fast_max3(key[0], key[1], key[2]), key[3], key[3]);
    /* (t + 1) >> 1 is odd where the two low bits of t differ. Inverting the
     * lowest bit rounds the other way. */
    uint32_t all = t[0] ^ t[1] ^ t[2] ^ t[3];
    uint32_t flip = ((all ^ all >> 1) & 1) << (8 * (most & 3));
    uint32_t bytes = fast_bytes(t[3], t[2], t[1], t[0]) ^ flip;
    return lookup_index_d4(((bytes & 0x3f3f3f3fu) + 0x01010101u) >> 1);
}

/* Two blocks; v_1 and v_3 divided by sqrt(3). */
LATTICE_FN uint32_t lookup_closest_a2(const float v[4])
{
    uint32_t t[4], even = 0;
    LATTICE_UNROLL
    for (int b = 0; b < 2; b++) {
        bool coset = lattice_a2_coset(lattice_rest(v[2 * b]), lattice_rest(v[2 * b + 1]));
        even |= coset ? 0 : 0x0101u << (16 * b);
        t[2 * b] = fast_floor2(v[2 * b]);
        t[2 * b + 1] = fast_floor2(v[2 * b + 1]);
    }
    uint32_t bytes = fast_bytes(t[1], t[0], t[3], t[2]);
    return lookup_index_a2((bytes & 0x3f3f3f3fu) + even, even);
}

/* Packed digits at q4m2 of eight entries; `codes` is the lattice's table. */
LATTICE_FN uint32_t lookup_encode(int lattice, const float x[8], float r, const uint16_t *codes,
                                  uint32_t mask)
{
    const int d = lattice_d(lattice), bits = 4 * d;
    uint32_t word = 0;
    LATTICE_UNROLL
    for (int half = 0; half < 2; half++) {
        float v[4];
        uint32_t lost = 0;
        LATTICE_UNROLL
        for (int b = 0; b < 4 / d; b++) {
            const float *block = x + 4 * half + b * d;
            if (lattice_scale(lattice, block, r, v + b * d)) continue;
            lost |= ((1u << bits) - 1) << (b * bits);
#ifndef __CUDA_ARCH__
            for (int i = 0; i < d; i++)
                v[b * d + i] = 0.0f; /* int holds no floor of such; a GPU takes any bits */
#endif
        }
        uint32_t index = lattice == LATTICE_D4 ? lookup_closest_d4(v, mask) : lookup_closest_a2(v);
        word |= (codes[index] & ~lost) << (16 * half);
    }
    return word;
}

/* ----------------------------------------------------------- the tables -- */

/* Packed digits of the point of coordinates k, 4 bits of each. */
LATTICE_FN uint32_t lookup_code(int lattice, const int k[])
{
    const int d = lattice_d(lattice);
    uint32_t digits = 0, above = 0;
    for (int i = 0; i < d; i++) {
        digits |= (uint32_t)(k[i] & 3) << (2 * i);
        above |= (uint32_t)(k[i] >> 2 & 3) << (2 * i);
    }
    return digits | fast_add2(above, fast_carry(lattice, digits)) << (2 * d);
}

/* Fill the 65536 entries for D4 or A2. */
LATTICE_FN void lookup_fill(int lattice, uint16_t *codes)
{
    for (int n = 0; n < LOOKUP_ENTRIES; n++) {
        const int k[] = {n & 15, n >> 4 & 15, n >> 8 & 15, n >> 12};
        int z[4];
        uint32_t h = 0;
        if (lattice == LATTICE_D4) {
            lattice_point(LATTICE_D4, k, z);
            for (int i = 0; i < 4; i++)
                h |= (uint32_t)(z[i] / 2 & 31) << (8 * (3 - i));
            codes[lookup_index_d4(h)] = (uint16_t)lookup_code(LATTICE_D4, k);
            continue;
        }
        uint32_t index = 0;
        for (int b = 0; b < 2; b++)
            index |= (uint32_t)(k[2 * b] << 4 | (k[2 * b + 1] ^ 1)) << (8 * b);
        codes[index] = (uint16_t)(lookup_code(LATTICE_A2, k) | lookup_code(LATTICE_A2, k + 2) << 8);
    }
}
