/*
 * rmsnorm.c - operation rmsnorm: y = x / sqrt(mean(x^2) + 1e-5) w (Zhang and Sennrich, "Root mean
 * square layer normalization", NeurIPS 2019).
 *
 * Bytes per element: one read and one written, 4 in fp32, else 2; w once. Operations per
 * element: 4. Limited by memory.
 *
 * The first rows (an eighth, eight at most) have a mean square near epsilon, so that another
 * epsilon, or one outside of the root, is seen.
 *
 * How far may a right answer be off? All terms of the sum are positive, so with C columns and u =
 * 2^-24 it is off by (4 sqrt(C) + 3) u, relatively (layernorm.c has the source), its root by half
 * of that and 4 u for rsqrtf, and the two products by 2 u. In bf16 and fp16, y is rounded once.
 */
#include "norms.h"

enum { QUIET_ROWS = 8 };

static const float quiet[] = {1e-3f, -1e-3f, 2e-3f, -2e-3f, 4e-3f, -4e-3f};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t rows = shape->value[RMSNORM_ROWS], columns = shape->value[RMSNORM_COLUMNS];
    enum assay_type type = gpt_type(norms_precision(shape->value[RMSNORM_TYPE]));
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    struct assay_fill gain = {.kind = ASSAY_FILL_UNIFORM, .a = 0.5, .b = 1.5};
    if (rows >= 8) {
        fill.hard = quiet;
        fill.hard_count = sizeof quiet / sizeof *quiet;
        fill.hard_every = 1;
        fill.hard_until = (rows / 8 < QUIET_ROWS ? rows / 8 : QUIET_ROWS) * columns;
    }
    out[RMSNORM_X] = (struct assay_buffer){"x", ASSAY_IN, type, rows * columns, fill};
    out[RMSNORM_WEIGHT] =
        (struct assay_buffer){"weight", ASSAY_IN, type, columns, gain, .constant = true};
    out[RMSNORM_Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = type, .count = rows * columns};
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double columns = (double)shape->value[RMSNORM_COLUMNS];
    double count = (double)shape->value[RMSNORM_ROWS] * columns;
    double bytes = (double)gpt_bytes(norms_precision(shape->value[RMSNORM_TYPE]));
    return (struct assay_work){.read_bytes = bytes * (count + columns),
                               .write_bytes = bytes * count,
                               .ops = {[ASSAY_FP32] = 4 * count}};
}

static double scale_of(const struct assay_shape *shape, const void *x, int64_t index)
{
    enum gpt_precision precision = norms_precision(shape->value[RMSNORM_TYPE]);
    int64_t columns = shape->value[RMSNORM_COLUMNS];
    double squares = 0;
    for (int64_t i = index * columns; i < (index + 1) * columns; i++) {
        double value = (double)gpt_load(x, precision, i);
        squares += value * value;
    }
    return 1 / sqrt(squares / (double)columns + (double)NORMS_RMSNORM_EPSILON);
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t columns = shape->value[RMSNORM_COLUMNS], type = shape->value[RMSNORM_TYPE], index = -1;
    enum gpt_precision precision = norms_precision(type);
    double scale = 0, error = ((4 * sqrt((double)columns) + 3) / 2 + 4 + 2) * GPT_UNIT_FP32;
    for (int64_t i = begin; i < end; i++) {
        if (i / columns != index) scale = scale_of(shape, in[RMSNORM_X], index = i / columns);
        double y = (double)gpt_load(in[RMSNORM_X], precision, i) * scale *
                   (double)gpt_load(in[RMSNORM_WEIGHT], precision, i % columns);
        expected[i - begin] = y;
        bound[i - begin] = norms_bound(type, y, fabs(y) * error);
    }
    return 0;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[RMSNORM_COLUMNS];
}

static const char *const baselines[] = {"stream", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "rmsnorm",
    .summary = "y = x / sqrt(mean(x^2) + 1e-5) w by row",
    .dims = {[RMSNORM_ROWS] = {.name = "rows",
                               .summary = "rows (batch times tokens)",
                               .fallback = 1024,
                               .min = 1,
                               .max = (int64_t)1 << 24},
             [RMSNORM_COLUMNS] = {.name = "columns",
                                  .summary = "elements of a row",
                                  .fallback = 4096,
                                  .min = 1,
                                  .max = (int64_t)1 << 20},
             [RMSNORM_TYPE] = {.name = "type",
                               .summary = "type in memory; sums are in fp32",
                               .choices = norms_types}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_run = reference_run,
    .tolerance = {.near_share = 0.02},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
