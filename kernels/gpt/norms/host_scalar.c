/*
 * host_scalar.c - softmax, rmsnorm, cross_entropy and rope in the simplest form: one element at a
 * time on one core, with sums in double.
 *
 * Bytes and operations: those of each operation. A row is read two or three times, all but the
 * first from the nearest cache.
 */
#include "norms.h"

static double most_of(const void *x, enum gpt_precision precision, int64_t begin, int64_t end)
{
    double most = -INFINITY;
    for (int64_t i = begin; i < end; i++)
        most = fmax(most, (double)gpt_load(x, precision, i));
    return most;
}

static double powers_of(const void *x, enum gpt_precision precision, int64_t begin, int64_t end,
                        double most)
{
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += exp((double)gpt_load(x, precision, i) - most);
    return sum;
}

static int softmax_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    enum gpt_precision precision = norms_precision(value[SOFTMAX_TYPE]);
    const void *x = call->buffer[SOFTMAX_X];
    for (int64_t row = 0; row < value[SOFTMAX_ROWS]; row++) {
        int64_t begin = row * value[SOFTMAX_COLUMNS], end = begin + value[SOFTMAX_COLUMNS];
        double most = most_of(x, precision, begin, end);
        double sum = powers_of(x, precision, begin, end, most);
        for (int64_t i = begin; i < end; i++)
            gpt_store(call->buffer[SOFTMAX_Y], precision, i,
                      (float)(exp((double)gpt_load(x, precision, i) - most) / sum));
    }
    return 0;
}

static int rmsnorm_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t columns = value[RMSNORM_COLUMNS];
    enum gpt_precision precision = norms_precision(value[RMSNORM_TYPE]);
    const void *x = call->buffer[RMSNORM_X], *weight = call->buffer[RMSNORM_WEIGHT];
    for (int64_t row = 0; row < value[RMSNORM_ROWS]; row++) {
        double squares = 0;
        for (int64_t i = row * columns; i < (row + 1) * columns; i++) {
            double element = (double)gpt_load(x, precision, i);
            squares += element * element;
        }
        double scale = 1 / sqrt(squares / (double)columns + (double)NORMS_RMSNORM_EPSILON);
        for (int64_t i = 0; i < columns; i++) {
            double y = (double)gpt_load(x, precision, row * columns + i) * scale *
                       (double)gpt_load(weight, precision, i);
            gpt_store(call->buffer[RMSNORM_Y], precision, row * columns + i, (float)y);
        }
    }
    return 0;
}

static int cross_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    enum gpt_precision precision = norms_precision(value[CROSS_TYPE]);
    const void *x = call->buffer[CROSS_X];
    for (int64_t row = 0; row < value[CROSS_ROWS]; row++) {
        int64_t begin = row * value[CROSS_COLUMNS], end = begin + value[CROSS_COLUMNS];
        int64_t target = begin + ((const int32_t *)call->buffer[CROSS_TARGET])[row];
        double most = most_of(x, precision, begin, end);
        double sum = powers_of(x, precision, begin, end, most);
        ((float *)call->buffer[CROSS_LOSS])[row] =
            (float)(log(sum) + (most - (double)gpt_load(x, precision, target)));
        if (value[CROSS_GRADIENT] != CROSS_WITH) continue;
        for (int64_t i = begin; i < end; i++) {
            double y = exp((double)gpt_load(x, precision, i) - most) / sum;
            gpt_store(call->buffer[CROSS_DX], precision, i,
                      (float)((i == target ? y - 1 : y) / (double)value[CROSS_ROWS]));
        }
    }
    return 0;
}

static int rope_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    enum gpt_precision precision = norms_precision(value[ROPE_TYPE]);
    int64_t half = value[ROPE_SIZE] / 2, heads = value[ROPE_HEADS];
    bool halves = value[ROPE_PAIRS] == ROPE_HALVES;
    int64_t rows = value[ROPE_BATCH] * value[ROPE_TOKENS] * heads;
    const void *x = call->buffer[ROPE_X];
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < half; j++) {
            int64_t angle = row / heads % value[ROPE_TOKENS] * half + j;
            int64_t first = row * 2 * half + (halves ? j : 2 * j);
            int64_t second = first + (halves ? half : 1);
            double cosine = (double)((const float *)call->buffer[ROPE_COS])[angle];
            double sine = (double)((const float *)call->buffer[ROPE_SIN])[angle];
            double a = (double)gpt_load(x, precision, first);
            double b = (double)gpt_load(x, precision, second);
            gpt_store(call->buffer[ROPE_Y], precision, first, (float)(a * cosine - b * sine));
            gpt_store(call->buffer[ROPE_Y], precision, second, (float)(a * sine + b * cosine));
        }
    return 0;
}

static const struct assay_variant softmax = {
    .operation = "row_softmax",
    .name = "host_scalar",
    .summary = "one row at a time on one core, sums in double",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = softmax_launch,
};
ASSAY_REGISTER_VARIANT(softmax);

static const struct assay_variant rmsnorm = {
    .operation = "rmsnorm",
    .name = "host_scalar",
    .summary = "one row at a time on one core, sums in double",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = rmsnorm_launch,
};
ASSAY_REGISTER_VARIANT(rmsnorm);

static const struct assay_variant cross_entropy = {
    .operation = "cross_entropy",
    .name = "host_scalar",
    .summary = "one row at a time on one core, sums in double",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = norms_check_host_targets,
    .launch = cross_launch,
};
ASSAY_REGISTER_VARIANT(cross_entropy);

static const struct assay_variant rope = {
    .operation = "rope",
    .name = "host_scalar",
    .summary = "one pair at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = rope_launch,
};
ASSAY_REGISTER_VARIANT(rope);
