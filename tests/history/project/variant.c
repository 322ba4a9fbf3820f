/* variant.c - the variant of this project. */
#include "filter.h"
#include "stages.h"

static int launch(struct assay_call *call)
{
    int n = (int)call->shape->value[N];
    const float *x = call->buffer[X];
    float *y = call->buffer[Y], *t = call->buffer[T];
    smooth(t, x, n);
    scale(y, t, n);
    clamp(t, y, n);
    for (int i = 0; i < n; i++)
        y[i] = t[i];
    blend(y, x, n);
    return 0;
}

static const struct assay_variant variant = {
    .operation = "filter",
    .name = "stages",
    .summary = "one loop per stage",
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
