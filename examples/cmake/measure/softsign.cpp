// What softsign() computes, in double, and the library's own as a variant of it.
#include "softsign.hpp"

#include <assay.hpp>
#include <cmath>

enum { N };    // sizes
enum { X, Y }; // buffers

static const assay_operation operation = {
    .name = "softsign",
    .summary = "y = x / (1 + |x|)",
    .dims = {{.name = "n", .summary = "elements", .fallback = 1 << 20}},
    .buffers = [](const assay_shape *shape, assay_buffer *out) {
        int64_t n = assay::size(shape, N);
        out[X] = {"x", ASSAY_IN, ASSAY_F32, n, {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1}};
        out[Y] = {"y", ASSAY_OUT, ASSAY_F32, n};
        return 2;
    },
    .work = [](const assay_shape *shape) {
        double n = assay::size(shape, N);
        return assay_work{.read_bytes = 4 * n, .write_bytes = 4 * n};
    },
    .reference = assay::elements([](const assay_shape *, const void *const in[], int64_t i) {
        double x = assay::input<float>(in, X)[i];
        return x / (1 + std::fabs(x));
    }),
    .tolerance = {.rel = 3e-7},
};
ASSAY_REGISTER_OPERATION(operation);

static const assay_variant library = {
    .operation = "softsign",
    .name = "library",
    .summary = "softsign() of the library",
    .place = ASSAY_HOST,
    .launch = assay::call([](assay_call *call) {
        softsign(assay::buffer<const float>(call, X), assay::buffer<float>(call, Y),
                 assay::size(call, N));
    }),
};
ASSAY_REGISTER_VARIANT(library);
