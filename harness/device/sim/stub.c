#include <stdlib.h>
#include <unistd.h>

#include "device/sim/stub.h"

enum { X, Y, ELEMENTS = 16 };

static int double_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    (void)shape;
    out[X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, ELEMENTS, uniform};
    out[Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = ELEMENTS};
    return 2;
}

static int double_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)shape, (void)buffer, (void)bound;
    const float *x = in[X];
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 2.0 * x[i];
    return 0;
}

static int do_right(struct assay_call *call)
{
    const float *x = call->buffer[X];
    float *y = call->buffer[Y];
    for (int i = 0; i < ELEMENTS; i++)
        y[i] = 2 * x[i];
    return 0;
}

static int do_wrong(struct assay_call *call)
{
    float *y = call->buffer[Y];
    do_right(call);
    y[ELEMENTS / 2] += 1;
    return 0;
}

static int do_crash(struct assay_call *call)
{
    (void)call;
    abort();
}

static int do_hang(struct assay_call *call)
{
    (void)call;
    while (pause())
        ;
    return 0;
}

struct assay_operation stub_operation(const struct assay_operation *operation)
{
    struct assay_operation other = *operation;
    other.buffers = double_buffers;
    other.fill = NULL;
    other.reference = double_reference;
    other.reference_cost = NULL;
    other.reference_run = NULL;
    other.product_columns = NULL;
    other.product_check = NULL;
    other.tolerance = (struct assay_tolerance){0};
    other.match = NULL;
    other.quality = NULL;
    return other;
}

struct assay_variant stub_variant(const struct assay_variant *variant, enum sim_fate fate)
{
    static int (*const launches[SIM_FATES])(struct assay_call *) = {
        [SIM_WRONG] = do_wrong,
        [SIM_CRASH] = do_crash,
        [SIM_HANG] = do_hang,
    };
    struct assay_variant other = *variant;
    other.clock = ASSAY_CLOCK_DEVICE;
    other.apart = false;
    other.supports = NULL;
    other.setup = NULL;
    other.launch = launches[fate] ? launches[fate] : do_right;
    other.teardown = NULL;
    other.model = NULL;
    other.check = NULL;
    other.figures = NULL;
    other.spans = NULL;
    return other;
}
