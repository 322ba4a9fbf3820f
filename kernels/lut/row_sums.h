/*
 * row_sums.h - checks the row sums of lut_matmul_onesided on the host, in double: sum over j of
 * C[i,j] = A_i . (sum over j of B_j), where A_i is decoded. Rows of B with an infinity or NaN, and
 * their columns of C, are left out, which Freivalds' check of the harness cannot do.
 *
 * C is rounded, so each row has a bound: see onesided_row_sums. A wrong tile exceeds it by orders
 * of magnitude (tests/kernels/lut/test_family_lut_sums.c).
 */
#pragma once

#include "lut.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the sum of a row of C should be, and how far the rounding within its elements may move it.
 * row_sums_wrong also allows for two roundings of each element. */
struct row_sum {
    double expected, bound;
};

/* Sums over rows of B, a part at a time: entries and their magnitudes, K of each, and
 * whether each row is finite. */
struct column_sums {
    double *sum, *magnitude; /* [k] */
    bool *finite;            /* [columns] */
};
int column_sums_init(struct column_sums *sums, const struct assay_shape *shape);
void column_sums_add(struct column_sums *sums, const struct assay_shape *shape, const float *b,
                     int64_t first, int64_t count);
void column_sums_release(struct column_sums *sums);

/* `count` rows of codes of A. The bound is that of fp32 sums of K levels terms in any order. */
int onesided_row_sums(const struct assay_shape *shape, const void *a,
                      const struct column_sums *sums, int64_t count, struct row_sum *out);

/* The first of `count` rows of C whose sum over the finite columns is not what it should be, or -1.
 */
int64_t row_sums_wrong(const struct assay_shape *shape, const float *c, const bool *finite,
                       const struct row_sum *sums, int64_t count);

/* row_sums_cuda.c: assay_variant.check of the variants on a GPU, for up to 1024 rows, where the
 * harness's reference computes only a sample. */
int onesided_check(struct assay_call *call);

#ifdef __cplusplus
}
#endif
