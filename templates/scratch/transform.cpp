/* transform.cpp - a variant on the host: std::transform. */
#include <algorithm>
#include <cmath>

#include "@NAME@.h"

static int launch(assay_call *call)
{
    auto *x = static_cast<const float *>(call->buffer[X]);
    auto *y = static_cast<float *>(call->buffer[Y]);
    std::transform(x, x + call->shape->value[N], y, [](float v) { return v / (1 + std::fabs(v)); });
    return 0;
}

static const assay_variant transform = {
    .operation = "@OPERATION@",
    .name = "transform",
    .summary = "std::transform over the elements",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(transform);
