/*
 * product.h - how far an honest product of matrices may be off, element by element and row by row;
 * for the references of all operations that are one.
 *
 * A sum of k products p_i in fp32, S = sum p_i, N = sqrt(sum p_i^2), u = 2^-24. A rounding error is
 * a share of the partial sum that is rounded, and partial sums grow like a random walk towards S:
 * they stay around D = sqrt(N^2 + S^2). Rounding errors have a mean of 0 and are as good as
 * independent, so they add up as sqrt(k), not k (Higham and Mary, "A New Approach to Probabilistic
 * Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019). Each is distributed evenly within half
 * a unit in the last place, which is u / 2 to u of the value: a standard deviation of 0.42 u. A
 * sequential sum without drift has 0.30 u sqrt(k) N, one that begins with its largest term (a bias)
 * 0.42 u sqrt(k) D; every other order (pairwise, blocks, split k) has fewer roundings per term. The
 * standard deviation taken for PRODUCT_FP32 is 0.5 u sqrt(k) D.
 *
 * Tensor cores cut off where they align the terms of a block, and the result of each block (Fasi,
 * Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
 * 7, 2021). What a term loses has the term's sign, which is random: below u sqrt(k) D. What the sum
 * loses has the sum's sign: 0.72 u of each partial sum on average, a bias that does not average
 * out. Partial sums after k / 4 blocks (4 is the shortest; A100 and H100 take 8 and 16 for bf16)
 * add up to k / 4 N / sqrt(3) as a standard deviation, together 0.105 k u D.
 *
 * A bound is PRODUCT_SIGMAS of these: six standard deviations, which one element in 10^9 exceeds,
 * times two for inputs that are less random than assumed. It is never more than the bound that
 * holds always, (k + 1) u sum |p_i| (2 u on tensor cores).
 *
 * Outputs of 16 bits add half a unit in their last place. Operands in tf32 (11 bits) may be rounded
 * or cut off: 0.29 2^-10 of a product either way, and cut off, 0.72 2^-10 towards zero.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PRODUCT_SIGMAS 12.0

/* The error that operands in tf32 add: a random part, as a share of N, and a part towards zero, as
 * a share of S. */
#define PRODUCT_TF32_SIGMA 0.32e-3
#define PRODUCT_TF32_BIAS  0x1p-10

/* Rounding an output to 16 bits, as a share of it. */
#define PRODUCT_BF16_SIGMA (0x1p-8 / 1.732)
#define PRODUCT_FP16_SIGMA (0x1p-11 / 1.732)

/* Which units add the products up. */
enum product_unit { PRODUCT_FP32, PRODUCT_TENSOR };

struct product_sum {
    double value, magnitude, squares; /* sums of p, |p| and p^2 */
};

static inline void product_add(struct product_sum *sum, double term)
{
    sum->value += term;
    sum->magnitude += term < 0 ? -term : term;
    sum->squares += term * term;
}

/* The standard deviation of a sum of `terms` in fp32, from D^2. */
double product_sigma(enum product_unit unit, double terms, double d2);

/* How far the sum may be off in fp32. */
double product_bound(enum product_unit unit, double terms, const struct product_sum *sum);

/* What operands in tf32 add to that bound; `value` is |S| and `root_of_squares` is N. */
static inline double product_tf32(double value, double root_of_squares)
{
    return PRODUCT_TF32_BIAS * value + PRODUCT_SIGMAS * PRODUCT_TF32_SIGMA * root_of_squares;
}

/* Half a unit in the last place of a value in a type of floats. */
double product_half_ulp(enum assay_type type, double value);

/* What an output of `type` may be off by if its value is off by `error` before it is rounded. */
double product_rounded(enum assay_type type, double value, double error);

/* -------------------------------------------------------- Freivalds' check */

enum { PRODUCT_CHUNK = 256 };

/* Entries [first, first + count) of a row, as doubles; count <= PRODUCT_CHUNK, first a multiple
 * of it. Called from several threads. */
typedef void product_load(const void *matrix, int64_t row, int64_t first, int count, double *out);

/* out = left right^T, left [rows, depth], right [columns, depth]. */
struct product {
    int64_t rows, columns, depth;
    product_load *load_left, *load_right;
    const void *left, *right;
};

/* expected[i] = sum over j of sign[j] out[i][j], exactly; d2[i] = sum over j of D^2 of element
 * (i, j), where S^2 is estimated as if the entries of a column of `right` were independent: by
 * sum_l left^2 right^2 and the share of the mean column. Cost: (rows + columns) depth. 0, or
 * -1 when out of memory. */
int product_rows(const struct product *product, const double *sign, double *expected, double *d2);

/* Add the terms of one element to a sum. */
void product_add_terms(struct product_sum *sum, const struct product *product, int64_t row,
                       int64_t column);

/* The bound of a row's sum from the sum of its elements' D^2: `share` is the standard deviation
 * of what rounding its output adds to an element, as a share of it. */
double product_row_bound(enum product_unit unit, double terms, double share, double d2);

/* A matrix as it lies, row-major, [.., depth]. */
struct product_matrix {
    enum assay_type type;
    const void *base;
    int64_t depth;
};
product_load product_load_matrix;

/* The product of two matrices of one depth. */
static inline struct product product_of(const struct product_matrix *left, int64_t rows,
                                        const struct product_matrix *right, int64_t columns)
{
    return (struct product){rows, columns, left->depth, product_load_matrix, product_load_matrix,
                            left, right};
}

#ifdef __cplusplus
}
#endif
