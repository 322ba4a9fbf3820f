/*
 * mlp.c - operation mlp: y = gelu(x w1^T + b1) w2^T + b2, x and y [m, c], w1 [4c, c], w2 [c, 4c].
 * h is what lies between the two products, [m, 4c].
 *
 * Operations: 16 m c^2, and 9 for each of the 4 m c values of h. Bytes: x, y, weights and biases
 * once; a variant that writes h to memory moves 8 (bf16: 4) times 4 m c more.
 *
 * How far may a right answer be off? Every sum by what kernels/product.h says of one, as a standard
 * deviation; tf32 adds its operands, rounded or cut off. h' is the value before gelu, and its error
 * reaches h times gelu's slope. bf16 rounds h' (where it is written) and h, each evenly within half
 * a unit. gelu itself may be off by GELU_SHARE of |h'|: tanhf is good to a few u, but the epilogue
 * of cuBLASLt is not in fp32 (with c = 1 its answers are off by some 6e-6 on an H100, with c = 4 by
 * 7e-6), and its users take that. The GELU by erf, another function, differs by up to 2^-11.
 *
 * Errors of h times w2 add up as independent ones do, since the weights have either sign:
 * PRODUCT_SIGMAS times the root of their squares' sum, together with those of the second product.
 * What is cut off towards zero in tf32 is no chance: it shifts h' by a share of itself, and y by
 * that share of sum_j w2 slope h'.
 *
 * bf16 rounds the output too, and where rows are not aligned (c is no multiple of 8) some of
 * cuBLASLt's epilogues round the product before the bias is added. These roundings are independent
 * of the others. A hidden unit of 3072 that is left out, or an output that is cut off, stays within
 * such bounds, but errors are then 1.4 times as large all over: the root mean square of them is
 * judged.
 *
 * There is no Freivalds' check: what the second product is of must be computed first, and that is
 * half of the operation.
 */
#include <stdlib.h>

#include "kernels/gpt/gpt.h"
#include "kernels/product.h"

/* The most that an evaluation of gelu(h') may be off by, as a share of |h'|. */
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

/* A value between the products, and what its error does to it. */
struct hidden {
    double value;
    double sigma; /* standard deviation */
    double shift; /* by how much of PRODUCT_TF32_BIAS it moves */
};

static double slope_of_gelu(double x)
{
    const double scale = 0.79788456080286535588, cube = 0.044715; /* sqrt(2 / pi) */
    double t = tanh(scale * (x + cube * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * cube * x * x);
}

/* The standard deviation of a sum of `terms` products and a bias; `squares` are of the products. */
static double sum_sigma(const struct product_sum *sum, double squares, int64_t precision,
                        double terms)
{
    enum product_unit unit = precision == GPT_FP32 ? PRODUCT_FP32 : PRODUCT_TENSOR;
    double d2 = sum->squares + sum->value * sum->value;
    double operands = precision == GPT_TF32 ? PRODUCT_TF32_SIGMA * sqrt(squares) : 0;
    return hypot(product_sigma(unit, terms, d2), operands);
}

/* What storing a value rounds; 0 in fp32, where sums count it. */
static double rounding_sigma(int64_t precision, double value)
{
    enum assay_type type = gpt_type(precision);
    return type == ASSAY_F32 ? 0 : product_half_ulp(type, value) / sqrt(3);
}

/* From the sum h', with its bias, to h. */
static struct hidden activate(const struct product_sum *sum, double squares, int64_t precision,
                              double terms)
{
    struct hidden h = {.value = gpt_gelu(sum->value)};
    double slope = slope_of_gelu(sum->value);
    double before = sum_sigma(sum, squares, precision, terms);
    before = hypot(before, rounding_sigma(precision, sum->value));
    h.sigma = hypot(slope * before, GELU_SHARE / 2 * fabs(sum->value));
    h.sigma = hypot(h.sigma, rounding_sigma(precision, h.value));
    h.shift = slope * sum->value;
    return h;
}

/* One row of h. */
static void expand(const struct assay_shape *shape, const void *const in[], int64_t row,
                   struct hidden *h)
{
    int64_t c = shape->value[MLP_C], precision = shape->value[MLP_PRECISION];
    for (int64_t j = 0; j < 4 * c; j++) {
        struct product_sum sum = {0};
        for (int64_t i = 0; i < c; i++)
            product_add(&sum, (double)gpt_load(in[MLP_X], precision, row * c + i) *
                                  (double)gpt_load(in[MLP_W1], precision, j * c + i));
        double squares = sum.squares;
        product_add(&sum, (double)gpt_load(in[MLP_B1], precision, j));
        h[j] = activate(&sum, squares, precision, (double)c);
    }
}

static void contract(const struct assay_shape *shape, const void *const in[],
                     const struct hidden *h, int64_t column, double *expected, double *bound)
{
    int64_t c = shape->value[MLP_C], precision = shape->value[MLP_PRECISION];
    struct product_sum sum = {0};
    double carried = 0, shift = 0;
    for (int64_t j = 0; j < 4 * c; j++) {
        double w = (double)gpt_load(in[MLP_W2], precision, column * 4 * c + j);
        product_add(&sum, h[j].value * w);
        carried += h[j].sigma * w * h[j].sigma * w;
        shift += h[j].shift * w;
    }
    double product = sum.value, squares = sum.squares;
    product_add(&sum, (double)gpt_load(in[MLP_B2], precision, column));
    double sigma = sum_sigma(&sum, squares, precision, 4 * (double)c);
    sigma = hypot(sigma, rounding_sigma(precision, sum.value));
    if (c % 8) sigma = hypot(sigma, rounding_sigma(precision, product));
    *expected = sum.value;
    *bound = PRODUCT_SIGMAS * hypot(sigma, sqrt(carried));
    if (precision == GPT_TF32) *bound += PRODUCT_TF32_BIAS * (fabs(shift) + fabs(product));
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t c = shape->value[MLP_C], row = -1;
    struct hidden *h = malloc(4 * (size_t)c * sizeof *h);
    if (!h) return assay_error("no memory for a row between the products");
    for (int64_t at = begin; at < end; at++) {
        if (at / c != row) expand(shape, in, row = at / c, h);
        contract(shape, in, h, at % c, &expected[at - begin], &bound[at - begin]);
    }
    free(h);
    return 0;
}

/* A row's 4 c^2 multiply-adds are shared by its c elements, which take 4 c more each. */
static double reference_cost(const struct assay_shape *shape)
{
    return 8 * (double)shape->value[MLP_C];
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[MLP_C];
}

/* In fp32 and tf32 single elements tell enough. */
static double rms(const struct assay_shape *shape)
{
    return gpt_bytes(shape->value[MLP_PRECISION]) == 2 ? 1.15 / PRODUCT_SIGMAS : 0;
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
                                .choices = gpt_types}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .rms = rms,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
