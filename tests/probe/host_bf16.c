/*
 * host_bf16.c - int8_quantize of bf16 alone: a division for each element, on all cores.
 *
 * Formula: (x / s) + z. Bytes of an element: 2 read, 1 written.
 */
#include "kernels/int8/int8.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[DIM_INPUT] == INPUT_BF16 ? NULL : "for bf16 only";
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[DIM_N];
    float scale = int8_scale(call->shape), zero = int8_zero(call->shape);
    const uint16_t *x = call->buffer[BUF_X];
    int8_t *y = call->buffer[BUF_Y];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        y[i] = int8_code(int8_widen(x[i]) / scale + zero);
    return 0;
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "host_bf16",
    .summary = "bf16 alone, a division for each element, all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
