/*
 * softmax.c - operation row_softmax: y = exp(x - m) / sum exp(x - m), m the largest element of the
 * row.
 *
 * Bytes per element: one read and one written, 4 in fp32, else 2. Operations per element: 5,
 * one an exponential. Limited by memory.
 *
 * data=shifted has mean 1000: a variant that does not take the largest element off overflows. In
 * the first rows of at least 64 columns one element in sixteen is minus infinity (a masked token),
 * -10^4 or 30. norms.c says how far a right answer may be off.
 */
#include "norms.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const int64_t *value = shape->value;
    int64_t count = value[SOFTMAX_ROWS] * value[SOFTMAX_COLUMNS];
    enum assay_type type = gpt_type(norms_precision(value[SOFTMAX_TYPE]));
    out[SOFTMAX_X] = (struct assay_buffer){
        "x", ASSAY_IN, type, count,
        norms_logits(value[SOFTMAX_ROWS], value[SOFTMAX_COLUMNS], value[SOFTMAX_DATA])};
    out[SOFTMAX_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = type, .count = count};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double count = (double)shape->value[SOFTMAX_ROWS] * (double)shape->value[SOFTMAX_COLUMNS];
    double bytes = count * (double)gpt_bytes(norms_precision(shape->value[SOFTMAX_TYPE]));
    return (struct assay_work){
        .read_bytes = bytes, .write_bytes = bytes, .ops = {[ASSAY_FP32] = 5 * count}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t columns = shape->value[SOFTMAX_COLUMNS], type = shape->value[SOFTMAX_TYPE], index = -1;
    struct norms_softmax row = {0};
    for (int64_t i = begin; i < end; i++) {
        if (i / columns != index) {
            index = i / columns;
            row = norms_softmax_of(in[SOFTMAX_X], type, index * columns, columns);
        }
        double x = (double)gpt_load(in[SOFTMAX_X], norms_precision(type), i), error;
        double y = norms_softmax_value(&row, x, &error);
        expected[i - begin] = y;
        bound[i - begin] = norms_bound(type, y, y * error);
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 16;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[SOFTMAX_COLUMNS];
}

static const char *const baselines[] = {"cudnn", "stream", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "row_softmax",
    .summary = "y = exp(x - max) / sum exp(x - max) by row",
    .dims = {[SOFTMAX_ROWS] = {.name = "rows",
                               .summary = "rows (batch times tokens)",
                               .fallback = 1024,
                               .min = 1,
                               .max = (int64_t)1 << 24},
             [SOFTMAX_COLUMNS] = {.name = "columns",
                                  .summary = "elements of a row",
                                  .fallback = 4096,
                                  .min = 1,
                                  .max = (int64_t)1 << 20},
             [SOFTMAX_TYPE] = {.name = "type",
                               .summary = "type in memory; sums are in fp32",
                               .choices = norms_types},
             [SOFTMAX_DATA] = {.name = "data",
                               .summary = "standard deviation 2 about mean 0 (plain) or 1000",
                               .choices = norms_datas}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .tolerance = {.near_share = 0.02},
    .baselines = baselines,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(operation);
