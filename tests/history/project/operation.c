/* operation.c - the operation `filter` of four stages. */
#include "filter.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = -2, .b = 2};
    out[X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, shape->value[N], uniform};
    out[Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = shape->value[N]};
    out[T] = (struct assay_buffer){
        .name = "t", .role = ASSAY_SCRATCH, .type = ASSAY_F32, .count = shape->value[N]};
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[N];
    return (struct assay_work){.read_bytes = 4 * n, .write_bytes = 4 * n};
}

static double smoothed(const void *x, int64_t i, int64_t n)
{
    double at = assay_load(ASSAY_F32, x, i);
    if (i == 0 || i == n - 1) return at;
    return (assay_load(ASSAY_F32, x, i - 1) + at + assay_load(ASSAY_F32, x, i + 1)) / 3;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)buffer, (void)bound;
    for (int64_t i = begin; i < end; i++) {
        double scaled = smoothed(in[X], i, shape->value[N]) * 1.5 + 0.25;
        double clamped = scaled < -1 ? -1 : scaled > 1 ? 1 : scaled;
        expected[i - begin] = 0.5 * clamped + 0.5 * assay_load(ASSAY_F32, in[X], i);
    }
    return 0;
}

static const struct assay_operation operation = {
    .name = "filter",
    .summary = "a smoothed, scaled and clamped signal, blended with itself",
    .dims = {{.name = "n", .summary = "elements", .fallback = 16384}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .tolerance = {.abs = 1e-5},
};
ASSAY_REGISTER_OPERATION(operation);
