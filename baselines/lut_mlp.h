/*
 * lut_mlp.h - shared by the baselines of quantized_mlp, whose activations are not quantised: their
 * result differs from the operation's, so they check it themselves.
 */
#pragma once

#include "kernels/lut/mlp.h"

/* Why nothing can be checked at this shape, for `supports`; NULL: it can. */
const char *lut_mlp_unchecked(const struct assay_shape *shape);

/* 0 if up to 8 rows of C are those of the plain network within the error of fp32 (mlp_row_plain),
 * else -1 with an assay_error. All pointers are host memory. In rows with entries beyond 1e15, NaN
 * or infinite ones, an element may be infinite or NaN instead. */
int lut_mlp_check(const struct assay_shape *shape, const float *x, const void *w, const float *c);
