/*
 * cross_entropy.c - operation cross_entropy: loss = log(sum exp(x)) - x[target] of each row, and
 * the gradient of the mean loss, dx = (softmax(x) - [column is target]) / rows.
 *
 * Bytes per element: one read, and with the gradient one written, 4 in fp32, else 2; 4 for
 * each target and each loss. Operations per element: 3, and with the gradient 6.
 *
 * How far may a right answer be off? With m the largest element and S the sum of exp(x - m),
 * norms.c has the error of S, which is that of log S; log itself is off by 4 u |log S| and 4 u; m,
 * x[target] and the sums of both by 2 u each. The error of the gradient is that of the softmax, and
 * 3 u for the difference, the division and its divisor.
 *
 * A target outside of the row would read memory beside it, so every variant checks the targets in
 * its setup and refuses them.
 */
#include "norms.h"

static const char *const gradients[] = {"with", "none", NULL};

static bool has_gradient(const struct assay_shape *shape)
{
    return shape->value[CROSS_GRADIENT] == CROSS_WITH;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t rows = shape->value[CROSS_ROWS], columns = shape->value[CROSS_COLUMNS];
    enum assay_type type = gpt_type(norms_precision(shape->value[CROSS_TYPE]));
    struct assay_fill any = {.kind = ASSAY_FILL_INTEGER, .a = 0, .b = (double)(columns - 1)};
    struct assay_fill logits = norms_logits(rows, columns, shape->value[CROSS_DATA]);
    logits.hard_every = 0; /* the loss of a masked target is infinite */
    out[CROSS_X] = (struct assay_buffer){"x", ASSAY_IN, type, rows * columns, logits};
    out[CROSS_TARGET] = (struct assay_buffer){"target", ASSAY_IN, ASSAY_I32, rows, any};
    out[CROSS_LOSS] =
        (struct assay_buffer){.name = "loss", .role = ASSAY_OUT, .type = ASSAY_F32, .count = rows};
    if (!has_gradient(shape)) return 3;
    out[CROSS_DX] = (struct assay_buffer){
        .name = "dx", .role = ASSAY_OUT, .type = type, .count = rows * columns};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double rows = (double)shape->value[CROSS_ROWS];
    double count = rows * (double)shape->value[CROSS_COLUMNS];
    double bytes = count * (double)gpt_bytes(norms_precision(shape->value[CROSS_TYPE]));
    bool gradient = has_gradient(shape);
    return (struct assay_work){.read_bytes = bytes + 4 * rows,
                               .write_bytes = (gradient ? bytes : 0) + 4 * rows,
                               .ops = {[ASSAY_FP32] = (gradient ? 6 : 3) * count}};
}

static struct norms_softmax row_of(const struct assay_shape *shape, const void *const in[],
                                   int64_t row)
{
    int64_t columns = shape->value[CROSS_COLUMNS];
    return norms_softmax_of(in[CROSS_X], shape->value[CROSS_TYPE], row * columns, columns);
}

static void reference_loss(const struct assay_shape *shape, const void *const in[], int64_t index,
                           double *expected, double *bound)
{
    struct norms_softmax row = row_of(shape, in, index);
    int64_t at = index * shape->value[CROSS_COLUMNS] + ((const int32_t *)in[CROSS_TARGET])[index];
    double x = (double)gpt_load(in[CROSS_X], norms_precision(shape->value[CROSS_TYPE]), at);
    double log_sum = log(row.sum);
    *expected = log_sum + (row.most - x);
    *bound = row.sum_error + GPT_UNIT_FP32 * (4 * fabs(log_sum) + 4 + 2 * fabs(row.most) +
                                              2 * fabs(x) + 2 * fabs(*expected));
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const int32_t *target = in[CROSS_TARGET];
    int64_t columns = shape->value[CROSS_COLUMNS], type = shape->value[CROSS_TYPE], index = -1;
    double rows = (double)shape->value[CROSS_ROWS];
    struct norms_softmax row = {0};
    for (int64_t i = begin; i < end; i++) {
        if (buffer == CROSS_LOSS) {
            reference_loss(shape, in, i, &expected[i - begin], &bound[i - begin]);
            continue;
        }
        if (i / columns != index) row = row_of(shape, in, index = i / columns);
        double x = (double)gpt_load(in[CROSS_X], norms_precision(type), i), error;
        double y = norms_softmax_value(&row, x, &error);
        double off = i % columns == target[index] ? y - 1 : y;
        expected[i - begin] = off / rows;
        bound[i - begin] =
            norms_bound(type, off / rows, (y * error + fabs(off) * 3 * GPT_UNIT_FP32) / rows);
    }
    return 0;
}

/* A loss costs its row, an element of the gradient a share of it. */
static double reference_cost(const struct assay_shape *shape)
{
    return has_gradient(shape) ? 16 : 8 * (double)shape->value[CROSS_COLUMNS];
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return has_gradient(shape) ? shape->value[CROSS_COLUMNS] : 1;
}

static const char *const baselines[] = {"stream", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "cross_entropy",
    .summary = "loss = log(sum exp(x)) - x[target] by row, and the gradient of its mean",
    .dims = {[CROSS_ROWS] = {.name = "rows",
                             .summary = "rows (batch times tokens)",
                             .fallback = 1024,
                             .min = 1,
                             .max = (int64_t)1 << 24},
             [CROSS_COLUMNS] = {.name = "columns",
                                .summary = "elements of a row: the vocabulary",
                                .fallback = 50257,
                                .min = 1,
                                .max = (int64_t)1 << 20},
             [CROSS_TYPE] = {.name = "type",
                             .summary = "type of x and its gradient; sums are in fp32",
                             .choices = norms_types},
             [CROSS_DATA] = {.name = "data",
                             .summary = "standard deviation 2 about mean 0 (plain) or 1000",
                             .choices = norms_datas},
             [CROSS_GRADIENT] = {.name = "gradient",
                                 .summary = "whether dx is written",
                                 .choices = gradients}},
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
