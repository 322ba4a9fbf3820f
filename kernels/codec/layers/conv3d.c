/*
 * conv3d.c - operation `conv3d`: a three-dimensional convolution of leaves.
 *
 *   y[l][o][v] = b[o] + sum over taps t and channels i of w[t][i][o] x[l][i][v stride + t - pad]
 *
 * Bytes: x, w and b read, y written, 4 each. Operations: 2 * kernel^3 * in per number of y, in the
 * arithmetic that `type` names. As is usual, that includes the products with the border's zeros, so
 * a kernel that leaves them out may exceed the ceiling.
 *
 * Bound: that of a sum of d products and the bias (kernels/product.h), in tf32 with operands that
 * are rounded or cut off.
 *
 * Freivalds' check of y [leaves * out, voxels]: one leaf is w^T [out, d] times its columns [d,
 * voxels], so that a leaf takes d (out + voxels).
 */
#include <math.h>
#include <stdlib.h>

#include "conv3d.h"
#include "kernels/product.h"

enum { CONV_MOST_CHANNELS = 1024 };

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

static void add_tap(const struct conv_job *job, const float *x, const float *w,
                    struct product_sum *sum)
{
    const int voxels = job->side * job->side * job->side;
    for (int i = 0; i < job->in; i++)
        product_add(sum, (double)x[(int64_t)i * voxels] * (double)w[(int64_t)i * job->out]);
}

static void one(const struct conv_job *job, const void *const in[], int64_t at,
                struct product_sum *sum)
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
    const double terms = conv_depth(&job) + 1;
    for (int64_t at = begin; at < end; at++) {
        struct product_sum sum = {0};
        one(&job, in, at, &sum);
        const double products = sum.value, squares = sum.squares;
        product_add(&sum, (double)((const float *)in[CONV_B])[at / conv_voxels(&job) % job.out]);
        expected[at - begin] = sum.value;
        bound[at - begin] = product_bound(PRODUCT_FP32, terms, &sum);
        if (shape->value[CONV_TYPE] == CONV_TF32)
            bound[at - begin] = product_bound(PRODUCT_TENSOR, terms, &sum) +
                                product_tf32(fabs(products), sqrt(squares));
    }
    return 0;
}

/* ------------------------------------------------------- Freivalds' check */

static int64_t product_columns(const struct assay_shape *shape, int buffer)
{
    const struct conv_job job = conv_job(shape);
    return conv_voxels(&job);
}

/* One leaf: `columns` has room for depth * voxels. Sums as those of product_rows. */
static void check_leaf(const struct conv_job *job, const void *const in[], int64_t leaf,
                       float *columns, const double *sign, double *expected, double *d2)
{
    const int voxels = conv_voxels(job);
    double mean[CONV_MOST_CHANNELS] = {0};
    conv3d_columns(job, in[CONV_X], leaf, 1, columns);
    for (int o = 0; o < job->out; o++)
        expected[o] = d2[o] = 0;
    for (int t = 0; t < conv_depth(job); t++) {
        const float *w = (const float *)in[CONV_W] + (int64_t)t * job->out;
        double with_sign = 0, plain = 0, squares = 0;
        for (int v = 0; v < voxels; v++) {
            const double x = (double)columns[(int64_t)t * voxels + v];
            with_sign += sign[v] * x;
            plain += x;
            squares += x * x;
        }
        for (int o = 0; o < job->out; o++) {
            expected[o] += (double)w[o] * with_sign;
            mean[o] += (double)w[o] * plain;
            d2[o] += 2 * (double)w[o] * (double)w[o] * squares;
        }
    }
    for (int o = 0; o < job->out; o++)
        d2[o] += mean[o] * mean[o] / voxels;
}

/* From the sum of D^2 of a row's products to its bound. */
static double row_bound(const struct assay_shape *shape, double products, double d2, double bias2)
{
    const struct conv_job job = conv_job(shape);
    const double terms = conv_depth(&job) + 1;
    if (shape->value[CONV_TYPE] == CONV_FP32)
        return product_row_bound(PRODUCT_FP32, terms, 0, d2 + bias2);
    return product_row_bound(PRODUCT_TENSOR, terms, 0, d2 + bias2) +
           product_tf32(fabs(products), sqrt(d2));
}

/* From sums of products to the rows of a leaf. */
static void finish_leaf(const struct assay_shape *shape, const float *bias, double signs,
                        double *expected, double *bound)
{
    const struct conv_job job = conv_job(shape);
    for (int o = 0; o < job.out; o++) {
        const double b = (double)bias[o];
        bound[o] = row_bound(shape, expected[o], bound[o], 2 * conv_voxels(&job) * b * b);
        expected[o] += signs * b;
    }
}

static int product_check(const struct assay_shape *shape, const void *const in[], int buffer,
                         const double *sign, double *expected, double *bound)
{
    const struct conv_job job = conv_job(shape);
    const size_t size = (size_t)conv_depth(&job) * (size_t)conv_voxels(&job);
    double signs = 0;
    int failed = 0;
    for (int v = 0; v < conv_voxels(&job); v++)
        signs += sign[v];
#pragma omp parallel reduction(| : failed)
    {
        float *columns = malloc(size * sizeof *columns);
        failed |= columns == NULL;
#pragma omp for schedule(static)
        for (int64_t leaf = 0; leaf < job.leaves; leaf++) {
            double *mine = expected + leaf * job.out, *allowed = bound + leaf * job.out;
            if (columns == NULL) continue;
            check_leaf(&job, in, leaf, columns, sign, mine, allowed);
            finish_leaf(shape, in[CONV_B], signs, mine, allowed);
        }
        free(columns);
    }
    return failed ? assay_error("out of host memory for the check of a product") : 0;
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
             [CONV_OUT] = {.name = "out",
                           .summary = "channels of y",
                           .fallback = 64,
                           .min = 1,
                           .max = CONV_MOST_CHANNELS},
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
    .product_columns = product_columns,
    .product_check = product_check,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(conv3d);
