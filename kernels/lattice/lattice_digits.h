/*
 * lattice_digits.h - coordinates in a lattice's basis, and the nested digits of a
 * point, in one text for the host and for CUDA. Kaplan and Ordentlich, "High-Rate
 * Nested-Lattice Quantized Matrix Multiplication with Small Lookup Tables" (2025),
 * algorithms 1 and 2.
 */
#pragma once

#include "lattice_closest.h"

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

/* Digits of the nested points of z; *overload, where it is `wanted`: the last does not vanish. */
LATTICE_FN uint64_t lattice_nest(int lattice, int q, int levels, const int point[], bool wanted,
                                 bool *overload)
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
        if (m + 1 == levels && !wanted) break;
        lattice_closest_quotient(lattice, q, z, next);
        LATTICE_UNROLL
        for (int i = 0; i < d; i++)
            z[i] = next[i];
    }
    if (wanted) {
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
