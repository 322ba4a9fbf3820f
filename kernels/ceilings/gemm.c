/*
 * gemm.c - operation `gemm`: C = A B^T, row-major A [m, k], B [n, k], C [m, n].
 *
 *   C[i, j] = sum over l of A[i, l] B[j, l]
 *
 * Operations: 2 m n k in the arithmetic of the type. Bytes: (m k + n k) input elements read, m n
 * output elements written.
 *
 *   type   inputs                    sum       output
 *   fp32   uniform in [-1, 1)        fp32      fp32
 *   tf32   whole, -1024 to 1024      fp32      fp32    (exact in tf32's 11 bits)
 *   bf16   uniform, rounded to bf16  fp32      bf16
 *   fp16   uniform, rounded to fp16  fp32      fp16
 *   int8   whole, -128 to 127        int32     int32
 *
 * Every input is representable in its type, so no operand is rounded and the bound covers the sum
 * and the output alone: that of kernels/product.h, and a rounding of the output to 16 bits. A
 * 16-bit output counts as NEAR where it is not the nearest: a few in a hundred are, and half of
 * those that are cut off. int8 is exact: k 128^2 stays below 2^31.
 *
 * Freivalds' check takes (m + n) k; a row's sum is off by PRODUCT_SIGMAS times the root of the sum
 * of its elements' squared errors.
 */
#include "gemm.h"
#include "kernels/product.h"

enum { INT8_MAX_K = 131071 };

static const char *const types[] = {"fp32", "tf32", "bf16", "fp16", "int8", NULL};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[GEMM_TYPE] == GEMM_INT8 && shape->value[GEMM_K] > INT8_MAX_K)
        return "k above 131071 can overflow the int32 sum";
    return NULL;
}

static struct assay_fill input_fill(const struct assay_shape *shape)
{
    switch (shape->value[GEMM_TYPE]) {
    case GEMM_TF32:
        return (struct assay_fill){.kind = ASSAY_FILL_INTEGER, .a = -1024, .b = 1024};
    case GEMM_INT8:
        return (struct assay_fill){.kind = ASSAY_FILL_INTEGER, .a = -128, .b = 127};
    default:
        return (struct assay_fill){.kind = ASSAY_FILL_UNIFORM, .a = -1, .b = 1};
    }
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t m = shape->value[GEMM_M], n = shape->value[GEMM_N], k = shape->value[GEMM_K];
    struct gemm_elements elements = gemm_elements(shape);
    struct assay_fill fill = input_fill(shape);
    out[GEMM_A] = (struct assay_buffer){"a", ASSAY_IN, elements.in, m * k, fill};
    out[GEMM_B] = (struct assay_buffer){"b", ASSAY_IN, elements.in, n * k, fill};
    out[GEMM_C] =
        (struct assay_buffer){.name = "c", .role = ASSAY_OUT, .type = elements.out, .count = m * n};
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double m = (double)shape->value[GEMM_M], n = (double)shape->value[GEMM_N];
    double k = (double)shape->value[GEMM_K];
    struct gemm_elements elements = gemm_elements(shape);
    struct assay_work work = {
        .read_bytes = (m + n) * k * (double)assay_type_bytes(elements.in),
        .write_bytes = m * n * (double)assay_type_bytes(elements.out),
    };
    work.ops[elements.arithmetic] = 2 * m * n * k;
    return work;
}

static enum product_unit unit_of(const struct assay_shape *shape)
{
    return shape->value[GEMM_TYPE] == GEMM_FP32 ? PRODUCT_FP32 : PRODUCT_TENSOR;
}

struct operands {
    struct product_matrix a, b;
    struct product product;
};

static void operands_init(struct operands *operands, const struct assay_shape *shape,
                          const void *const in[])
{
    enum assay_type type = gemm_elements(shape).in;
    operands->a = (struct product_matrix){type, in[GEMM_A], shape->value[GEMM_K]};
    operands->b = (struct product_matrix){type, in[GEMM_B], shape->value[GEMM_K]};
    operands->product =
        product_of(&operands->a, shape->value[GEMM_M], &operands->b, shape->value[GEMM_N]);
}

static double error_bound(const struct assay_shape *shape, const struct product_sum *sum)
{
    enum assay_type out = gemm_elements(shape).out;
    if (out == ASSAY_I32) return 0;
    double bound = product_bound(unit_of(shape), (double)shape->value[GEMM_K], sum);
    return out == ASSAY_F32 ? bound : product_rounded(out, sum->value, bound);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t n = shape->value[GEMM_N];
    struct operands operands;
    operands_init(&operands, shape, in);
    for (int64_t at = begin; at < end; at++) {
        struct product_sum sum = {0};
        product_add_terms(&sum, &operands.product, at / n, at % n);
        expected[at - begin] = sum.value;
        bound[at - begin] = error_bound(shape, &sum);
    }
    return 0;
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return shape->value[GEMM_N];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    const int64_t *value = shape->value;
    struct gemm_elements elements = gemm_elements(shape);
    struct operands operands;
    operands_init(&operands, shape, in);
    if (product_rows(&operands.product, sign, expected, bound)) return -1;
    for (int64_t i = 0; i < value[GEMM_M]; i++)
        bound[i] = elements.out == ASSAY_I32
                       ? 0
                       : product_row_bound(unit_of(shape), (double)value[GEMM_K], elements.rounding,
                                           bound[i]);
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[GEMM_K];
}

/* Small products leave the device partly idle, so their rate is not its limit. */
static const char *ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    enum { LARGE = 2048 };
    for (int dim = GEMM_M; dim <= GEMM_K; dim++)
        if (shape->value[dim] < LARGE) return NULL;
    return types[shape->value[GEMM_TYPE]];
}

static const char *const baselines[] = {"cublaslt", "cublas_gemmex", "openblas", "blocked", NULL};

static const struct assay_operation gemm = {
    .name = "gemm",
    .summary = "matrix product C = A B^T, row-major, A [m,k], B [n,k]",
    .dims =
        {{.name = "m", .summary = "rows of A and C", .fallback = 4096, .max = 1 << 20, .min = 1},
         {.name = "n",
          .summary = "rows of B, columns of C",
          .fallback = 4096,
          .max = 1 << 20,
          .min = 1},
         {.name = "k", .summary = "columns of A and B", .fallback = 4096, .max = 1 << 20, .min = 1},
         {.name = "type",
          .summary = "arithmetic, and with it the types of inputs and output",
          .choices = types,
          .fallback = GEMM_FP32}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .tolerance = {.near_share = 0.25},
    .baselines = baselines,
    .ceiling = ceiling,
};
ASSAY_REGISTER_OPERATION(gemm);
