/*
 * conv3d_host.c - `conv3d` on the host.
 *
 *   host_scalar  the formula, on one core
 *   host_omp     all cores; one number of x times the weights of sixteen channels, in vector units
 *
 * Also the columns of im2col. Operations: 2 * kernel^3 * in per number of y.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#define WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST
#endif

#include <string.h>

#include "conv3d.h"

enum { BLOCK = 16 };

/* The index in its leaf of x of the voxel under a tap, or -1 outside the leaf. */
static int place_of(const struct conv_job *job, int voxel, int tap)
{
    const int r = job->result, k = job->kernel, side = job->side;
    const int x = voxel % r * job->stride + tap % k - job->pad;
    const int y = voxel / r % r * job->stride + tap / k % k - job->pad;
    const int z = voxel / r / r * job->stride + tap / k / k - job->pad;
    if (x < 0 || x >= side || y < 0 || y >= side || z < 0 || z >= side) return -1;
    return (z * side + y) * side + x;
}

static int volume_of(const struct conv_job *job)
{
    return job->side * job->side * job->side;
}

void conv3d_columns(const struct conv_job *job, const float *x, int64_t first, int64_t count,
                    float *columns)
{
    const int voxels = conv_voxels(job), volume = volume_of(job), in = job->in;
    const int64_t taps = count * conv_taps(job);
#pragma omp parallel for schedule(static) if (taps * in * voxels > 1 << 16)
    for (int64_t at = 0; at < taps; at++) {
        const float *from = x + (first + at / conv_taps(job)) * in * volume;
        float *to = columns + at * in * voxels;
        for (int voxel = 0; voxel < voxels; voxel++) {
            const int place = place_of(job, voxel, (int)(at % conv_taps(job)));
            for (int i = 0; i < in; i++)
                to[i * voxels + voxel] = place < 0 ? 0.0f : from[i * volume + place];
        }
    }
}

/* Up to BLOCK channels of one voxel. */
WIDEST static void sum_block(const struct conv_job *job, const float *x, const float *w, int voxel,
                             int channels, float sum[BLOCK])
{
    const int volume = volume_of(job);
    memset(sum, 0, BLOCK * sizeof *sum);
    for (int tap = 0; tap < conv_taps(job); tap++) {
        const int place = place_of(job, voxel, tap);
        if (place < 0) continue;
        const float *weight = w + (int64_t)tap * job->in * job->out;
        for (int i = 0; i < job->in; i++, weight += job->out) {
            const float value = x[(int64_t)i * volume + place];
            if (channels == BLOCK)
                for (int c = 0; c < BLOCK; c++)
                    sum[c] += value * weight[c];
            else
                for (int c = 0; c < channels; c++)
                    sum[c] += value * weight[c];
        }
    }
}

static void leaf_of(struct assay_call *call, const struct conv_job *job, int64_t leaf, int width)
{
    const int voxels = conv_voxels(job);
    const float *x = (const float *)call->buffer[CONV_X] + leaf * job->in * volume_of(job);
    const float *w = call->buffer[CONV_W], *b = call->buffer[CONV_B];
    float *y = (float *)call->buffer[CONV_Y] + leaf * job->out * voxels;
    for (int first = 0; first < job->out; first += width) {
        const int channels = job->out - first < width ? job->out - first : width;
        for (int voxel = 0; voxel < voxels; voxel++) {
            float sum[BLOCK];
            sum_block(job, x, w + first, voxel, channels, sum);
            for (int c = 0; c < channels; c++)
                y[(first + c) * voxels + voxel] = sum[c] + b[first + c];
        }
    }
}

static int launch_scalar(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
    for (int64_t leaf = 0; leaf < job.leaves; leaf++)
        leaf_of(call, &job, leaf, 1);
    return 0;
}

static int launch_omp(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
#pragma omp parallel for schedule(dynamic) if (job.leaves > 1)
    for (int64_t leaf = 0; leaf < job.leaves; leaf++)
        leaf_of(call, &job, leaf, BLOCK);
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "conv3d",
    .name = "host_scalar",
    .summary = "one number of y after another, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .supports = conv_only_fp32,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "conv3d",
    .name = "host_omp",
    .summary = "one leaf per core, sixteen channels in vector units",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = conv_only_fp32,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
