/*
 * host_scalar.c - the layers that are limited by memory, in the simplest form: one element at a
 * time on one core, with sums in double.
 *
 * Bytes and operations: those of each operation. layernorm reads its row three times, the last two
 * from the nearest cache.
 */
#include "kernels/gpt/gpt.h"

static void layernorm_row(const struct assay_call *call, int64_t row)
{
    int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    bool adds = call->shape->value[LAYERNORM_RESIDUAL] == LAYERNORM_ADD;
    const float *x = (const float *)call->buffer[LAYERNORM_X] + row * columns;
    const float *weight = call->buffer[LAYERNORM_WEIGHT], *bias = call->buffer[LAYERNORM_BIAS];
    float *y = (float *)call->buffer[LAYERNORM_Y] + row * columns;
    const float *in = x;
    if (adds) {
        const float *r = (const float *)call->buffer[LAYERNORM_R] + row * columns;
        float *sum = (float *)call->buffer[LAYERNORM_SUM] + row * columns;
        for (int64_t i = 0; i < columns; i++)
            sum[i] = x[i] + r[i];
        in = sum;
    }
    double total = 0, squares = 0;
    for (int64_t i = 0; i < columns; i++)
        total += (double)in[i];
    double mean = total / (double)columns;
    for (int64_t i = 0; i < columns; i++)
        squares += ((double)in[i] - mean) * ((double)in[i] - mean);
    double scale = 1 / sqrt(squares / (double)columns + (double)GPT_LAYERNORM_EPSILON);
    for (int64_t i = 0; i < columns; i++)
        y[i] = (float)(((double)in[i] - mean) * scale) * weight[i] + bias[i];
}

static int layernorm_launch(struct assay_call *call)
{
    for (int64_t row = 0; row < call->shape->value[LAYERNORM_ROWS]; row++)
        layernorm_row(call, row);
    return 0;
}

static int gelu_launch(struct assay_call *call)
{
    const float *x = call->buffer[GELU_X];
    float *y = call->buffer[GELU_Y];
    for (int64_t i = 0; i < call->shape->value[GELU_N]; i++) {
        float cube = GPT_GELU_CUBE * x[i] * x[i] * x[i];
        y[i] = 0.5f * x[i] * (1.0f + tanhf(GPT_GELU_SCALE * (x[i] + cube)));
    }
    return 0;
}

static int residual_launch(struct assay_call *call)
{
    const float *a = call->buffer[RESIDUAL_A], *b = call->buffer[RESIDUAL_B];
    float *y = call->buffer[RESIDUAL_Y];
    for (int64_t i = 0; i < call->shape->value[RESIDUAL_N]; i++)
        y[i] = a[i] + b[i];
    return 0;
}

static int embedding_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t channels = value[EMBEDDING_CHANNELS], tokens = value[EMBEDDING_TOKENS];
    const int32_t *ids = call->buffer[EMBEDDING_IDS];
    const float *wte = call->buffer[EMBEDDING_WTE], *wpe = call->buffer[EMBEDDING_WPE];
    float *y = call->buffer[EMBEDDING_Y];
    for (int64_t row = 0; row < value[EMBEDDING_BATCH] * tokens; row++)
        for (int64_t i = 0; i < channels; i++)
            y[row * channels + i] = wte[ids[row] * channels + i] + wpe[row % tokens * channels + i];
    return 0;
}

static const struct assay_variant layernorm = {
    .operation = "layernorm",
    .name = "host_scalar",
    .summary = "one row at a time on one core, sums in double",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = layernorm_launch,
};
ASSAY_REGISTER_VARIANT(layernorm);

static const struct assay_variant gelu = {
    .operation = "gelu",
    .name = "host_scalar",
    .summary = "one element at a time on one core, tanhf",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = gelu_launch,
};
ASSAY_REGISTER_VARIANT(gelu);

static const struct assay_variant residual_add = {
    .operation = "residual_add",
    .name = "host_scalar",
    .summary = "one element at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = residual_launch,
};
ASSAY_REGISTER_VARIANT(residual_add);

static const struct assay_variant embedding = {
    .operation = "embedding",
    .name = "host_scalar",
    .summary = "one element at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = gpt_check_host_ids,
    .launch = embedding_launch,
};
ASSAY_REGISTER_VARIANT(embedding);
