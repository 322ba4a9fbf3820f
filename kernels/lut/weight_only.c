/*
 * weight_only.c - operation weight_only_linear: a layer whose weights are lattice codes and whose
 * activations stay what they are (weight_only.h).
 *
 * Operations: 2 * rows * K * columns in bf16. Bytes: 2 per activation, the codes of W, 2 per
 * element of C.
 *
 * X is normal with a deviation of 1, rounded to bf16, and the weights are exact in bf16. So the
 * bound covers the sum, in any order and on tensor cores (kernels/product.h, of Higham and Mary
 * 2019 and Fasi et al. 2021), one more rounding for the factor behind it, and the rounding of C.
 * Elements that are not the nearest bf16 are few: the sum's error is far below half a unit of C. An
 * output that is cut off has them in half of its elements.
 */
#include "weight_only.h"

#include "dims.h"
#include "kernels/product.h"

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8) return "E8 only";
    if (lut_codebook(shape) == NULL) return "out of host memory for a codebook";
    if (lut_coordinate_max(shape) > 256) return "decoded coordinates do not fit bf16";
    return lut_index_unsupported(shape);
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1};
    out[WEIGHT_ONLY_X] =
        (struct assay_buffer){"x", ASSAY_IN, ASSAY_BF16, geometry.rows * geometry.k, normal, false};
    out[WEIGHT_ONLY_W] = lut_codes_buffer(&geometry, "w", geometry.columns);
    out[WEIGHT_ONLY_C] = (struct assay_buffer){.name = "c",
                                               .role = ASSAY_OUT,
                                               .type = ASSAY_BF16,
                                               .count = geometry.rows * geometry.columns};
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
    struct assay_work work = lut_work(&geometry, 2.0 * (double)geometry.k,
                                      (double)geometry.stride_bytes, ASSAY_BF16_OPS);
    work.write_bytes /= 2; /* C is bf16 */
    return work;
}

/* ------------------------------------------------------------- reference -- */

struct weights {
    struct lut_geometry geometry;
    const struct codebook *codebook;
    struct lut_codes codes;
};

static void load_weights(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct weights *weights = matrix;
    double scale = (double)weight_only_scale(&weights->geometry);
    for (int at = 0; at < count; at += 8) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(weights->codebook, &weights->geometry, &weights->codes, false, row,
                         (first + at) / 8, point);
        for (int i = 0; i < 8 && at + i < count; i++)
            out[at + i] = scale * point[i];
    }
}

struct operands {
    struct product_matrix x;
    struct weights w;
    struct product product;
};

static int operands_init(struct operands *operands, const struct assay_shape *shape,
                         const void *const in[])
{
    struct lut_geometry geometry = lut_geometry(shape);
    operands->x = (struct product_matrix){ASSAY_BF16, in[WEIGHT_ONLY_X], geometry.k};
    operands->w = (struct weights){geometry, lut_codebook(shape),
                                   lut_codes(&geometry, in[WEIGHT_ONLY_W], geometry.columns)};
    operands->product =
        (struct product){geometry.rows, geometry.columns, geometry.k,  product_load_matrix,
                         load_weights,  &operands->x,     &operands->w};
    return operands->w.codebook ? 0 : -1;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct operands operands;
    if (operands_init(&operands, shape, in)) return -1;
    int64_t columns = operands.product.columns;
    double terms = (double)operands.product.depth + 1;
    for (int64_t at = begin; at < end; at++) {
        struct product_sum sum = {0};
        product_add_terms(&sum, &operands.product, at / columns, at % columns);
        expected[at - begin] = sum.value;
        bound[at - begin] =
            product_rounded(ASSAY_BF16, sum.value, product_bound(PRODUCT_TENSOR, terms, &sum));
    }
    return 0;
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return shape->value[LUT_COLUMNS];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    struct operands operands;
    if (operands_init(&operands, shape, in)) return -1;
    if (product_rows(&operands.product, sign, expected, bound)) return -1;
    double terms = (double)operands.product.depth + 1;
    for (int64_t row = 0; row < operands.product.rows; row++)
        bound[row] = product_row_bound(PRODUCT_TENSOR, terms, PRODUCT_BF16_SIGMA, bound[row]);
    return 0;
}

static const char *const baselines[] = {"cublas_bf16", "host_omp", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "weight_only_linear",
    .summary = "C = beta X decode(W)^T: X and C in bf16, W as E8 codes",
    .dims = {LUT_DIMS(8, 64, 32)},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = lut_reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .tolerance = {.near_share = 0.1},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
