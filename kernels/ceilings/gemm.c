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
 * Every input is representable in its type, so no operand is rounded and the
 * bound covers the sum and the output alone:
 *
 *   |C - exact| <= k u (|A| |B|^T)[i, j] + output's rounding
 *
 * with u = 2^-24 for fp32 (any order of summation; Jeannerod and Rump, "Improved
 * error bounds for inner products in floating-point arithmetic", SIAM J. Matrix
 * Anal. Appl. 34, 2013) and 2^-23 for tensor cores, whose accumulators truncate. int8 is exact: k
 * 128^2 stays below 2^31.
 */
#include <math.h>

#include "gemm.h"

enum { CHUNK = 256, INT8_MAX_K = 131071 };

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

/* Elements [first, first + count) of `base`, count at most CHUNK. */
static void load_chunk(enum assay_type type, const void *base, int64_t first, int count,
                       double out[CHUNK])
{
    switch (type) {
    case ASSAY_F32:
        for (int i = 0; i < count; i++)
            out[i] = ((const float *)base)[first + i];
        break;
    case ASSAY_I8:
        for (int i = 0; i < count; i++)
            out[i] = ((const int8_t *)base)[first + i];
        break;
    default:
        for (int i = 0; i < count; i++)
            out[i] = assay_load(type, base, first + i);
    }
}

/* One element of A B^T and of |A| |B|^T. */
static void dot(const struct assay_shape *shape, const void *const in[], int64_t row,
                int64_t column, double *sum, double *magnitude)
{
    enum assay_type type = gemm_elements(shape).in;
    int64_t k = shape->value[GEMM_K];
    double a[CHUNK], b[CHUNK];
    *sum = *magnitude = 0;
    for (int64_t first = 0; first < k; first += CHUNK) {
        int count = (int)(k - first < CHUNK ? k - first : CHUNK);
        load_chunk(type, in[GEMM_A], row * k + first, count, a);
        load_chunk(type, in[GEMM_B], column * k + first, count, b);
        for (int i = 0; i < count; i++) {
            *sum += a[i] * b[i];
            *magnitude += fabs(a[i] * b[i]);
        }
    }
}

static double error_bound(const struct assay_shape *shape, double sum, double magnitude)
{
    if (shape->value[GEMM_TYPE] == GEMM_INT8) return 0;
    double unit = shape->value[GEMM_TYPE] == GEMM_FP32 ? 0x1p-24 : 0x1p-23;
    double bound = (double)shape->value[GEMM_K] * unit * magnitude;
    double rounding = gemm_elements(shape).rounding;
    /* The output is rounded from a value that may already be off by `bound`;
     * below the smallest normal of fp16 the step is 2^-24. */
    bound += rounding * (fabs(sum) + bound);
    if (shape->value[GEMM_TYPE] == GEMM_FP16) bound += 0x1p-25;
    return bound;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t n = shape->value[GEMM_N];
    for (int64_t at = begin; at < end; at++) {
        double magnitude;
        dot(shape, in, at / n, at % n, &expected[at - begin], &magnitude);
        bound[at - begin] = error_bound(shape, expected[at - begin], magnitude);
    }
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
    (void)temperature;
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
    .baselines = baselines,
    .ceiling = ceiling,
};
ASSAY_REGISTER_OPERATION(gemm);
