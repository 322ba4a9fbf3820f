/* variant.c - the variant of this project. */
#include "filter.h"
#include "stages.h"

static int launch(struct assay_call *call)
{
    int n = (int)call->shape->value[N];
    const float *x = call->buffer[X];
    float *y = call->buffer[Y], *t = call->buffer[T];
    int error = smooth(y, x, n, call->stream);
    if (!error) error = scale(t, y, n, call->stream);
    if (!error) error = clamp(y, t, n, call->stream);
    if (!error) error = blend(y, x, n, call->stream);
    return error ? assay_error("a stage was not launched: CUDA error %d", error) : 0;
}

static const struct assay_variant variant = {
    .operation = "filter",
    .name = "kernels",
    .summary = "one kernel per stage",
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
