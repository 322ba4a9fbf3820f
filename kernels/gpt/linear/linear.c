/*
 * linear.c - operation linear: y = x w^T + b, x [m, k], w [n, k], y [m, n].
 *
 *   weight  transposed_per_call: w^T is written out at every call and read from
 *           there, as the published model did; transposed_cached: written out once,
 *           in setup; direct: w is read as it lies. The copy is workspace.
 *   bias    none; separate: added by a kernel of its own behind the product; fused
 *
 * Operations: 2 m n k (and m n additions). Bytes: those of x, w, b and y once; what
 * a layout makes a variant move beyond that is what its row shows.
 *
 * type       inputs                    sum    output
 * fp32       uniform in [-1, 1)        fp32   fp32
 * tf32       whole, -1024 to 1024      fp32   fp32   (exact in tf32's 11 bits)
 * bf16       uniform, rounded to bf16  fp32   bf16
 * fp16       uniform, rounded to fp16  fp32   fp16
 *
 * The bias is larger (up to 16, or 2^24 for tf32), so that a forgotten one exceeds the bound.
 * Inputs are exact numbers of their type, so the bound covers the sum and the output alone. It is
 * that of kernels/product.h. For 16 bits it adds the rounding of the output, and with a bias that
 * of the product before the bias is added: a separate kernel reads the product rounded, and some of
 * cuBLASLt's epilogues round it too (seen on an H200 at n = 257).
 *
 * A 16-bit output that is cut off instead of rounded stays within these two roundings. So an
 * element that is not the nearest counts as NEAR. With both roundings a quarter of the
 * elements are, with cut-off outputs half of them.
 *
 * Freivalds' check takes (m + n) k multiply-adds. The errors of a row's elements are independent,
 * so the sum over a row may be off by PRODUCT_SIGMAS times the root of the sum of their squares.
 */
#include "kernels/gpt/gpt.h"
#include "kernels/product.h"

static const char *const weights[] = {"transposed_per_call", "transposed_cached", "direct", NULL};
static const char *const biases[] = {"none", "separate", "fused", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t m = shape->value[LINEAR_M], n = shape->value[LINEAR_N], k = shape->value[LINEAR_K];
    int64_t precision = shape->value[LINEAR_PRECISION];
    enum assay_type type = gpt_type(precision);
    struct assay_fill fill = {.kind = ASSAY_FILL_UNIFORM, .a = -1, .b = 1};
    if (precision == GPT_TF32)
        fill = (struct assay_fill){.kind = ASSAY_FILL_INTEGER, .a = -1024, .b = 1024};
    out[LINEAR_X] = (struct assay_buffer){"x", ASSAY_IN, type, m * k, fill};
    out[LINEAR_W] = (struct assay_buffer){"w", ASSAY_IN, type, n * k, fill};
    out[LINEAR_W].constant = true; /* transposed_cached transposes it in setup */
    out[LINEAR_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = type, .count = m * n};
    if (shape->value[LINEAR_BIAS] == LINEAR_NO_BIAS) return 3;
    struct assay_fill large = {.kind = fill.kind, .a = -16, .b = 16};
    if (precision == GPT_TF32) large.a = -0x1p24, large.b = 0x1p24;
    out[LINEAR_B] = (struct assay_buffer){"b", ASSAY_IN, type, n, large};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double m = (double)shape->value[LINEAR_M], n = (double)shape->value[LINEAR_N];
    double k = (double)shape->value[LINEAR_K];
    int64_t precision = shape->value[LINEAR_PRECISION];
    double bytes = (double)gpt_bytes(precision);
    bool adds = shape->value[LINEAR_BIAS] != LINEAR_NO_BIAS;
    struct assay_work work = {
        .read_bytes = bytes * ((m + n) * k + (adds ? n : 0)),
        .write_bytes = bytes * m * n,
    };
    work.ops[gpt_arithmetic(precision)] = 2 * m * n * k;
    if (adds) work.ops[ASSAY_FP32] += m * n;
    return work;
}

static enum product_unit unit_of(const struct assay_shape *shape)
{
    return shape->value[LINEAR_PRECISION] == GPT_FP32 ? PRODUCT_FP32 : PRODUCT_TENSOR;
}

struct operands {
    struct product_matrix x, w;
    struct product product;
};

static void operands_init(struct operands *operands, const struct assay_shape *shape,
                          const void *const in[])
{
    enum assay_type type = gpt_type(shape->value[LINEAR_PRECISION]);
    operands->x = (struct product_matrix){type, in[LINEAR_X], shape->value[LINEAR_K]};
    operands->w = (struct product_matrix){type, in[LINEAR_W], shape->value[LINEAR_K]};
    operands->product =
        product_of(&operands->x, shape->value[LINEAR_M], &operands->w, shape->value[LINEAR_N]);
}

static double bias_of(const struct assay_shape *shape, const void *const in[], int64_t column)
{
    if (!in[LINEAR_B]) return 0;
    return (double)gpt_load(in[LINEAR_B], shape->value[LINEAR_PRECISION], column);
}

/* The bound of an element: `sum` is with the bias, `product` without. */
static double error_bound(const struct assay_shape *shape, const void *const in[],
                          const struct product_sum *sum, double product)
{
    double bound = product_bound(unit_of(shape), (double)shape->value[LINEAR_K], sum);
    enum assay_type type = gpt_type(shape->value[LINEAR_PRECISION]);
    if (type == ASSAY_F32) return bound;
    if (in[LINEAR_B]) bound = product_rounded(type, product, bound);
    return product_rounded(type, sum->value, bound);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t n = shape->value[LINEAR_N];
    struct operands operands;
    operands_init(&operands, shape, in);
    for (int64_t at = begin; at < end; at++) {
        struct product_sum sum = {0};
        product_add_terms(&sum, &operands.product, at / n, at % n);
        double product = sum.value;
        product_add(&sum, bias_of(shape, in, at % n));
        expected[at - begin] = sum.value;
        bound[at - begin] = error_bound(shape, in, &sum, product);
    }
    return 0;
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return shape->value[LINEAR_N];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    const int64_t *value = shape->value;
    struct operands operands;
    double biases = 0, squares = 0;
    operands_init(&operands, shape, in);
    if (product_rows(&operands.product, sign, expected, bound)) return -1;
    for (int64_t j = 0; j < value[LINEAR_N]; j++) {
        double b = bias_of(shape, in, j);
        biases += sign[j] * b;
        squares += 2 * b * b;
    }
    static const double rounding[] = {
        [GPT_BF16] = PRODUCT_BF16_SIGMA, [GPT_FP16] = PRODUCT_FP16_SIGMA};
    double share = rounding[value[LINEAR_PRECISION]];
    if (in[LINEAR_B]) share *= M_SQRT2;
    for (int64_t i = 0; i < value[LINEAR_M]; i++) {
        expected[i] += biases;
        bound[i] =
            product_row_bound(unit_of(shape), (double)value[LINEAR_K], share, bound[i] + squares);
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[LINEAR_K];
}

static const char *const baselines[] = {"cublaslt", "cublas", "openblas", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "linear",
    .summary = "y = x w^T + b, row-major, x [m,k], w [n,k]",
    .dims = {[LINEAR_M] = {.name = "m",
                           .summary = "rows of x and y",
                           .fallback = 1024,
                           .min = 1,
                           .max = 1000000},
             [LINEAR_N] = {.name = "n",
                           .summary = "outputs: rows of w, columns of y",
                           .fallback = 768,
                           .min = 1,
                           .max = 1000000},
             [LINEAR_K] = {.name = "k",
                           .summary = "inputs: columns of x and w",
                           .fallback = 768,
                           .min = 1,
                           .max = 1000000},
             [LINEAR_PRECISION] = {.name = "type",
                                   .summary = "arithmetic, and with it the types",
                                   .choices = gpt_types},
             [LINEAR_WEIGHT] = {.name = "weight",
                                .summary = "whether the product reads w or a transposed copy",
                                .choices = weights,
                                .fallback = LINEAR_DIRECT},
             [LINEAR_BIAS] = {.name = "bias", .summary = "how b is added", .choices = biases}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .tolerance = {.near_share = 0.4},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
