/*
 * sigmoid.c - operation `sigmoid`, the decoder's last step: y = 1 / (1 + exp(-x)).
 *
 * Bytes per number: 4 read, 4 written. Operations: about 10.
 *
 * Tolerance: 2^-21 of the result, or the smallest normal number.
 */
#include <math.h>

#include "sigmoid.h"

/* Saturation at both ends, a denormal result, and both zeros. */
static const float hard[] = {0.0f, -0.0f, 88.0f, -88.0f, -100.0f, INFINITY, -INFINITY, NAN};

static int64_t count_of(const struct assay_shape *shape)
{
    return shape->value[SIGMOID_LEAVES] * LEAF_VOXELS;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[SIGMOID_X] = (struct assay_buffer){.name = "x",
                                           .role = ASSAY_IN,
                                           .type = ASSAY_F32,
                                           .count = count_of(shape),
                                           .fill = {.kind = ASSAY_FILL_NORMAL,
                                                    .b = 3,
                                                    .hard = hard,
                                                    .hard_count = sizeof hard / sizeof *hard,
                                                    .hard_every = 16,
                                                    .hard_until = LEAF_VOXELS}};
    out[SIGMOID_Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count_of(shape)};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const double count = (double)count_of(shape);
    return (struct assay_work){.read_bytes = 4.0 * count,
                               .write_bytes = 4.0 * count,
                               .ops = {[ASSAY_FP32] = 10.0 * count}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t at = begin; at < end; at++)
        expected[at - begin] = 1 / (1 + exp(-(double)((const float *)in[SIGMOID_X])[at]));
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 20;
}

static const char *const baselines[] = {"scalar", "host_scalar", NULL};

static const struct assay_operation sigmoid = {
    .name = "sigmoid",
    .summary = "y = 1 / (1 + exp(-x))",
    .dims = {[SIGMOID_LEAVES] = {.name = "leaves",
                                 .summary = "leaves of 512 numbers",
                                 .fallback = 64,
                                 .min = 1,
                                 .max = 1 << 20}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .tolerance = {.abs = 0x1p-126, .rel = 0x1p-21},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(sigmoid);

/* ------------------------------------------------------------------ host -- */

static int launch_scalar(struct assay_call *call)
{
    const float *x = call->buffer[SIGMOID_X];
    float *y = call->buffer[SIGMOID_Y];
    for (int64_t i = 0; i < count_of(call->shape); i++)
        y[i] = 1 / (1 + expf(-x[i]));
    return 0;
}

static int launch_omp(struct assay_call *call)
{
    const int64_t count = count_of(call->shape);
    const float *x = call->buffer[SIGMOID_X];
    float *y = call->buffer[SIGMOID_Y];
#pragma omp parallel for schedule(static) if (count >= 1 << 15)
    for (int64_t i = 0; i < count; i++)
        y[i] = 1 / (1 + expf(-x[i]));
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "sigmoid",
    .name = "host_scalar",
    .summary = "one number after another, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "sigmoid",
    .name = "host_omp",
    .summary = "all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
