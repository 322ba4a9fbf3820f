/*
 * linear.c - operation quantized_linear: a layer whose weights are lattice codes and whose
 * activations are encoded in every call (the published "MLP").
 *
 * Operations: 2 * rows * K * columns, as in lut_matmul; encoding adds at most 8 * rows * K, which
 * are not counted. Bytes: 4 per activation, the codes of W, 4 per element of C.
 *
 * Elements are exact but for the two roundings of their definition. The sum of a row of C
 * (Freivalds' check) is off by those, as independent errors.
 *
 * Blocks that overload keep their codes. The first entries include some that are infinite, NaN or
 * too large; their blocks are lost.
 */
#include <math.h>
#include <stdlib.h>

#include "dims.h"
#include "linear.h"
#include "kernels/product.h"

static const float hard[] = {NAN, INFINITY, -INFINITY, 1e9f, -1e30f};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8) return "E8 only";
    if (shape->value[LUT_SCALED]) return "without overload scaling only";
    return lut_index_unsupported(shape);
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    out[LINEAR_X] = lut_entries_buffer("x", ASSAY_IN, geometry.rows, geometry.k);
    out[LINEAR_X].fill = (struct assay_fill){.kind = ASSAY_FILL_NORMAL,
                                             .b = 1,
                                             .hard = hard,
                                             .hard_count = sizeof hard / sizeof *hard,
                                             .hard_every = 16,
                                             .hard_until = 64};
    out[LINEAR_W] = lut_codes_buffer(&geometry, "w", geometry.columns);
    out[LINEAR_C] = lut_entries_buffer("c", ASSAY_OUT, geometry.rows, geometry.columns);
    return 3;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer; /* only codes are filled here */
    struct lut_geometry geometry = lut_geometry(shape);
    lut_fill_codes(&geometry, geometry.columns, seed, host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return lut_work(&geometry, 4.0 * (double)geometry.k, (double)geometry.stride_bytes,
                    ASSAY_INT8_OPS);
}

struct linear_block linear_nearest(const struct lut_geometry *geometry,
                                   const struct codebook *codebook, float r, const float *row,
                                   int64_t block)
{
    struct linear_block result = {.lost = false};
    float v[8];
    double at[8], point[8];
    int weight = 1;
    for (int i = 0; i < 8; i++)
        v[i] = block * 8 + i < geometry->k ? row[block * 8 + i] : 0;
    result.lost = linear_scale(v, r);
    if (result.lost) return result;
    for (int i = 0; i < 8; i++)
        at[i] = (double)v[i];
    for (int m = 0; m < geometry->levels; m++, weight *= geometry->q) {
        int whole[8];
        codebook_closest(CODEBOOK_E8, at, point);
        for (int i = 0; i < 8; i++) {
            whole[i] = (int)rint(2 * point[i]);
            at[i] = point[i] / geometry->q;
        }
        const int8_t *left = codebook->left + 8 * (int64_t)lut_index_e8(whole, geometry->q);
        for (int i = 0; i < 8; i++)
            result.point[i] += weight * left[i];
    }
    codebook_closest(CODEBOOK_E8, at, point);
    for (int i = 0; i < 8; i++)
        result.overloaded |= point[i] != 0;
    return result;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_codes w = lut_codes(&geometry, in[LINEAR_W], geometry.columns);
    struct linear_block *x = calloc((size_t)geometry.blocks, sizeof *x);
    float r = lut_inverse_beta(geometry.q, geometry.levels);
    int64_t kept = -1;
    if (x == NULL || codebook == NULL) {
        free(x);
        return assay_error("out of host memory for the reference");
    }
    for (int64_t at = begin; at < end; at++) {
        int64_t row = at / geometry.columns, sum = 0;
        const float *row_x = (const float *)in[LINEAR_X] + row * geometry.k;
        for (int64_t block = 0; block < geometry.blocks; block++) {
            int y[CODEBOOK_MAX_D];
            if (row != kept) x[block] = linear_nearest(&geometry, codebook, r, row_x, block);
            lut_decode_block(codebook, &geometry, &w, true, at % geometry.columns, block, y);
            for (int i = 0; i < 8; i++)
                sum += x[block].point[i] * y[i];
        }
        kept = row;
        expected[at - begin] = (double)((float)(sum / geometry.divisor) * geometry.unit);
        bound[at - begin] = 0;
    }
    free(x);
    return 0;
}

/* Encoding a row in double costs some hundred operations per block, once per run. */
static double reference_cost(const struct assay_shape *shape)
{
    return 4.0 * (double)shape->value[LUT_K];
}

/* ------------------------------------------------------- Freivalds' check */

/* What the rows of X and of W are decoded from. */
struct decoder {
    const struct lut_geometry *geometry;
    const struct codebook *codebook;
    const float *x;
    struct lut_codes w;
};

static void load_x(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct decoder *decoder = matrix;
    const struct lut_geometry *geometry = decoder->geometry;
    const float *from = decoder->x + row * geometry->k;
    float r = lut_inverse_beta(geometry->q, geometry->levels);
    for (int at = 0; at < count; at += 8) {
        struct linear_block block =
            linear_nearest(geometry, decoder->codebook, r, from, (first + at) / 8);
        for (int i = 0; i < 8; i++)
            out[at + i] = block.point[i];
    }
}

static void load_w(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct decoder *decoder = matrix;
    for (int at = 0; at < count; at += 8) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(decoder->codebook, decoder->geometry, &decoder->w, true, row,
                         (first + at) / 8, point);
        for (int i = 0; i < 8; i++)
            out[at + i] = point[i];
    }
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return shape->value[LUT_COLUMNS];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    struct lut_geometry geometry = lut_geometry(shape);
    struct decoder decoder = {&geometry, lut_codebook(shape), in[LINEAR_X],
                              lut_codes(&geometry, in[LINEAR_W], geometry.columns)};
    struct product product = {geometry.rows, geometry.columns, 8 * geometry.blocks, load_x, load_w,
                              &decoder,      &decoder};
    double unit = (double)geometry.unit / geometry.divisor;
    if (decoder.codebook == NULL || product_rows(&product, sign, expected, bound)) return -1;
    for (int64_t row = 0; row < geometry.rows; row++) {
        expected[row] *= unit;
        bound[row] = unit * product_row_bound(PRODUCT_FP32, 2, 0, bound[row]);
    }
    return 0;
}

static const char *const baselines[] = {"cublas_bf16", "cublas_fp32", "openblas", "host_scalar",
                                        NULL};

const struct assay_operation lut_quantized_linear = {
    .name = "quantized_linear",
    .summary = "C = beta decode(encode(X / beta)) decode(W)^T: E8 codes, X encoded in the call",
    .dims = {LUT_DIMS(8, 64, 32), LUT_DIM_SCALED},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .quality = linear_quality,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(lut_quantized_linear);
