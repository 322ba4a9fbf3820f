/*
 * lut_mlp.h - shared by the baselines of quantized_mlp, whose activations are not quantised: their
 * result differs from the operation's, so they check it themselves.
 */
#pragma once

#include "kernels/lut/mlp.h"

/* 0 if up to 8 rows of C are those of the plain network within the error of fp32 (mlp_row_plain),
 * else -1 with an assay_error. All pointers are host memory. Rows with entries beyond 1e15, which
 * fp32 may overflow on, are left out. */
int lut_mlp_check(const struct assay_shape *shape, const float *x, const void *w, const float *c);
