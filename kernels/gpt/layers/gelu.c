/*
 * gelu.c - operation gelu: y = x / 2 (1 + t), t = tanh(z), z = sqrt(2 / pi) (x + 0.044715 x^3).
 *
 * Bytes per element: 4 read, 4 written. Operations: 8 and one tanh, counted as 9. Limited by
 * memory.
 *
 * How far may a right answer be off? The argument z carries 4 roundings, so
 * tanh is off by 4 u z (1 - t^2) < 2 u, and its own error is 2 units in the last
 * place, 4 u; adding 1 rounds by 2 u. That is 8 u |x| / 2, and u |y| for the product.
 * Where t is near -1 the error is all there is of y, so the bound is absolute in
 * |x|. As x / (1 + e), e = exp(-2 z): the division is off by 4 u (2 units), the sum by u
 * and e by (4 + 5 |2 z|) u, of which e / (1 + e) reaches y: 8 u |y| at most for
 * x > 0, and 4 u |x| below. Both formulas stay within 4 u (|x| + |y|); twice that
 * is allowed. By the error function y is off by hundreds of times as much.
 */
#include <float.h>

#include "kernels/gpt/gpt.h"

/* Values where 1 + t is 0 or 2, values where x^3 overflows, and denormals. */
static const float hard[] = {0.0f,    -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN, -FLT_MIN, 1e-20f,
                             -1e-20f, 5.0f,  -5.0f,        9.0f,          -9.0f,   88.0f,    -88.0f,
                             1e6f,    -1e6f, 1e13f,        -1e13f,        FLT_MAX, -FLT_MAX};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t n = shape->value[GELU_N];
    out[GELU_X] = (struct assay_buffer){.name = "x",
                                        .role = ASSAY_IN,
                                        .type = ASSAY_F32,
                                        .count = n,
                                        .fill = {.kind = ASSAY_FILL_NORMAL,
                                                 .a = 0,
                                                 .b = 2,
                                                 .hard = hard,
                                                 .hard_count = sizeof hard / sizeof *hard,
                                                 .hard_every = 16,
                                                 .hard_until = 4096}};
    out[GELU_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[GELU_N];
    return (struct assay_work){
        .read_bytes = 4 * n, .write_bytes = 4 * n, .ops = {[ASSAY_FP32] = 9 * n}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *x = in[GELU_X];
    for (int64_t i = begin; i < end; i++) {
        double y = gpt_gelu((double)x[i]);
        expected[i - begin] = y;
        bound[i - begin] =
            8 * GPT_UNIT_FP32 * (fabs((double)x[i]) + fabs(y)) + 2 * (double)FLT_TRUE_MIN;
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 16;
}

static const char *const baselines[] = {"scalar", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "gelu",
    .summary = "y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))",
    .dims = {[GELU_N] = {.name = "n",
                         .summary = "elements",
                         .fallback = 1024 * 3072,
                         .min = 1,
                         .max = (int64_t)1 << 36}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
