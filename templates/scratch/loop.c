/* loop.c - a variant on the host: one loop. */
#include <math.h>

#include "@NAME@.h"

static int launch(struct assay_call *call)
{
    const float *x = call->buffer[X];
    float *y = call->buffer[Y];
    for (int64_t i = 0; i < call->shape->value[N]; i++)
        y[i] = x[i] / (1 + fabsf(x[i]));
    return 0;
}

static const struct assay_variant loop = {
    .operation = "@OPERATION@",
    .name = "loop",
    .summary = "one loop over the elements",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(loop);
