/*
 * host_scalar.c - the formulas in their simplest form, one element at a time on one core.
 *
 * Formula per tensor: (x / s) + z; per token: x (127 / a), scale a / 127. Each operation is rounded
 * to nearest. Bytes per element: 4 read (bf16: 2), 1 written; per token the row is read twice, the
 * second time from the nearest cache.
 */
#include "int8.h"

static int launch_tensor(struct assay_call *call)
{
    int64_t n = call->shape->value[DIM_N];
    int64_t input = call->shape->value[DIM_INPUT];
    float scale = int8_scale(call->shape), zero = int8_zero(call->shape);
    const void *x = call->buffer[BUF_X];
    int8_t *y = call->buffer[BUF_Y];
    for (int64_t i = 0; i < n; i++)
        y[i] = int8_code(int8_load(x, input, i) / scale + zero);
    return 0;
}

static int launch_token(struct assay_call *call)
{
    int64_t tokens = call->shape->value[TOKEN_TOKENS];
    int64_t hidden = call->shape->value[TOKEN_HIDDEN];
    int64_t input = call->shape->value[TOKEN_INPUT];
    const void *x = call->buffer[BUF_X];
    int8_t *y = call->buffer[BUF_Y];
    float *scales = call->buffer[BUF_SCALES];
    for (int64_t row = 0; row < tokens; row++) {
        int64_t begin = row * hidden;
        int64_t end = begin + hidden;
        float absmax = 0.0f;
        for (int64_t i = begin; i < end; i++)
            absmax = fmaxf(absmax, fabsf(int8_load(x, input, i)));
        float multiplier = absmax > 0.0f ? 127.0f / absmax : 0.0f;
        scales[row] = absmax / 127.0f;
        for (int64_t i = begin; i < end; i++)
            y[i] = int8_code(int8_load(x, input, i) * multiplier);
    }
    return 0;
}

static const struct assay_variant tensor = {
    .operation = "int8_quantize",
    .name = "host_scalar",
    .summary = "one element at a time on one core, a division each",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_tensor,
    .model = int8_model_div,
};
ASSAY_REGISTER_VARIANT(tensor);

static const struct assay_variant token = {
    .operation = "int8_quantize_token",
    .name = "host_scalar",
    .summary = "one element at a time on one core, each row read twice",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_token,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(token);
