/*
 * channel_attention.cu - channel attention on a GPU.
 *
 *   split  three kernels, as a framework runs it: means, factors, product
 *   best   one kernel, one block per leaf: for the product x is read again, from L1 or L2
 *
 * Bytes per number: 4 read (and 4 from cache for the product), 4 written.
 */
#include "kernels/cuda/device_memory.h"
#include "channel_attention.h"

constexpr int THREADS = 256, WARPS = THREADS / 32;

static __device__ __forceinline__ float warp_mean(const float *__restrict__ x, int voxels)
{
    float sum = 0.0f;
    for (int v = threadIdx.x % 32; v < voxels; v += 32)
        sum += x[v];
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    return sum / (float)voxels;
}

/* The factors of a leaf from its means, all in shared memory. Needs a barrier before; ends with
 * one. */
static __device__ __forceinline__ void gate(const struct attention_job &job, const float *mean,
                                            float *hidden, float *factor)
{
    for (int h = threadIdx.x; h < job.hidden; h += THREADS) {
        float value = job.s_bias[h];
        for (int c = 0; c < job.channels; c++)
            value = fmaf(mean[c], job.s[c * job.hidden + h], value);
        hidden[h] = fmaxf(value, 0.0f);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < job.channels; c += THREADS) {
        float value = job.e_bias[c];
        for (int h = 0; h < job.hidden; h++)
            value = fmaf(hidden[h], job.e[h * job.channels + c], value);
        factor[c] = 1.0f / (1.0f + expf(-value));
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS) fused(struct attention_job job)
{
    __shared__ float mean[ATTENTION_MOST_CHANNELS], factor[ATTENTION_MOST_CHANNELS];
    __shared__ float hidden[ATTENTION_MOST_CHANNELS / ATTENTION_SQUEEZE];
    const int numbers = job.channels * job.voxels;
    const float *x = job.x + (int64_t)blockIdx.x * numbers;
    float *y = job.y + (int64_t)blockIdx.x * numbers;
    for (int c = threadIdx.x / 32; c < job.channels; c += WARPS) {
        const float value = warp_mean(x + c * job.voxels, job.voxels);
        if (threadIdx.x % 32 == 0) mean[c] = value;
    }
    __syncthreads();
    gate(job, mean, hidden, factor);
    if (job.voxels % 4) {
        for (int i = threadIdx.x; i < numbers; i += THREADS)
            y[i] = x[i] * factor[i / job.voxels];
        return;
    }
    for (int i = threadIdx.x; i < numbers / 4; i += THREADS) {
        const float4 v = ((const float4 *)x)[i];
        const float by = factor[4 * i / job.voxels];
        ((float4 *)y)[i] = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
    }
}

/* ----------------------------------------------------------------- split -- */

static __global__ void __launch_bounds__(THREADS)
    means(struct attention_job job, float *__restrict__ mean)
{
    const int64_t channel = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (channel >= job.leaves * job.channels) return;
    const float value = warp_mean(job.x + channel * job.voxels, job.voxels);
    if (threadIdx.x % 32 == 0) mean[channel] = value;
}

static __global__ void __launch_bounds__(THREADS)
    factors(struct attention_job job, const float *__restrict__ mean, float *__restrict__ factor)
{
    __shared__ float of_leaf[ATTENTION_MOST_CHANNELS];
    __shared__ float hidden[ATTENTION_MOST_CHANNELS / ATTENTION_SQUEEZE];
    for (int c = threadIdx.x; c < job.channels; c += THREADS)
        of_leaf[c] = mean[(int64_t)blockIdx.x * job.channels + c];
    __syncthreads();
    gate(job, of_leaf, hidden, factor + (int64_t)blockIdx.x * job.channels);
}

static __global__ void __launch_bounds__(THREADS)
    product(struct attention_job job, const float *__restrict__ factor, int64_t numbers)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < numbers) job.y[i] = job.x[i] * factor[i / job.voxels];
}

/* ---------------------------------------------------------------- launch -- */

int channel_attention_enqueue(const struct attention_job *job, void *stream)
{
    fused<<<(unsigned)job->leaves, THREADS, 0, (cudaStream_t)stream>>>(*job);
    return assay_launched();
}

static int launch_best(struct assay_call *call)
{
    const struct attention_job job = attention_job(call);
    return channel_attention_enqueue(&job, call->stream);
}

/* Means, then factors, of every channel. */
static int setup_split(struct assay_call *call)
{
    const struct attention_job job = attention_job(call);
    const size_t bytes = 2 * sizeof(float) * (size_t)(job.leaves * job.channels);
    call->workspace_bytes += (int64_t)bytes;
    return assay_cuda(cudaMalloc(&call->state, bytes), "means and factors");
}

static int launch_split(struct assay_call *call)
{
    const struct attention_job job = attention_job(call);
    const cudaStream_t stream = (cudaStream_t)call->stream;
    const int64_t channels = job.leaves * job.channels, numbers = channels * job.voxels;
    float *mean = (float *)call->state, *factor = mean + channels;
    means<<<(unsigned)((channels + WARPS - 1) / WARPS), THREADS, 0, stream>>>(job, mean);
    factors<<<(unsigned)job.leaves, THREADS, 0, stream>>>(job, mean, factor);
    product<<<(unsigned)((numbers + THREADS - 1) / THREADS), THREADS, 0, stream>>>(job, factor,
                                                                                   numbers);
    return assay_launched();
}

static const struct assay_variant variant_split = {
    .operation = "channel_attention",
    .name = "split",
    .summary = "means, factors and product in three kernels",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .setup = setup_split,
    .launch = launch_split,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant_split);

static const struct assay_variant variant_best = {
    .operation = "channel_attention",
    .name = "best",
    .summary = "one kernel, one leaf per block, the product by loads of 16 bytes",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_best,
};
ASSAY_REGISTER_VARIANT(variant_best);
