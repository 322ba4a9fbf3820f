/*
 * lut_matmul.c - operation lut_matmul: the product of two matrices that exist as codes of a nested
 * lattice (lut.h has the formula).
 *
 * Operations: 2 * rows * K * columns, the multiply-adds of the decoded operands; a table does M^2
 * lookups per pair of blocks instead. Bytes: the codes of A and B, the scales where scaling is on,
 * 4 per element of C. The table is no input: each variant makes its own in setup.
 *
 * Without scaling every element of C is a whole number (A2: a multiple of 1/2), and every variant
 * must give it exactly, rounded once to fp32. Baselines on decoded operands do so too while K
 * times the largest product is below 2^24, where fp32 holds all whole numbers; beyond that they
 * get the bound of an fp32 sum.
 *
 * With scaling s = beta 2^T per block, where T is the overload exponent. The terms are floats, and
 * the bound is that of a sum of K of them (kernels/product.h), of products that are themselves
 * rounded three times (the scales' product, a block's scale, the unit).
 *
 * Freivalds' check decodes each operand once. Where elements are exact, so is the sum of a row.
 */
#include "dims.h"
#include "kernels/product.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lut_geometry geometry = lut_geometry(shape);
    out[LUT_A] = lut_codes_buffer(&geometry, "a", geometry.rows);
    out[LUT_B] = lut_codes_buffer(&geometry, "b", geometry.columns);
    out[LUT_C] = lut_entries_buffer("c", ASSAY_OUT, geometry.rows, geometry.columns);
    if (!geometry.scaled) return 3;
    out[LUT_SCALE_A] = lut_entries_buffer("scale_a", ASSAY_IN, geometry.rows, geometry.blocks);
    out[LUT_SCALE_B] = lut_entries_buffer("scale_b", ASSAY_IN, geometry.columns, geometry.blocks);
    out[LUT_SCALE_A].fill.kind = out[LUT_SCALE_B].fill.kind = ASSAY_FILL_CUSTOM;
    return 5;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (buffer == LUT_SCALE_A)
        lut_fill_scales(geometry.rows * geometry.blocks, seed, 0.7f, host);
    else if (buffer == LUT_SCALE_B)
        lut_fill_scales(geometry.columns * geometry.blocks, seed, 0.3f, host);
    else
        lut_fill_codes(&geometry, buffer == LUT_A ? geometry.rows : geometry.columns, seed, host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    double row_bytes = (double)geometry.stride_bytes;
    if (geometry.scaled) row_bytes += 4.0 * (double)geometry.blocks;
    return lut_work(&geometry, row_bytes, row_bytes, ASSAY_INT8_OPS);
}

/* ------------------------------------------------------------- reference -- */

/* One operand, to be decoded. */
struct operand {
    const struct lut_geometry *geometry;
    const struct codebook *codebook;
    struct lut_codes codes;
    bool right;
    const float *scale; /* [rows][blocks], or NULL */
};

/* Entries of a row; `first` is the first of a block. Signature of product_load. */
static void load(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct operand *operand = matrix;
    const struct lut_geometry *geometry = operand->geometry;
    for (int at = 0; at < count; at += geometry->d) {
        int64_t block = (first + at) / geometry->d;
        int point[CODEBOOK_MAX_D];
        lut_decode_block(operand->codebook, geometry, &operand->codes, operand->right, row, block,
                         point);
        double scale = operand->scale ? (double)operand->scale[row * geometry->blocks + block] : 1;
        for (int i = 0; i < geometry->d && at + i < count; i++)
            out[at + i] = scale * point[i];
    }
}

/* A B^T of decoded points, and what its elements are multiplied by. */
struct decoded {
    struct lut_geometry geometry;
    struct operand a, b;
    struct product product;
    enum product_unit by; /* scales are fp32 and belong to blocks: no tensor core takes them */
    double unit;
    bool exact;
};

static int decoded_init(struct decoded *decoded, const struct assay_shape *shape,
                        const void *const in[])
{
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_geometry *geometry = &decoded->geometry;
    if (codebook == NULL) return -1;
    *geometry = lut_geometry(shape);
    decoded->a = (struct operand){
        geometry, codebook, lut_codes(geometry, in[LUT_A], geometry->rows), false, in[LUT_SCALE_A]};
    decoded->b =
        (struct operand){geometry, codebook, lut_codes(geometry, in[LUT_B], geometry->columns),
                         true, in[LUT_SCALE_B]};
    decoded->product = (struct product){
        geometry->rows, geometry->columns, geometry->blocks * geometry->d, load, load,
        &decoded->a,    &decoded->b};
    decoded->by = geometry->scaled ? PRODUCT_FP32 : PRODUCT_TENSOR;
    decoded->unit = (double)geometry->unit / geometry->divisor;
    decoded->exact = !geometry->scaled && lut_worst_sum(geometry, codebook) < 0x1p24;
    return 0;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct decoded decoded;
    if (decoded_init(&decoded, shape, in)) return -1;
    const struct product *product = &decoded.product;
    for (int64_t at = begin; at < end; at++) {
        struct product_sum sum = {0};
        product_add_terms(&sum, product, at / product->columns, at % product->columns);
        double error = product_bound(decoded.by, (double)product->depth + 3, &sum);
        expected[at - begin] = decoded.unit * sum.value;
        bound[at - begin] = decoded.exact ? 0 : decoded.unit * error;
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
    struct decoded decoded;
    if (decoded_init(&decoded, shape, in) || product_rows(&decoded.product, sign, expected, bound))
        return -1;
    const struct product *product = &decoded.product;
    for (int64_t row = 0; row < product->rows; row++) {
        double error = product_row_bound(decoded.by, (double)product->depth + 3, 0, bound[row]);
        expected[row] *= decoded.unit;
        bound[row] = decoded.exact ? 0 : decoded.unit * error;
    }
    return 0;
}

static const char *const baselines[] = {
    "cublaslt_int8_product", "cublaslt_int8", "cublas_fp32", "openblas", "host_decode", NULL};

static const struct assay_operation operation = {
    .name = "lut_matmul",
    .summary = "C = sum of s s q^(m+n) T[b_m(i,k), b_n(j,k)]: A and B as lattice codes",
    .dims = {LUT_DIMS(512, 512, 512), LUT_DIM_SCALED},
    .supports = lut_index_unsupported,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = lut_reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
