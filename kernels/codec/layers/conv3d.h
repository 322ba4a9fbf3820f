/*
 * conv3d.h - the dims and buffers of the operation `conv3d`, and its kernels for others.
 *
 * x is [leaves][in][side^3], y [leaves][out][result^3], voxels x fastest, with result = side /
 * stride. w is [kernel^3 taps, x fastest][in][out], b [out]. Padding: one zero before each edge;
 * none for kernel 1.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum conv_dim { CONV_LEAVES, CONV_IN, CONV_OUT, CONV_SIDE, CONV_KERNEL, CONV_STRIDE, CONV_TYPE };
enum conv_type { CONV_FP32, CONV_TF32 };
enum conv_buffer { CONV_X, CONV_W, CONV_B, CONV_Y };

/* The sizes that follow from a shape. */
struct conv_job {
    int64_t leaves;
    int in, out, side, kernel, stride;
    int result, pad; /* edge of a result's leaf; zeros before an edge */
    int unused;      /* no bytes without a value: a gate compares arguments whole */
};

static inline struct conv_job conv_job_of(int64_t leaves, int in, int out, int side, int kernel,
                                          int stride)
{
    struct conv_job job = {leaves, in, out, side, kernel, stride, side / stride, kernel > 1};
    return job;
}

static inline struct conv_job conv_job(const struct assay_shape *shape)
{
    const int64_t *v = shape->value;
    return conv_job_of(v[CONV_LEAVES], (int)v[CONV_IN], (int)v[CONV_OUT], (int)v[CONV_SIDE],
                       (int)v[CONV_KERNEL], (int)v[CONV_STRIDE]);
}

static inline int conv_voxels(const struct conv_job *job)
{
    return job->result * job->result * job->result;
}

static inline int conv_taps(const struct conv_job *job)
{
    return job->kernel * job->kernel * job->kernel;
}

/* How many products one number of the result is the sum of, borders included. */
static inline int conv_depth(const struct conv_job *job)
{
    return job->in * conv_taps(job);
}

/* assay_variant.supports of variants for one type. */
static inline const char *conv_only_fp32(const struct assay_shape *shape)
{
    return shape->value[CONV_TYPE] == CONV_FP32 ? NULL : "type fp32 only";
}

static inline const char *conv_only_tf32(const struct assay_shape *shape)
{
    return shape->value[CONV_TYPE] == CONV_TF32 ? NULL : "type tf32 only";
}

/* Enqueue on `stream`, a cudaStream_t, in fp32: one thread per voxel and eight channels. */
int conv3d_direct_enqueue(const struct conv_job *job, const float *x, const float *w,
                          const float *b, float *y, void *stream);

/* The same on tf32 tensor cores, for any shape. */
int conv3d_tf32_enqueue(const struct conv_job *job, const float *x, const float *w, const float *b,
                        float *y, void *stream);

/* Write the columns of leaves [first, first + count) of x: [leaf][depth][result^3], where
 * depth is [tap][in]. On the host and, enqueued on a cudaStream_t, on a GPU. */
void conv3d_columns(const struct conv_job *job, const float *x, int64_t first, int64_t count,
                    float *columns);
int conv3d_columns_enqueue(const struct conv_job *job, const float *x, int64_t first, int64_t count,
                           float *columns, void *stream);

/* Enqueue: y[leaf][channel][voxel] += b[channel]. */
int conv3d_bias_enqueue(const struct conv_job *job, const float *b, int64_t first, int64_t count,
                        float *y, void *stream);

#ifdef __cplusplus
}
#endif
