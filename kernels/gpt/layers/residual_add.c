/*
 * residual_add.c - operation residual_add: y = a + b, one rounded addition.
 *
 * Bytes per element: 8 read, 4 written. Operations: 1. Exact.
 */
#include "kernels/gpt/gpt.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t n = shape->value[RESIDUAL_N];
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    out[RESIDUAL_A] = (struct assay_buffer){"a", ASSAY_IN, ASSAY_F32, n, fill};
    out[RESIDUAL_B] = (struct assay_buffer){"b", ASSAY_IN, ASSAY_F32, n, fill};
    out[RESIDUAL_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[RESIDUAL_N];
    return (struct assay_work){
        .read_bytes = 8 * n, .write_bytes = 4 * n, .ops = {[ASSAY_FP32] = n}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *a = in[RESIDUAL_A], *b = in[RESIDUAL_B];
    for (int64_t i = begin; i < end; i++) {
        float sum = a[i] + b[i];
        expected[i - begin] = (double)sum;
        bound[i - begin] = 0;
    }
    return 0;
}

static const char *const baselines[] = {"scalar", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "residual_add",
    .summary = "y = a + b",
    .dims = {[RESIDUAL_N] = {.name = "n",
                             .summary = "elements",
                             .fallback = 1024 * 768,
                             .min = 1,
                             .max = (int64_t)1 << 36}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
