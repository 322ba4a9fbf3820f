/*
 * conv3d_direct.cu - direct convolution in fp32. A thread sums eight channels of one voxel, so that
 * a number of x is loaded once for eight products. The eight weights are the same for all threads
 * of a warp.
 *
 * Also im2col (the columns) and the bias kernel, which the baseline uses around a library's
 * product.
 *
 * Operations: 2 * kernel^3 * in per number of y. Bytes: those of the operation; x is read kernel^3
 * * out / 8 times, from cache.
 */
#include "conv3d.h"

enum { DIRECT_THREADS = 128, DIRECT_CHANNELS = 8 };

/* The index in its leaf of x of the voxel under a tap, or -1 outside the leaf. */
static __device__ __forceinline__ int place_of(const struct conv_job &job, int voxel, int tap)
{
    const int r = job.result, k = job.kernel, side = job.side;
    const int x = voxel % r * job.stride + tap % k - job.pad;
    const int y = voxel / r % r * job.stride + tap / k % k - job.pad;
    const int z = voxel / r / r * job.stride + tap / k / k - job.pad;
    const bool inside = (unsigned)x < (unsigned)side && (unsigned)y < (unsigned)side &&
                        (unsigned)z < (unsigned)side;
    return inside ? (z * side + y) * side + x : -1;
}

/* Grid: x counts pieces of DIRECT_THREADS voxels over all leaves, y eight channels of the result.
 */
static __global__ void __launch_bounds__(DIRECT_THREADS)
    direct(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b,
           float *__restrict__ y, struct conv_job job)
{
    const int voxels = job.result * job.result * job.result;
    const int volume = job.side * job.side * job.side, taps = job.kernel * job.kernel * job.kernel;
    const int64_t at = (int64_t)blockIdx.x * DIRECT_THREADS + threadIdx.x;
    const int first = blockIdx.y * DIRECT_CHANNELS;
    if (at >= job.leaves * voxels) return;
    const int voxel = (int)(at % voxels);
    const int64_t leaf = at / voxels;
    const int wanted = min(DIRECT_CHANNELS, job.out - first);
    float sum[DIRECT_CHANNELS] = {};
    for (int tap = 0; tap < taps; tap++) {
        const int place = place_of(job, voxel, tap);
        if (place < 0) continue;
        const float *from = x + leaf * job.in * volume + place;
        const float *weight = w + (int64_t)tap * job.in * job.out + first;
        for (int i = 0; i < job.in; i++, from += volume, weight += job.out) {
            const float value = *from;
#pragma unroll
            for (int c = 0; c < DIRECT_CHANNELS; c++)
                if (c < wanted) sum[c] = fmaf(value, weight[c], sum[c]);
        }
    }
#pragma unroll
    for (int c = 0; c < DIRECT_CHANNELS; c++)
        if (c < wanted) y[(leaf * job.out + first + c) * voxels + voxel] = sum[c] + b[first + c];
}

static __global__ void __launch_bounds__(DIRECT_THREADS)
    columns_of(const float *__restrict__ x, float *__restrict__ columns, int64_t count,
               struct conv_job job)
{
    const int voxels = job.result * job.result * job.result;
    const int volume = job.side * job.side * job.side;
    const int depth = job.in * job.kernel * job.kernel * job.kernel;
    const int64_t at = (int64_t)blockIdx.x * DIRECT_THREADS + threadIdx.x;
    if (at >= count * depth * voxels) return;
    const int voxel = (int)(at % voxels), row = (int)(at / voxels % depth);
    const int64_t leaf = at / voxels / depth;
    const int place = place_of(job, voxel, row / job.in);
    columns[at] = place < 0 ? 0.0f : x[(leaf * job.in + row % job.in) * volume + place];
}

static __global__ void __launch_bounds__(DIRECT_THREADS)
    add_bias(const float *__restrict__ b, float *__restrict__ y, int64_t numbers, int voxels,
             int channels)
{
    const int64_t at = (int64_t)blockIdx.x * DIRECT_THREADS + threadIdx.x;
    if (at < numbers) y[at] += b[at / voxels % channels];
}

/* ---------------------------------------------------------------- launch -- */

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + DIRECT_THREADS - 1) / DIRECT_THREADS);
}

int conv3d_direct_enqueue(const struct conv_job *job, const float *x, const float *w,
                          const float *b, float *y, void *stream)
{
    const dim3 grid(blocks_for(job->leaves * conv_voxels(job)),
                    (unsigned)((job->out + DIRECT_CHANNELS - 1) / DIRECT_CHANNELS));
    direct<<<grid, DIRECT_THREADS, 0, (cudaStream_t)stream>>>(x, w, b, y, *job);
    return assay_launched();
}

int conv3d_columns_enqueue(const struct conv_job *job, const float *x, int64_t first, int64_t count,
                           float *columns, void *stream)
{
    const int64_t volume = (int64_t)job->side * job->side * job->side;
    columns_of<<<blocks_for(count * conv_depth(job) * conv_voxels(job)), DIRECT_THREADS, 0,
                 (cudaStream_t)stream>>>(x + first * job->in * volume, columns, count, *job);
    return assay_launched();
}

int conv3d_bias_enqueue(const struct conv_job *job, const float *b, int64_t first, int64_t count,
                        float *y, void *stream)
{
    const int64_t leaf = (int64_t)job->out * conv_voxels(job);
    add_bias<<<blocks_for(count * leaf), DIRECT_THREADS, 0, (cudaStream_t)stream>>>(
        b, y + first * leaf, count * leaf, conv_voxels(job), job->out);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
    return conv3d_direct_enqueue(
        &job, (const float *)call->buffer[CONV_X], (const float *)call->buffer[CONV_W],
        (const float *)call->buffer[CONV_B], (float *)call->buffer[CONV_Y], call->stream);
}

static const struct assay_variant variant = {
    .operation = "conv3d",
    .name = "direct",
    .summary = "fp32, a voxel and eight channels per thread, all from cache",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = conv_only_fp32,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
