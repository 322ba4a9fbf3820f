/*
 * host_scalar.c - fp8_quantize in its simplest form, one element at a time on one core, with the
 * conversions of the element table.
 *
 * Formula: a = the largest finite |x|, at least 2^-100; scale a / M; y = code(x (M / a)).
 * Bytes per element: 4 read (16-bit inputs: 2), 1 written; a group is read twice, the second time
 * from the nearest cache.
 */
#include <math.h>

#include "fp8.h"

static void encode(const struct assay_call *call, int64_t first, int64_t end, float *scale)
{
    enum assay_type type = fp8_input_type(call->shape->value[FP8_INPUT]);
    struct fp8_format format = fp8_format(call->shape->value[FP8_FORMAT]);
    float most = FP8_FLOOR;
    for (int64_t i = first; i < end; i++) {
        float size = fabsf((float)assay_load(type, call->buffer[FP8_X], i));
        if (isfinite(size)) most = fmaxf(most, size);
    }
    float multiplier = format.most / most;
    *scale = most / format.most;
    for (int64_t i = first; i < end; i++) {
        float q = (float)assay_load(type, call->buffer[FP8_X], i) * multiplier;
        assay_store(format.type, call->buffer[FP8_Y], i, (double)q);
    }
}

static int launch(struct assay_call *call)
{
    int64_t columns = call->shape->value[FP8_COLUMNS], group = fp8_group(call->shape);
    float *scale = call->buffer[FP8_SCALES];
    for (int64_t row = 0; row < call->shape->value[FP8_ROWS]; row++)
        for (int64_t first = 0; first < columns; first += group) {
            int64_t end = first + group < columns ? first + group : columns;
            encode(call, row * columns + first, row * columns + end, scale++);
        }
    return 0;
}

static const struct assay_variant variant = {
    .operation = "fp8_quantize",
    .name = "host_scalar",
    .summary = "one element at a time on one core, each group read twice",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch,
    .model = fp8_model,
};
ASSAY_REGISTER_VARIANT(variant);
