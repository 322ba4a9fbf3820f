/*
 * operation.c - what @NAME@ computes: y[i] = x[i] / (1 + |x[i]|). Put yours in its place: sizes,
 * buffers, the least work that any implementation does, and a reference in double.
 */
#include <math.h>

#include "@NAME@.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    int64_t n = shape->value[N];
    out[X] = (struct assay_buffer){
        .name = "x", .role = ASSAY_IN, .type = ASSAY_F32, .count = n, .fill = normal};
    out[Y] = (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[N];
    return (struct assay_work){
        .read_bytes = 4 * n, .write_bytes = 4 * n, .ops = {[ASSAY_FP32] = 2 * n}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *x = in[X];
    (void)shape, (void)buffer, (void)bound;
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = x[i] / (1.0 + fabs(x[i]));
    return 0;
}

static const char *const baselines[] = {"loop", NULL};

static const struct assay_operation operation = {
    .name = "@OPERATION@",
    .summary = "y = x / (1 + |x|)",
    .dims = {[N] = {.name = "n", .summary = "elements", .fallback = 1 << 20}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .tolerance = {.rel = 3e-7},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
