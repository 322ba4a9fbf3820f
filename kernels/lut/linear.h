/*
 * linear.h - quantized_linear: activations encoded on the fly, E8.
 *
 *   C = beta decode(encode(X / beta)) . decode(W)^T,  X [rows, K] fp32, W [columns, K/8] codes
 *
 * There is one beta for the tensor (lut_beta), from the standard deviation of X, which is 1. It is
 * chosen so that few blocks of E8 overload (kernels/lattice recommends the same). X / beta is
 * rounded to multiples of 1/64 first, which adds 0.03 % to the error of the smallest cell. For such
 * numbers the two candidates of a closest point differ in distance by at least 1/64 or are exactly
 * tied, and a tie is decided by the dither. So fp32 and double cannot disagree, and C is exact.
 *
 * The paper's algorithm 1: the index of a level is lut_index_e8 of its point, that of the first
 * level from lut_closest_e8, of each other one from lut_next_e8; one source for the host and for
 * CUDA, with the closest points of kernels/lattice. A block is lost if an entry is NaN or infinite
 * or the sum of squares of x / beta is 2^40 or more: it is encoded as 0. No other block is touched.
 */
#pragma once

#include <math.h>

#include "kernels/lattice/lattice_closest.h"
#include "lut.h"

/* Buffers: the operation's own names for LUT_A, LUT_B, LUT_C. */
enum { LINEAR_X = LUT_A, LINEAR_W = LUT_B, LINEAR_C = LUT_C };

/* The closest point to x + e, e the dither, in doubled coordinates. */
LUT_FUNCTION void lut_closest_e8(const float x[8], int point[8])
{
    float moved[8];
    LATTICE_UNROLL
    for (int i = 0; i < 8; i++)
        moved[i] = lattice_add(x[i], lattice_dither(LATTICE_E8, i));
    lattice_closest(LATTICE_E8, moved, point);
}

/* `point` becomes the closest point to itself divided by q, which the next level encodes. */
LUT_FUNCTION void lut_next_e8(int point[8], int q)
{
    int next[8];
    lattice_closest_quotient(LATTICE_E8, q, point, next);
    LATTICE_UNROLL
    for (int i = 0; i < 8; i++)
        point[i] = next[i];
}

/* The entries of a block times r = 1 / beta, in steps of 1/64; zeros if it is lost, which
 * is returned. */
LUT_FUNCTION bool linear_scale(float x[8], float r)
{
    float norm = 0;
    LATTICE_UNROLL
    for (int i = 0; i < 8; i++) {
        x[i] = rintf(64.0f * (x[i] * r)) / 64.0f;
        norm += x[i] * x[i];
    }
    bool lost = !(norm < 0x1p40f);
    LATTICE_UNROLL
    for (int i = 0; i < 8; i++)
        if (lost) x[i] = 0;
    return lost;
}

/* The index of a point in doubled coordinates. G^-1 by running sums: the last digit
 * is the last coordinate, and each basis vector but the first ends where the next
 * begins. Digits are taken modulo q. */
LUT_FUNCTION uint32_t lut_index_e8(const int point[8], int q)
{
    int carry = 0, digit[8];
    uint32_t index = 0;
    digit[7] = point[7];
    LATTICE_UNROLL
    for (int i = 6; i >= 0; i--) {
        carry += (point[i] - point[7]) / 2;
        digit[i] = i > 0 ? carry : carry / 2;
    }
    LATTICE_UNROLL
    for (int i = 7; i >= 0; i--) {
        int rest = digit[i] % q;
        index = index * (uint32_t)q + (uint32_t)(rest < 0 ? rest + q : rest);
    }
    return index;
}

#ifdef __cplusplus
extern "C" {
#endif

/* linear.c */
extern const struct assay_operation lut_quantized_linear;

/* One block of a row of X times r encoded and decoded by codebook_closest, in double from
 * linear_scale on. */
struct linear_block {
    int point[8]; /* doubled coordinates, levels weighted and added */
    bool lost, overloaded;
};
struct linear_block linear_nearest(const struct lut_geometry *geometry,
                                   const struct codebook *codebook, float r, const float *row,
                                   int64_t block);

/* linear_host.c: one layer, x encoded with r into `coded` [rows][blocks], then multiplied by the
 * codes w. */
void linear_host_layer(const struct lut_geometry *geometry, const struct codebook *codebook,
                       float r, const float *x, const void *w, int (*coded)[8], float *c,
                       int threads);

/* linear_quality.c. Signature of assay_operation.quality. */
int linear_quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS]);

#ifdef __cplusplus
}
#endif
