/*
 * onesided.h - lut_matmul_onesided: A as codes, B as fp32.
 *
 *   C[i,j] = sum over blocks k and levels m of q^m <x(b_m(i,k)), B[j, block k]>
 *
 * The buffers are numbers LUT_A, LUT_B and LUT_C. Coordinate i of a point is its whole number
 * times onesided_step(lattice, i); those of A2 are not exact in binary.
 */
#pragma once

#include "lut.h"

LUT_FUNCTION float onesided_step(int lattice, int i)
{
    if (lattice == CODEBOOK_E8) return 0.5f;
    if (lattice == CODEBOOK_A2) return i == 0 ? 0.5f : 0.86602540378443865f;
    return 1.0f;
}
