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
 * lut_encode_e8 is one level of the paper's algorithm 1, as the same source for the host and for
 * CUDA. A block is lost if an entry is NaN or infinite or the sum of squares of x / beta is 2^40
 * or more: it is encoded as 0. No other block is touched.
 */
#pragma once

#include <math.h>

#include "lut.h"

/* Buffers: the operation's own names for LUT_A, LUT_B, LUT_C. */
enum { LINEAR_X = LUT_A, LINEAR_W = LUT_B, LINEAR_C = LUT_C };

/* Arrays stay in registers only where every index is known. */
#ifdef __CUDA_ARCH__
#define LUT_UNROLL _Pragma("unroll")
#else
#define LUT_UNROLL
#endif

struct lut_dither {
    float e[8];
};

/* The closest point of D8: if the sum of the rounded coordinates is odd, the one that was rounded
 * furthest is rounded in the other direction. No register array is indexed at run time. */
LUT_FUNCTION void lut_closest_d8(const float x[8], float y[8])
{
    float furthest = -1, moved = 0;
    int sum = 0, k = 0;
    LUT_UNROLL
    for (int i = 0; i < 8; i++) {
        y[i] = floorf(x[i] + 0.5f);
        sum += (int)y[i];
        float error = fabsf(x[i] - y[i]);
        if (error > furthest) {
            furthest = error;
            k = i;
            moved = y[i] + (x[i] > y[i] ? 1.0f : -1.0f);
        }
    }
    LUT_UNROLL
    for (int i = 0; i < 8; i++)
        if ((sum & 1) != 0 && i == k) y[i] = moved;
}

/* Q(x + e), doubled, as whole numbers. */
LUT_FUNCTION void lut_closest_e8(const float x[8], const struct lut_dither *dither, int out[8])
{
    float moved[8], shifted[8], whole[8], half[8], to_whole = 0, to_half = 0;
    LUT_UNROLL
    for (int i = 0; i < 8; i++) {
        moved[i] = x[i] + dither->e[i];
        shifted[i] = moved[i] - 0.5f;
    }
    lut_closest_d8(moved, whole);
    lut_closest_d8(shifted, half);
    LUT_UNROLL
    for (int i = 0; i < 8; i++) {
        to_whole += (moved[i] - whole[i]) * (moved[i] - whole[i]);
        to_half += (shifted[i] - half[i]) * (shifted[i] - half[i]);
    }
    LUT_UNROLL
    for (int i = 0; i < 8; i++)
        out[i] = to_half < to_whole ? 2 * (int)half[i] + 1 : 2 * (int)whole[i];
}

/* The entries of a block times r = 1 / beta, in steps of 1/64; zeros if it is lost, which
 * is returned. */
LUT_FUNCTION bool linear_scale(float x[8], float r)
{
    float norm = 0;
    LUT_UNROLL
    for (int i = 0; i < 8; i++) {
        x[i] = rintf(64.0f * (x[i] * r)) / 64.0f;
        norm += x[i] * x[i];
    }
    bool lost = !(norm < 0x1p40f);
    LUT_UNROLL
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
    LUT_UNROLL
    for (int i = 6; i >= 0; i--) {
        carry += (point[i] - point[7]) / 2;
        digit[i] = i > 0 ? carry : carry / 2;
    }
    LUT_UNROLL
    for (int i = 7; i >= 0; i--) {
        int rest = digit[i] % q;
        index = index * (uint32_t)q + (uint32_t)(rest < 0 ? rest + q : rest);
    }
    return index;
}

/* The index of the next level of the block `x`; `x` becomes its closest point divided by q, which
 * the level after that encodes. */
LUT_FUNCTION uint32_t lut_encode_e8(float x[8], int q, const struct lut_dither *dither)
{
    int point[8];
    lut_closest_e8(x, dither, point);
    LUT_UNROLL
    for (int i = 0; i < 8; i++)
        x[i] = 0.5f * (float)point[i] / (float)q;
    return lut_index_e8(point, q);
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
