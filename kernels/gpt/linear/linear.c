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
 *
 * The bias is larger (16, or 2^24 for tf32): one that is forgotten must not hide in the
 * bound. Inputs are representable, so the bound covers the sum and the output alone:
 * |y - exact| <= (k + 1) u (|x| |w|^T + |b|), u = 2^-24 for fp32 and 2^-23 for tensor
 * cores, which truncate where they align terms; for bf16 a rounding of the output
 * more, and one of the product where a bias is added: to what was written where it is
 * separate, and in some of cuBLASLt's epilogues too (seen on an H200 at n = 257).
 */
#include "kernels/gpt/gpt.h"

static const char *const weights[] = {"transposed_per_call", "transposed_cached", "direct", NULL};
static const char *const biases[] = {"none", "separate", "fused", NULL};

enum { CHUNK = 256 };

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
    out[LINEAR_W].constant = true; /* a cached weight is transposed once, in setup */
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

static void load_chunk(const void *base, int64_t precision, int64_t first, int count,
                       double out[CHUNK])
{
    for (int i = 0; i < count; i++)
        out[i] = (double)gpt_load(base, precision, first + i);
}

static void dot(const struct assay_shape *shape, const void *const in[], int64_t row,
                int64_t column, double *sum, double *magnitude)
{
    int64_t k = shape->value[LINEAR_K], precision = shape->value[LINEAR_PRECISION];
    double x[CHUNK], w[CHUNK];
    *sum = *magnitude = 0;
    for (int64_t first = 0; first < k; first += CHUNK) {
        int count = (int)(k - first < CHUNK ? k - first : CHUNK);
        load_chunk(in[LINEAR_X], precision, row * k + first, count, x);
        load_chunk(in[LINEAR_W], precision, column * k + first, count, w);
        for (int i = 0; i < count; i++) {
            *sum += x[i] * w[i];
            *magnitude += fabs(x[i] * w[i]);
        }
    }
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t n = shape->value[LINEAR_N], precision = shape->value[LINEAR_PRECISION];
    double unit = precision == GPT_FP32 ? GPT_UNIT_FP32 : GPT_UNIT_TENSOR;
    for (int64_t at = begin; at < end; at++) {
        double product, magnitude;
        dot(shape, in, at / n, at % n, &product, &magnitude);
        double b = in[LINEAR_B] ? (double)gpt_load(in[LINEAR_B], precision, at % n) : 0;
        double error = ((double)shape->value[LINEAR_K] + 1) * unit * (magnitude + fabs(b));
        if (precision == GPT_BF16) {
            if (in[LINEAR_B]) error += GPT_UNIT_BF16 * (fabs(product) + error);
            error += GPT_UNIT_BF16 * (fabs(product + b) + error);
        }
        expected[at - begin] = product + b;
        bound[at - begin] = error;
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
                                   .choices = gpt_precisions},
             [LINEAR_WEIGHT] = {.name = "weight",
                                .summary = "whether the product reads w or a transposed copy",
                                .choices = weights,
                                .fallback = LINEAR_DIRECT},
             [LINEAR_BIAS] = {.name = "bias", .summary = "how b is added", .choices = biases}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
