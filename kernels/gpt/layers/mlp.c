/*
 * mlp.c - operation mlp: y = gelu(x w1^T + b1) w2^T + b2, x and y [m, c], w1 [4c, c], w2 [c, 4c]. h
 * is the hidden layer between the two products, [m, 4c].
 *
 * Operations: 16 m c^2, and 9 for each of the 4 m c values of h. Bytes: x, y, weights and biases
 * once; a variant that writes h to memory moves 8 (bf16: 4) more for each of its values.
 *
 * The bound, with u = 2^-24. The fp32 sum of n products is off by (n + 1) u times the sum of their
 * magnitudes. tf32 truncates both operands, by e = 2 * 2^-10 per product. Truncation is towards
 * zero, which is a share e of the sum. What remains has either sign, and by Hoeffding's inequality
 * the sum of n such errors is below 6 times the root of the sum of their squared bounds (except in
 * one case in 10^7).
 *
 * h' is the value before gelu. An error of h' reaches h multiplied by 1.13 at most, gelu's steepest
 * slope; bf16 rounds both h' and h by 2^-8. The evaluation of gelu adds GELU_SHARE of |h'|: tanhf
 * is good to a few u, but the epilogue of cuBLASLt is not in fp32 (with c = 1 its answers are off
 * by about 6e-6 on an H100), and users of that library accept this. The gelu that uses erf is
 * another function and differs by up to 2^-11.
 *
 * y is then off by the sum of h's errors times w2 (Hoeffding's inequality again), by the error of
 * the second product, and in bf16 by the rounding of the output.
 */
#include <stdlib.h>

#include "kernels/gpt/gpt.h"

/* The largest error allowed in the evaluation of gelu(h'), as a share of |h'|. */
static const double GELU_SHARE = 0x1p-16;

static struct assay_fill uniform(double end)
{
    return (struct assay_fill){.kind = ASSAY_FILL_UNIFORM, .a = -end, .b = end};
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t m = shape->value[MLP_M], c = shape->value[MLP_C];
    enum assay_type type = gpt_type(shape->value[MLP_PRECISION]);
    /* Weights that keep the variance at 1, as at the start of training. */
    double end = sqrt(3.0 / (double)c);
    struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    out[MLP_X] = (struct assay_buffer){"x", ASSAY_IN, type, m * c, normal};
    out[MLP_W1] = (struct assay_buffer){"w1", ASSAY_IN, type, 4 * c * c, uniform(end)};
    out[MLP_B1] = (struct assay_buffer){"b1", ASSAY_IN, type, 4 * c, uniform(1)};
    out[MLP_W2] = (struct assay_buffer){"w2", ASSAY_IN, type, 4 * c * c, uniform(end)};
    out[MLP_B2] = (struct assay_buffer){"b2", ASSAY_IN, type, c, uniform(4)};
    out[MLP_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = type, .count = m * c};
    return 6;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double m = (double)shape->value[MLP_M], c = (double)shape->value[MLP_C];
    int64_t precision = shape->value[MLP_PRECISION];
    double bytes = (double)gpt_bytes(precision);
    struct assay_work work = {.read_bytes = bytes * (m * c + 8 * c * c + 5 * c),
                              .write_bytes = bytes * m * c};
    work.ops[gpt_arithmetic(precision)] = 16 * m * c * c;
    work.ops[ASSAY_FP32] += 36 * m * c;
    return work;
}

/* A sum of products, and the sums of their magnitudes and squares, for its error. */
struct sum {
    double value, magnitude, squares;
};

static void sum_add(struct sum *sum, double product)
{
    sum->value += product;
    sum->magnitude += fabs(product);
    sum->squares += product * product;
}

/* The error of a sum of `terms` products at a precision. */
static double sum_error(const struct sum *sum, int64_t precision, double terms)
{
    double unit = precision == GPT_FP32 ? GPT_UNIT_FP32 : GPT_UNIT_TENSOR;
    double error = (terms + 1) * unit * sum->magnitude;
    if (precision == GPT_TF32)
        error += 2 * GPT_UNIT_TF32 * (fabs(sum->value) + 6 * sqrt(sum->squares));
    return error;
}

/* h and its error, for one row. */
static void expand(const struct assay_shape *shape, const void *const in[], int64_t row, double *h,
                   double *error)
{
    int64_t c = shape->value[MLP_C], precision = shape->value[MLP_PRECISION];
    for (int64_t j = 0; j < 4 * c; j++) {
        struct sum sum = {0};
        sum_add(&sum, (double)gpt_load(in[MLP_B1], precision, j));
        for (int64_t i = 0; i < c; i++)
            sum_add(&sum, (double)gpt_load(in[MLP_X], precision, row * c + i) *
                              (double)gpt_load(in[MLP_W1], precision, j * c + i));
        h[j] = gpt_gelu(sum.value);
        error[j] = 1.13 * sum_error(&sum, precision, (double)c) + GELU_SHARE * fabs(sum.value) +
                   4 * GPT_UNIT_FP32 * fabs(h[j]);
        if (precision == GPT_BF16)
            error[j] += GPT_UNIT_BF16 * (1.13 * fabs(sum.value) + fabs(h[j]) + error[j]);
    }
}

static void contract(const struct assay_shape *shape, const void *const in[], const double *h,
                     const double *error, int64_t column, double *expected, double *bound)
{
    int64_t c = shape->value[MLP_C], precision = shape->value[MLP_PRECISION];
    struct sum sum = {0}, carried = {0};
    sum_add(&sum, (double)gpt_load(in[MLP_B2], precision, column));
    for (int64_t j = 0; j < 4 * c; j++) {
        double w = (double)gpt_load(in[MLP_W2], precision, column * 4 * c + j);
        sum_add(&sum, h[j] * w);
        sum_add(&carried, error[j] * w);
    }
    /* The part of h's errors that is towards zero is a share of the answer. */
    double towards_zero = precision == GPT_TF32 ? 2 * GPT_UNIT_TF32 * 1.13 * fabs(sum.value) : 0;
    *expected = sum.value;
    *bound = fmin(carried.magnitude, 6 * sqrt(carried.squares) + towards_zero) +
             sum_error(&sum, precision, 4 * (double)c);
    if (precision == GPT_BF16) *bound += GPT_UNIT_BF16 * (fabs(sum.value) + *bound);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer;
    int64_t c = shape->value[MLP_C], row = -1;
    double *h = malloc(8 * (size_t)c * sizeof *h);
    if (!h) return assay_error("no memory for a row between the products");
    for (int64_t at = begin; at < end; at++) {
        if (at / c != row) expand(shape, in, row = at / c, h, h + 4 * c);
        contract(shape, in, h, h + 4 * c, at % c, &expected[at - begin], &bound[at - begin]);
    }
    free(h);
    return 0;
}

/* Per element: 4 c multiply-adds of its own, and a c-th of the 4 c^2 that compute the row of h. */
static double reference_cost(const struct assay_shape *shape)
{
    return 8 * (double)shape->value[MLP_C];
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[MLP_C];
}

static const char *const baselines[] = {"cublaslt", "linear_gelu_linear", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "mlp",
    .summary = "y = gelu(x w1^T + b1) w2^T + b2, w1 [4c,c], w2 [c,4c]",
    .dims = {[MLP_M] = {.name = "m",
                        .summary = "rows (batch times tokens)",
                        .fallback = 1024,
                        .min = 1,
                        .max = 1000000},
             [MLP_C] = {.name = "c",
                        .summary = "channels; four times as many inside",
                        .fallback = 256,
                        .min = 1,
                        .max = 1 << 15},
             [MLP_PRECISION] = {.name = "type",
                                .summary = "arithmetic, and with it the types",
                                .choices = gpt_precisions}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
