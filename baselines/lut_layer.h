/*
 * lut_layer.h - what some baselines of quantized_linear share: those that multiply the
 * activations as they are, not quantised to lattice codes. Their result differs from the
 * operation's, so they check it themselves, with the functions below.
 */
#pragma once

#include "kernels/lut/lut.h"

enum { LAYER_CHECKED = 64 };

/* Place `i` of LAYER_CHECKED on the diagonal of C, corner to corner. */
void layer_place(const struct assay_shape *shape, int i, int64_t *row, int64_t *column);

/* The weights of a column from the codes of its row of W, K of them, as they are. */
int layer_weights(const struct assay_shape *shape, const void *codes, float *weights);

/* What a sum of K products may be off by, in units of the sum of magnitudes: once an entry,
 * and once a term. */
struct layer_error {
    double entry, term;
};

/* Whether `got` is the product of `x` and `weights`, in double; where that is no finite number,
 * `got` may not be one. -1 with an assay_error. */
int layer_check_element(const struct assay_shape *shape, const float *x, const float *weights,
                        const struct layer_error *error, float got);
