/* fault_unjudged.c - y[i] = 2 x[i] without a reference: nothing says whether an answer is right. */
#include "faults.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    int64_t n = shape->value[FAULT_N];
    out[FAULT_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, n, uniform};
    out[FAULT_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[FAULT_N];
    return (struct assay_work){.read_bytes = 4 * n, .write_bytes = 4 * n};
}

static const char *const baselines[] = {"plain", NULL};

static const struct assay_operation fault_unjudged = {
    .name = "fault_unjudged",
    .summary = "y = 2 x, as far as anybody knows",
    .dims = {{.name = "n", .summary = "elements", .fallback = 100003}},
    .buffers = buffers,
    .work = work,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(fault_unjudged);

static void write_some(struct assay_call *call, int64_t end, float by)
{
    const float *x = call->buffer[FAULT_X];
    float *y = call->buffer[FAULT_Y];
    for (int64_t i = 0; i < end; i++)
        y[i] = by * x[i];
}

static int plain(struct assay_call *call)
{
    write_some(call, call->shape->value[FAULT_N], 2);
    return 0;
}

/* Wrong, and nothing knows it. */
static int thrice(struct assay_call *call)
{
    write_some(call, call->shape->value[FAULT_N], 3);
    return 0;
}

/* Wrong, and the poison knows it. */
static int half(struct assay_call *call)
{
    write_some(call, call->shape->value[FAULT_N] / 2, 2);
    return 0;
}

#define UNJUDGED(variant, words, of_kind)                                                          \
    static const struct assay_variant variant##_unjudged = {.operation = "fault_unjudged",         \
                                                            .name = #variant,                      \
                                                            .summary = words,                      \
                                                            .kind = of_kind,                       \
                                                            .place = ASSAY_HOST,                   \
                                                            .launch = variant};                    \
    ASSAY_REGISTER_VARIANT(variant##_unjudged)

UNJUDGED(plain, "doubles", ASSAY_BASELINE);
UNJUDGED(thrice, "triples", ASSAY_KERNEL);
UNJUDGED(half, "leaves the second half unwritten", ASSAY_KERNEL);
