/*
 * onesided.c - operation lut_matmul_onesided (onesided.h) and its host variants.
 *
 * Operations: 2 * rows * K * columns in fp32, the multiply-adds of the decoded A. By table, each
 * block and column takes q^d entries of d multiply-adds, and each row M lookups: that is less work
 * only where rows > q^d.
 * Bytes: the codes of A, 4 per entry of B, 4 per element of C.
 */
#include "onesided.h"

#include <math.h>
#include <stdlib.h>

#include "dims.h"
#include "kernels/product.h"

/* In B's first row, so that only C's first column holds values that are not finite. */
static const float hard[] = {NAN, INFINITY, -INFINITY};

/* With such values no row of C has a finite sum, so Freivalds' check is impossible. The row sums of
 * row_sums.h leave that column out, but cover at most 1024 rows. So a C with more rows gets finite
 * values only, and Freivalds' check. */
static bool has_hard(const struct assay_shape *shape)
{
    return shape->value[LUT_ROWS] <= 1024;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    out[LUT_A] = lut_codes_buffer(&geometry, "a", geometry.rows);
    out[LUT_B] = lut_entries_buffer("b", ASSAY_IN, geometry.columns, geometry.k);
    out[LUT_B].fill = (struct assay_fill){.kind = ASSAY_FILL_NORMAL,
                                          .b = 1,
                                          .hard = hard,
                                          .hard_count = sizeof hard / sizeof *hard,
                                          .hard_every = has_hard(shape) ? 32 : 0,
                                          .hard_until = geometry.k};
    out[LUT_C] = lut_entries_buffer("c", ASSAY_OUT, geometry.rows, geometry.columns);
    return 3;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer; /* only codes are filled here */
    struct lut_geometry geometry = lut_geometry(shape);
    lut_fill_codes(&geometry, geometry.rows, seed, host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return lut_work(&geometry, (double)geometry.stride_bytes, 4.0 * (double)geometry.k, ASSAY_FP32);
}

/* One element in double. */
static double element(const struct assay_shape *shape, const struct lut_geometry *geometry,
                      const struct codebook *codebook, const void *const in[], int64_t at)
{
    int lattice = (int)shape->value[LUT_LATTICE];
    struct lut_codes a = lut_codes(geometry, in[LUT_A], geometry->rows);
    const float *b = (const float *)in[LUT_B] + at % geometry->columns * geometry->k;
    double sum = 0;
    for (int64_t block = 0; block < geometry->blocks; block++) {
        int x[CODEBOOK_MAX_D];
        lut_decode_block(codebook, geometry, &a, false, at / geometry->columns, block, x);
        for (int i = 0; i < geometry->d && block * geometry->d + i < geometry->k; i++)
            sum += x[i] * (double)onesided_step(lattice, i) * (double)b[block * geometry->d + i];
    }
    return sum;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)bound; /* match has its own */
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return -1;
    for (int64_t at = begin; at < end; at++)
        expected[at - begin] = element(shape, &geometry, codebook, in, at);
    return 0;
}

/* The bound of an fp32 sum of K levels terms in any order, levels added first or last
 * (kernels/product.h): N from the largest coordinate, B's deviation of 1 and all levels. */
static double sum_bound(const struct assay_shape *shape, double expected)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    double most = 0, k = (double)geometry.k;
    if (codebook == NULL) return 0;
    for (int m = 0; m < geometry.levels; m++)
        most += codebook->left_max * lut_weight(geometry.q, m);
    if (shape->value[LUT_LATTICE] == CODEBOOK_E8) most /= 2;
    return PRODUCT_SIGMAS * product_sigma(PRODUCT_FP32, k * geometry.levels + 8,
                                          most * most * k + expected * expected);
}

/* Where B holds no number, C is NaN or infinite, by the order of its terms. */
static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    if (!isfinite(expected)) return isfinite(got) ? ASSAY_WRONG : ASSAY_EXACT;
    return fabs(got - expected) <= sum_bound(shape, expected) ? ASSAY_EXACT : ASSAY_WRONG;
}

/* ------------------------------------------------------- Freivalds' check */

struct left {
    struct lut_geometry geometry;
    const struct codebook *codebook;
    struct lut_codes codes;
    int lattice;
};

static void load_left(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct left *left = matrix;
    int d = left->geometry.d;
    for (int at = 0; at < count; at += d) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(left->codebook, &left->geometry, &left->codes, false, row,
                         (first + at) / d, point);
        for (int i = 0; i < d && at + i < count; i++)
            out[at + i] = point[i] * (double)onesided_step(left->lattice, i);
    }
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return has_hard(shape) ? 0 : shape->value[LUT_COLUMNS];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    struct left left = {
        lut_geometry(shape), lut_codebook(shape), {0}, (int)shape->value[LUT_LATTICE]};
    int64_t rows = left.geometry.rows, k = left.geometry.k;
    left.codes = lut_codes(&left.geometry, in[LUT_A], rows);
    struct product_matrix b = {ASSAY_F32, in[LUT_B], k};
    struct product product = {rows, left.geometry.columns, k, load_left, product_load_matrix, &left,
                              &b};
    if (left.codebook == NULL || product_rows(&product, sign, expected, bound)) return -1;
    for (int64_t row = 0; row < rows; row++)
        bound[row] =
            product_row_bound(PRODUCT_FP32, (double)(k * left.geometry.levels + 8), 0, bound[row]);
    return 0;
}

static int launch_host(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct codebook *codebook = lut_codebook(call->shape);
    const void *const in[] = {call->buffer[LUT_A], call->buffer[LUT_B]};
    float *c = call->buffer[LUT_C];
    if (codebook == NULL) return -1;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < geometry.rows * geometry.columns; at++)
        c[at] = (float)element(call->shape, &geometry, codebook, in, at);
    return 0;
}

static const char *const baselines[] = {"cublas_fp32", "openblas", "host_omp", NULL};

static const struct assay_operation operation = {
    .name = "lut_matmul_onesided",
    .summary = "C = A B^T with A as lattice codes and B in fp32",
    .dims = {LUT_DIMS(512, 512, 512)},
    .supports = lut_index_unsupported,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = lut_reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .match = match,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);

static const struct assay_variant host_omp = {
    .operation = "lut_matmul_onesided",
    .name = "host_omp",
    .summary = "all cores, decoding as it goes, sums in double",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_host,
};
ASSAY_REGISTER_VARIANT(host_omp);
