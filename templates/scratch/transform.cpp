/* transform.cpp - a variant on the host: std::transform. */
#include <algorithm>
#include <assay.hpp>
#include <cmath>

#include "@NAME@.h"

static const assay_variant transform = {
    .operation = "@OPERATION@",
    .name = "transform",
    .summary = "std::transform over the elements",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = assay::call([](assay_call *call) {
        auto x = assay::buffer<const float>(call, X);
        std::transform(x, x + assay::size(call, N), assay::buffer<float>(call, Y),
                       [](float v) { return v / (1 + std::fabs(v)); });
    }),
};
ASSAY_REGISTER_VARIANT(transform);
