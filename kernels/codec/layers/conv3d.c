/*
 * conv3d.c - operation `conv3d`: a three-dimensional convolution of leaves.
 *
 *   y[l][o][v] = b[o] + sum over taps t and channels i of w[t][i][o] x[l][i][v stride + t - pad]
 *
 * Bytes: x, w and b read, y written, 4 each. Operations: 2 * kernel^3 * in per number of y, in the
 * arithmetic that `type` names. As is usual, that includes the products with the border's zeros, so
 * a kernel that leaves them out may exceed the ceiling.
 *
 * Bound: operands rounded to 11 bits (tf32) err by 2^-11 of a product at most, a sum of
 * d products in fp32 in any order by (d + 1) 2^-24 of the sum of magnitudes.
 */
#include <math.h>

#include "conv3d.h"

static const char *const types[] = {"fp32", "tf32", NULL};

static const char *supports(const struct assay_shape *shape)
{
    const int64_t kernel = shape->value[CONV_KERNEL], stride = shape->value[CONV_STRIDE];
    if (shape->value[CONV_SIDE] % stride) return "side is no multiple of stride";
    /* The kernel sizes for which one zero of padding at each edge gives side / stride voxels. */
    const bool fits = (kernel == 1 && stride == 1) || (kernel == 3 && stride == 1) ||
                      (kernel == 4 && stride == 2);
    return fits ? NULL : "kernel and stride must be 1 and 1, 3 and 1, or 4 and 2";
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct conv_job job = conv_job(shape);
    const int64_t voxels = (int64_t)job.side * job.side * job.side;
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1.0};
    const struct assay_fill weight = {.kind = ASSAY_FILL_NORMAL, .b = sqrt(2.0 / conv_depth(&job))};
    out[CONV_X] =
        (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, job.leaves * job.in * voxels, normal};
    out[CONV_W] = (struct assay_buffer){"w", ASSAY_IN, ASSAY_F32,
                                        (int64_t)conv_depth(&job) * job.out, weight};
    out[CONV_B] = (struct assay_buffer){"b", ASSAY_IN, ASSAY_F32, job.out, normal};
    out[CONV_Y] = (struct assay_buffer){.name = "y",
                                        .role = ASSAY_OUT,
                                        .type = ASSAY_F32,
                                        .count = job.leaves * job.out * conv_voxels(&job)};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct assay_buffer b[ASSAY_MAX_BUFFERS];
    const struct conv_job job = conv_job(shape);
    buffers(shape, b);
    struct assay_work work = {
        .read_bytes = 4.0 * (double)(b[CONV_X].count + b[CONV_W].count + b[CONV_B].count),
        .write_bytes = 4.0 * (double)b[CONV_Y].count,
    };
    work.ops[shape->value[CONV_TYPE] == CONV_TF32 ? ASSAY_TF32 : ASSAY_FP32] =
        2.0 * conv_depth(&job) * (double)b[CONV_Y].count;
    return work;
}

/* The sum of one tap over the channels, and of its magnitudes. */
static void add_tap(const struct conv_job *job, const float *x, const float *w, double sum[2])
{
    const int voxels = job->side * job->side * job->side;
    for (int i = 0; i < job->in; i++) {
        double product = (double)x[(int64_t)i * voxels] * (double)w[(int64_t)i * job->out];
        sum[0] += product;
        sum[1] += fabs(product);
    }
}

static void one(const struct conv_job *job, const void *const in[], int64_t at, double sum[2])
{
    const int voxels = conv_voxels(job), side = job->side;
    const int voxel = (int)(at % voxels), channel = (int)(at / voxels % job->out);
    const float *x =
        (const float *)in[CONV_X] + at / voxels / job->out * job->in * side * side * side;
    const float *w = (const float *)in[CONV_W] + channel;
    for (int tap = 0; tap < conv_taps(job); tap++) {
        const int k = job->kernel, r = job->result;
        const int ax = voxel % r * job->stride + tap % k - job->pad;
        const int ay = voxel / r % r * job->stride + tap / k % k - job->pad;
        const int az = voxel / r / r * job->stride + tap / k / k - job->pad;
        if (ax < 0 || ax >= side || ay < 0 || ay >= side || az < 0 || az >= side) continue;
        add_tap(job, x + (az * side + ay) * side + ax, w + (int64_t)tap * job->in * job->out, sum);
    }
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct conv_job job = conv_job(shape);
    const double operands = shape->value[CONV_TYPE] == CONV_TF32 ? 0x1p-10 : 0;
    (void)buffer;
    for (int64_t at = begin; at < end; at++) {
        const double bias = (double)((const float *)in[CONV_B])[at / conv_voxels(&job) % job.out];
        double sum[2] = {bias, fabs(bias)};
        one(&job, in, at, sum);
        expected[at - begin] = sum[0];
        bound[at - begin] = (operands + 0x1p-24 * (conv_depth(&job) + 2)) * sum[1];
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    const struct conv_job job = conv_job(shape);
    return conv_depth(&job);
}

static const char *const baselines[] = {"im2col_cublas", "host_im2col_openblas", "host_scalar",
                                        NULL};

static const struct assay_operation conv3d = {
    .name = "conv3d",
    .summary = "y = b + sum over kernel^3 taps and channels of w x, leaves of side^3 voxels",
    .dims = {[CONV_LEAVES] = {.name = "leaves",
                              .summary = "leaves of a batch",
                              .fallback = 64,
                              .min = 1,
                              .max = 1 << 20},
             [CONV_IN] =
                 {.name = "in", .summary = "channels of x", .fallback = 64, .min = 1, .max = 1024},
             [CONV_OUT] =
                 {.name = "out", .summary = "channels of y", .fallback = 64, .min = 1, .max = 1024},
             [CONV_SIDE] = {.name = "side",
                            .summary = "voxels along an edge of x",
                            .fallback = 4,
                            .min = 1,
                            .max = 32},
             [CONV_KERNEL] = {.name = "kernel",
                              .summary = "taps along an edge",
                              .fallback = 3,
                              .min = 1,
                              .max = 4},
             [CONV_STRIDE] = {.name = "stride",
                              .summary = "voxels of x from one of y to the next",
                              .fallback = 1,
                              .min = 1,
                              .max = 2},
             [CONV_TYPE] = {.name = "type",
                            .summary = "arithmetic of the products",
                            .choices = types,
                            .fallback = CONV_TF32}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(conv3d);
