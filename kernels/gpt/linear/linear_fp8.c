/*
 * linear_fp8.c - operation linear_fp8: y = x w^T of e4m3 with scales, x [m, k], w [n, k], y [m, n]
 * in bf16.
 *
 *   scale   tensor: one scale for x and one for w
 *           block:  x has one for each row and 128 columns (as fp8_quantize scale=1x128 writes
 *                   them), [m, groups]; w one for each 128 x 128, [blocks of rows, groups]
 *
 *   y[i, j] = sum over groups g of sx[i, g] sw[j / 128, g] sum over l in g of x[i, l] w[j, l]
 *
 * An operation of its own, not a type of `linear`: it has two buffers more, its output is not of
 * its inputs' type, and its groups of k are part of the definition. Both operands are e4m3, the
 * format of weights and activations; e5m2 is for gradients.
 *
 * Operations: 2 m n k in FP8. Bytes: x, w, scales and y once. A large product with one scale for
 * each operand measures the ceiling `fp8`, as those of `gemm` do for other arithmetics.
 *
 * Inputs: e4m3 over its whole range, evenly, and in w one in 64 a zero, the smallest number of
 * either kind or the largest. One row of x in eight has zeros, denormals and the smallest normal
 * numbers alone, beside which nothing hides a wrong one. Scales of blocks differ by up to 4, so
 * that the scale of another is a wrong answer.
 *
 * Bound. A product of two e4m3 is exact. Hopper's tensor cores add 32 of them and the sum so far at
 * once: they cut all off at 2^-13 of the largest (DeepSeek-AI, "DeepSeek-V3 Technical Report",
 * 3.5.2: "around 14 bits"; Zhang et al., "SageAttention2", the accumulator has 13 bits of
 * fraction). So sums must leave the tensor cores every 128 terms, and be added in fp32. In a group
 * with the sum of squares N^2 and the sum S, all with the scale, what is added is at most around
 * D = sqrt(N^2 + S^2). Were all 33 numbers of a step cut off, they would lose 6.6 2^-13 D in the
 * four steps of a group, as a standard deviation. But a product has 8 bits: it loses some only
 * where it is 2^6 times smaller than the largest. Emulated with these data, a group is off by
 * 0.4 2^-13 D; 2^-13 D is taken for the standard deviation, and groups are independent. The bound
 * is PRODUCT_SIGMAS of that, as in kernels/product.h, and never more than 2^-13 (count + 4)
 * sum |p|; and a rounding to bf16.
 *
 * An element that is not the nearest bf16 counts as NEAR. With sums of groups 6 in 100 are; where
 * sums stay in the tensor cores for all of k, a quarter at k = 4096, and some exceed the bound.
 *
 * Freivalds' check takes (m + n) k, with the same deviation of each element.
 */
#include <math.h>

#include "base/fill.h"
#include "kernels/product.h"
#include "linear_fp8.h"

static const char *const scales[] = {"tensor", "block", NULL};

/* The standard deviation of the sum of a group, as a share of D. */
static const double GROUP_SIGMA = 0x1p-13;

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const float hard[] = {0.0f, 0x1p-9f, -0x1p-9f, 0x1p-6f, 448.0f, -448.0f};
    const struct assay_fill codes = {ASSAY_FILL_UNIFORM, -448, 448, hard, 6, 64, 0};
    const struct assay_fill factor = {.kind = ASSAY_FILL_UNIFORM, .a = 0x1p-9, .b = 0x1p-7};
    int64_t m = shape->value[LFP8_M], n = shape->value[LFP8_N], k = shape->value[LFP8_K];
    bool by_block = shape->value[LFP8_SCALE] == LFP8_BLOCK;
    int64_t groups = lfp8_groups(k);
    out[LFP8_X] =
        (struct assay_buffer){"x", ASSAY_IN, ASSAY_E4M3, m * k, {.kind = ASSAY_FILL_CUSTOM}};
    out[LFP8_W] = (struct assay_buffer){"w", ASSAY_IN, ASSAY_E4M3, n * k, codes, true};
    out[LFP8_X_SCALES] =
        (struct assay_buffer){"x_scales", ASSAY_IN, ASSAY_F32, by_block ? m * groups : 1, factor};
    out[LFP8_W_SCALES] = (struct assay_buffer){
        "w_scales", ASSAY_IN, ASSAY_F32, by_block ? lfp8_groups(n) * groups : 1, factor, true};
    out[LFP8_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_BF16, .count = m * n};
    return 5;
}

/* Only of x. */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    enum { SMALL_EVERY = 8, SMALL_ROW = 5, SMALL_CODES = 16 };
    const struct assay_fill even = {.kind = ASSAY_FILL_UNIFORM, .a = -448, .b = 448};
    int64_t k = shape->value[LFP8_K];
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < shape->value[LFP8_M]; row++)
        for (int64_t at = row * k; at < (row + 1) * k; at++) {
            uint64_t bits = fill_hash(seed, (uint64_t)at);
            if (row % SMALL_EVERY == SMALL_ROW)
                ((uint8_t *)host)[at] = (uint8_t)(bits % SMALL_CODES | (bits >> 32 & 0x80));
            else
                assay_store(ASSAY_E4M3, host, at, fill_value(&even, NULL, seed, at));
        }
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double m = (double)shape->value[LFP8_M], n = (double)shape->value[LFP8_N];
    double k = (double)shape->value[LFP8_K];
    struct assay_buffer all[ASSAY_MAX_BUFFERS];
    buffers(shape, all);
    return (struct assay_work){
        .read_bytes =
            (m + n) * k + 4.0 * (double)(all[LFP8_X_SCALES].count + all[LFP8_W_SCALES].count),
        .write_bytes = 2 * m * n,
    };
}

static double fp8_ops(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return 2.0 * (double)value[LFP8_M] * (double)value[LFP8_N] * (double)value[LFP8_K];
}

/* Small products leave the device partly idle, and scales of blocks are work beside the products,
 * so their rates are not its limit. */
static const char *ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    enum { LARGE = 2048 };
    if (shape->value[LFP8_SCALE] != LFP8_TENSOR) return NULL;
    for (int dim = LFP8_M; dim <= LFP8_K; dim++)
        if (shape->value[dim] < LARGE) return NULL;
    return "fp8";
}

/* -------------------------------------------------------------- reference -- */

/* The sum of one group with its scale. */
static struct product_sum group_sum(const struct assay_shape *shape, const void *const in[],
                                    int64_t i, int64_t j, int64_t group)
{
    int64_t k = shape->value[LFP8_K], first = group * LFP8_GROUP;
    int64_t end = first + LFP8_GROUP < k ? first + LFP8_GROUP : k;
    double scale = (double)((const float *)in[LFP8_X_SCALES])[lfp8_x_scale(shape, i, group)] *
                   (double)((const float *)in[LFP8_W_SCALES])[lfp8_w_scale(shape, j, group)];
    struct product_sum sum = {0};
    for (int64_t l = first; l < end; l++)
        product_add(&sum, assay_load(ASSAY_E4M3, in[LFP8_X], i * k + l) *
                              assay_load(ASSAY_E4M3, in[LFP8_W], j * k + l) * scale);
    return sum;
}

/* What an element may be off by before it is rounded, given its variance and the most that all of
 * its groups may lose; fp32 adds next to nothing. */
static double sum_bound(const struct assay_shape *shape, double variance, double most,
                        const struct product_sum *sum)
{
    double bound = fmin(most, PRODUCT_SIGMAS * sqrt(variance));
    return bound + product_bound(PRODUCT_FP32, (double)shape->value[LFP8_K] + 3, sum);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t n = shape->value[LFP8_N], groups = lfp8_groups(shape->value[LFP8_K]);
    for (int64_t at = begin; at < end; at++) {
        struct product_sum all = {0};
        double variance = 0, most = 0;
        for (int64_t g = 0; g < groups; g++) {
            struct product_sum sum = group_sum(shape, in, at / n, at % n, g);
            int64_t left = shape->value[LFP8_K] - g * LFP8_GROUP;
            double count = (double)(left < LFP8_GROUP ? left : LFP8_GROUP);
            variance += GROUP_SIGMA * GROUP_SIGMA * (sum.squares + sum.value * sum.value);
            most += 0x1p-13 * (count + 4) * sum.magnitude;
            all.value += sum.value;
            all.magnitude += sum.magnitude;
            all.squares += sum.squares;
        }
        expected[at - begin] = all.value;
        bound[at - begin] =
            product_rounded(ASSAY_BF16, all.value, sum_bound(shape, variance, most, &all));
    }
    return 0;
}

/* ------------------------------------------------------- Freivalds' check -- */

/* x or w with its scales. */
struct scaled {
    const struct assay_shape *shape;
    const void *codes;
    const float *scales;
    int64_t (*scale_at)(const struct assay_shape *shape, int64_t row, int64_t group);
};

static void load_scaled(const void *matrix, int64_t row, int64_t first, int count, double *out)
{
    const struct scaled *of = matrix;
    int64_t at = row * of->shape->value[LFP8_K] + first;
    for (int i = 0; i < count; i++)
        out[i] = assay_load(ASSAY_E4M3, of->codes, at + i) *
                 (double)of->scales[of->scale_at(of->shape, row, (first + i) / LFP8_GROUP)];
}

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    return shape->value[LFP8_N];
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    const struct scaled x = {shape, in[LFP8_X], in[LFP8_X_SCALES], lfp8_x_scale};
    const struct scaled w = {shape, in[LFP8_W], in[LFP8_W_SCALES], lfp8_w_scale};
    const struct product product = {shape->value[LFP8_M],
                                    shape->value[LFP8_N],
                                    shape->value[LFP8_K],
                                    load_scaled,
                                    load_scaled,
                                    &x,
                                    &w};
    if (product_rows(&product, sign, expected, bound)) return -1;
    for (int64_t i = 0; i < product.rows; i++)
        bound[i] = PRODUCT_SIGMAS * hypot(GROUP_SIGMA, PRODUCT_BF16_SIGMA) * sqrt(bound[i]);
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[LFP8_K];
}

static const char *const baselines[] = {"cublaslt", "host_scalar", NULL};

#define SIZE(dim, text, usual)                                                                     \
    {                                                                                              \
        .name = dim, .summary = text, .fallback = usual, .min = 1, .max = 1000000                  \
    }

static const struct assay_operation operation = {
    .name = "linear_fp8",
    .summary = "y = x w^T of e4m3 with scales, x [m,k], w [n,k], y in bf16",
    .dims = {[LFP8_M] = SIZE("m", "rows of x and y", 1024),
             [LFP8_N] = SIZE("n", "outputs: rows of w, columns of y", 4096),
             [LFP8_K] = SIZE("k", "inputs: columns of x and w", 4096),
             [LFP8_SCALE] = {.name = "scale",
                             .summary = "one for x and one for w; or 1 x 128 of x, 128 x 128 of w",
                             .choices = scales}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .product_columns = product_columns,
    .product_check = product_check,
    .tolerance = {.near_share = 0.2},
    .baselines = baselines,
    .ceiling = ceiling,
    .fp8_ops = fp8_ops,
};
ASSAY_REGISTER_OPERATION(operation);
