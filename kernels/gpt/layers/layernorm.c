/*
 * layernorm.c - operation layernorm: normalise each row to mean 0 and variance 1, then scale and
 * shift each column.
 *
 *   s = x, or s = x + r in fp32, which is then a second output (the next residual connection needs
 *   it)
 *   y = (s - mean) / sqrt(variance + 1e-5) w + b
 *
 * The variance is divided by `columns`, not by columns - 1.
 *
 * Bytes per element: 4 read and 4 written; 8 and 8 with a residual; 8 for w and b of each column.
 * Operations per element: 8, and the addition of r.
 *
 * data=shifted has mean 1000 and standard deviation 1. There E[x^2] - mean^2 is the difference of
 * two numbers near 10^6, each with an error of about 0.03, so the variance, 1, is wrong by several
 * per cent: variants that compute it in this way are reported as wrong.
 *
 * The first QUIET_ROWS rows (an eighth, of fewer than 64) have a variance near epsilon, r's part of
 * the sum too. Beside a variance of 1 another epsilon, or one outside of the root, moves y by less
 * than rounding; there it moves y by a third.
 *
 * How far may a right answer be off? A sum of C fp32 terms, in any order, is off by
 * at most 4 sqrt(C) u sum |x| with overwhelming probability (Higham and Mary, "A new
 * approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019,
 * theorem 2.4; the certain bound has C for sqrt(C), and would pass anything).
 * So the mean is off by D = (4 sqrt(C) mean |x| + |mean|) u, which moves
 * the variance by D^2, and 1 / sqrt by the relative error R = (4 sqrt(C) u + 3 u
 * + D^2 / variance) / 2 + 4 u (rsqrtf: 2 units in the last place).
 */
#include "kernels/gpt/gpt.h"

static const char *const data[] = {"plain", "shifted", NULL};
static const char *const residuals[] = {"none", "add", NULL};

enum { QUIET_ROWS = 8 };

/* A variance of 7e-6; x + r has twice that. */
static const float quiet[] = {1e-3f, -1e-3f, 2e-3f, -2e-3f, 4e-3f, -4e-3f};

/* Normal, behind the quiet rows. */
static struct assay_fill rows_about(const struct assay_shape *shape, double mean)
{
    int64_t rows = shape->value[LAYERNORM_ROWS] / 8;
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = mean, .b = 1};
    if (rows == 0) return fill;
    fill.hard = quiet;
    fill.hard_count = sizeof quiet / sizeof *quiet;
    fill.hard_every = 1;
    fill.hard_until = (rows < QUIET_ROWS ? rows : QUIET_ROWS) * shape->value[LAYERNORM_COLUMNS];
    return fill;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t columns = shape->value[LAYERNORM_COLUMNS];
    int64_t count = shape->value[LAYERNORM_ROWS] * columns;
    bool shifted = shape->value[LAYERNORM_DATA] == LAYERNORM_SHIFTED;
    struct assay_fill gain = {.kind = ASSAY_FILL_UNIFORM, .a = 0.5, .b = 1.5};
    struct assay_fill offset = {.kind = ASSAY_FILL_UNIFORM, .a = -1, .b = 1};
    out[LAYERNORM_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, count,
                                             rows_about(shape, shifted ? 1000 : 0)};
    out[LAYERNORM_WEIGHT] =
        (struct assay_buffer){"weight", ASSAY_IN, ASSAY_F32, columns, gain, .constant = true};
    out[LAYERNORM_BIAS] =
        (struct assay_buffer){"bias", ASSAY_IN, ASSAY_F32, columns, offset, .constant = true};
    out[LAYERNORM_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count};
    if (shape->value[LAYERNORM_RESIDUAL] == LAYERNORM_ALONE) return 4;
    out[LAYERNORM_R] = (struct assay_buffer){"r", ASSAY_IN, ASSAY_F32, count, rows_about(shape, 0)};
    out[LAYERNORM_SUM] =
        (struct assay_buffer){.name = "sum", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count};
    return 6;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double columns = (double)shape->value[LAYERNORM_COLUMNS];
    double count = (double)shape->value[LAYERNORM_ROWS] * columns;
    bool adds = shape->value[LAYERNORM_RESIDUAL] == LAYERNORM_ADD;
    return (struct assay_work){
        .read_bytes = (adds ? 8 : 4) * count + 8 * columns,
        .write_bytes = (adds ? 8 : 4) * count,
        .ops = {[ASSAY_FP32] = (adds ? 9 : 8) * count},
    };
}

static float element(const void *const in[], int64_t index)
{
    float x = ((const float *)in[LAYERNORM_X])[index];
    return in[LAYERNORM_R] ? x + ((const float *)in[LAYERNORM_R])[index] : x;
}

/* What all elements of a row share. */
struct row {
    double mean, scale;             /* scale = 1 / sqrt(variance + epsilon) */
    double mean_error, scale_error; /* absolute; relative */
};

static struct row row_of(const struct assay_shape *shape, const void *const in[], int64_t index)
{
    int64_t columns = shape->value[LAYERNORM_COLUMNS];
    int64_t begin = index * columns;
    double count = (double)columns, sum = 0, magnitude = 0, squares = 0;
    for (int64_t i = begin; i < begin + columns; i++) {
        double value = (double)element(in, i);
        sum += value;
        magnitude += fabs(value);
    }
    struct row row = {.mean = sum / count};
    for (int64_t i = begin; i < begin + columns; i++) {
        double off = (double)element(in, i) - row.mean;
        squares += off * off;
    }
    double variance = squares / count + (double)GPT_LAYERNORM_EPSILON;
    double grown = 4 * sqrt(count) * GPT_UNIT_FP32;
    row.scale = 1 / sqrt(variance);
    row.mean_error = grown * magnitude / count + fabs(row.mean) * GPT_UNIT_FP32;
    row.scale_error = (grown + 3 * GPT_UNIT_FP32 + row.mean_error * row.mean_error / variance) / 2 +
                      4 * GPT_UNIT_FP32;
    return row;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t columns = shape->value[LAYERNORM_COLUMNS], index = -1;
    const float *weight = in[LAYERNORM_WEIGHT], *bias = in[LAYERNORM_BIAS];
    struct row row = {0};
    for (int64_t i = begin; i < end; i++) {
        double value = (double)element(in, i);
        if (buffer == LAYERNORM_SUM) {
            expected[i - begin] = value;
            bound[i - begin] = 0; /* a single addition is rounded in one way only */
            continue;
        }
        if (i / columns != index) row = row_of(shape, in, index = i / columns);
        double gain = (double)weight[i % columns] * row.scale;
        double off = value - row.mean;
        double y = off * gain + (double)bias[i % columns];
        expected[i - begin] = y;
        bound[i - begin] = fabs(gain) * (row.mean_error + GPT_UNIT_FP32 * fabs(off)) +
                           fabs(gain * off) * (row.scale_error + 3 * GPT_UNIT_FP32) +
                           GPT_UNIT_FP32 * fabs(y);
    }
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[LAYERNORM_COLUMNS];
}

static const char *const baselines[] = {"twopass", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "layernorm",
    .summary = "y = (s - mean) / sqrt(variance + 1e-5) w + b by row; s = x or x + r",
    .dims = {[LAYERNORM_ROWS] = {.name = "rows",
                                 .summary = "rows (batch times tokens)",
                                 .fallback = 1024,
                                 .min = 1,
                                 .max = (int64_t)1 << 24},
             [LAYERNORM_COLUMNS] = {.name = "columns",
                                    .summary = "elements of a row",
                                    .fallback = 768,
                                    .min = 1,
                                    .max = (int64_t)1 << 20},
             [LAYERNORM_DATA] = {.name = "data",
                                 .summary = "standard deviation 1 about mean 0 (plain) or 1000",
                                 .choices = data},
             [LAYERNORM_RESIDUAL] = {.name = "residual",
                                     .summary = "whether x + r is taken, and written, first",
                                     .choices = residuals}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_run = reference_run,
    .baselines = baselines,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(operation);
