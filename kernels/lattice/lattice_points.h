/*
 * lattice_points.h - the points of packed digits, by tables. It is compiled for the host too, so
 * that tests run it.
 *
 * The digits b of a level stand for G b - q Q(G b / q), the point of their class that is nearest
 * to 0; the levels add up with weights q^m. Entries of the tables, in doubled coordinates:
 *
 *   Z2, A2    the whole block, by its packed bytes: 2 signed bytes
 *   D4        one level: 4 signed bytes
 *   E8        one level, q = 2 or 3: 8 signed bytes, in two words
 *   E8, q=4   one level: 3 bits per coordinate, 65536 entries of 24 bits, 192 KB, which fits the
 *             shared memory of a multiprocessor. p = b_8 mod 2 is the parity of all coordinates;
 *             z = 2 n - 6 - p with 0 <= n < 8, because no coordinate is -8: the dither puts the
 *             hole at +8. 16 bits of an entry are in one array, 8 in a second one
 *             behind it
 *
 * The work is divided into quads of four entries: half a block of E8, one block of D4, two of Z2
 * or A2.
 */
#pragma once

#include "lattice_math.h"

/* Packed bytes that hold a quad's digits: those of its blocks. */
LATTICE_CONST int points_block_bytes(int lattice, int code)
{
    return lattice == LATTICE_E8   ? (code == CODE_Q2M1   ? 1
                                      : code == CODE_Q4M1 ? 2
                                      : code == CODE_Q4M3 ? 6
                                                          : 4)
           : lattice == LATTICE_D4 ? (code <= CODE_Q4M1   ? 1
                                      : code == CODE_Q4M3 ? 3
                                                          : 2)
                                   : (code == CODE_Q4M3 ? 2 : 1);
}

LATTICE_CONST int points_quad_bytes(int lattice, int code)
{
    return points_block_bytes(lattice, code) * (lattice_d(lattice) == 2 ? 2 : 1);
}

/* Values of a table's index. */
LATTICE_CONST int points_entries(int lattice, int code)
{
    if (lattice_d(lattice) == 2) return code == CODE_Q4M3 ? 1 << 12 : 1 << 8;
    int entries = 1;
    for (int i = 0; i < lattice_d(lattice); i++)
        entries *= code_q(code);
    return entries;
}

LATTICE_CONST int points_entry_bytes(int lattice, int code)
{
    return lattice == LATTICE_E8 && code_q(code) == 4 ? 3 : lattice_d(lattice);
}

LATTICE_CONST int points_bytes(int lattice, int code)
{
    return points_entries(lattice, code) * points_entry_bytes(lattice, code);
}

/* Doubled coordinates of a quad, half 0 or 1 of its block for E8; `packed` are the
 * bytes of its blocks. */
LATTICE_FN void points_quad(int lattice, int code, const uint8_t *table, uint64_t packed, int half,
                            int z[4])
{
    const int d = lattice_d(lattice), q = code_q(code), levels = code_levels(code);
    const int entries = points_entries(lattice, code);
    if (d == 2) {
        const int bits = 8 * points_block_bytes(lattice, code);
        LATTICE_UNROLL
        for (int b = 0; b < 2; b++) {
            uint32_t index = (uint32_t)(packed >> (bits * b)) & (uint32_t)(entries - 1);
            uint16_t both = ((const uint16_t *)table)[index];
            z[2 * b] = (int8_t)both;
            z[2 * b + 1] = (int8_t)(both >> 8);
        }
        return;
    }
    const bool by_bits = points_entry_bytes(lattice, code) == 3;
    int weight = 1, shift = 0, odd = 0;
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++)
        z[i] = 0;
    LATTICE_UNROLL
    for (int m = 0; m < levels; m++, weight *= q) {
        uint32_t index;
        if (q == 3) {
            uint32_t rest = (uint32_t)packed;
            index = (m ? rest / (uint32_t)entries : rest) % (uint32_t)entries;
        } else {
            index = (uint32_t)(packed >> shift) & (uint32_t)(entries - 1);
            shift += q == 4 ? 2 * d : d;
        }
        if (by_bits) {
            /* Sums where the bits stand: they are moved once, behind the last level. */
            uint32_t n = ((const uint16_t *)table)[index];
            n |= (uint32_t)(table + 2 * entries)[index] << 16;
            n >>= 12 * half;
            LATTICE_UNROLL
            for (int i = 0; i < 4; i++)
                z[i] += weight * (int)(n & 7u << (3 * i));
            odd += weight * (6 + (int)(index >> 14 & 1));
        } else {
            uint32_t four = ((const uint32_t *)table)[d == 8 ? 2 * index + (uint32_t)half : index];
            LATTICE_UNROLL
            for (int i = 0; i < 4; i++)
                z[i] += weight * (int8_t)(four >> (8 * i));
        }
    }
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++)
        if (by_bits) z[i] = 2 * (z[i] >> (3 * i)) - odd;
}

/* y of z, `half` that of a block's own beta (lattice_half): what lattice_decode_block does.
 * Z2 and A2 have two blocks in a quad, the others use the first alone. */
LATTICE_FN void points_scale_each(int lattice, const int z[4], const float half[2], float y[4])
{
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++) {
        const float mine = half[lattice_d(lattice) == 2 ? i / 2 : 0];
        bool stretched = lattice == LATTICE_A2 && i % 2 == 1;
        y[i] = lattice_mul((float)z[i], stretched ? lattice_mul(mine, 0x1.bb67aep0f) : mine);
    }
}

/* The same where all have one beta. */
LATTICE_FN void points_scale(int lattice, const int z[4], float half, float y[4])
{
    const float both[] = {half, half};
    points_scale_each(lattice, z, both, y);
}

/* Fill a table of points_bytes(). */
LATTICE_FN void points_fill(int lattice, int code, uint8_t *table)
{
    const int d = lattice_d(lattice), q = code_q(code), levels = d == 2 ? code_levels(code) : 1;
    const int entries = points_entries(lattice, code);
    for (int index = 0; index < entries; index++) {
        int z[LATTICE_MAX_D];
        uint32_t n = 0;
        lattice_unnest(lattice, q, levels, lattice_unpack(q, d * levels, (uint64_t)index), z);
        if (points_entry_bytes(lattice, code) == d) {
            for (int i = 0; i < d; i++)
                table[index * d + i] = (uint8_t)z[i];
            continue;
        }
        for (int i = 0; i < d; i++)
            n |= (uint32_t)((z[i] + 6 + (index >> 14 & 1)) / 2) << (3 * i);
        ((uint16_t *)table)[index] = (uint16_t)n;
        table[2 * entries + index] = (uint8_t)(n >> 16);
    }
}
