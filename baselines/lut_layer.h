/*
 * lut_layer.h - shared by the baselines of quantized_linear that multiply the activations as they
 * are, without quantising them to lattice codes. Their result differs from the operation's, so they
 * check it themselves, with the functions below.
 */
#pragma once

#include "kernels/lut/lut.h"

enum { LAYER_CHECKED = 64 };

/* The element of C to check as number `i` of LAYER_CHECKED: they are on its diagonal, from corner
 * to corner. */
void layer_place(const struct assay_shape *shape, int i, int64_t *row, int64_t *column);

/* Decode one row of W, `codes`, to its K weights. -1 with an assay_error. */
int layer_weights(const struct assay_shape *shape, const void *codes, float *weights);

/* The error that is allowed in a sum of K products: (entry + (K + 2) term) times the sum of their
 * magnitudes. `entry` is for rounding the operands, `term` for each addition. */
struct layer_error {
    double entry, term;
};

/* 0 if `got` is the scalar product of `x` and `weights` (computed in double) within `error`; where
 * that is not finite, `got` may not be finite either. Otherwise -1 with an assay_error. */
int layer_check_element(const struct assay_shape *shape, const float *x, const float *weights,
                        const struct layer_error *error, float got);
