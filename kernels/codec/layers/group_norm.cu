/*
 * group_norm.cu - group norm and ReLU in one kernel, one block per group.
 *
 *   threepass  reads the group for the mean, for the variance and for the result
 *   best       reads it once into registers, 16 bytes per load: a warp for a group of up to 1024
 *              numbers, 128 threads for one of up to 4096
 *
 * The variance is computed after the mean is subtracted: a plain sum of squares would lose it where
 * the mean is large.
 * Bytes per number: 4 read (threepass: 12, the last 8 from cache), 4 written.
 */
#include "group_norm.h"

enum { HELD = 8 }; /* loads of 16 bytes that a thread of `best` holds */

/* The sum over all threads of a block, returned in every thread; at most 128 threads. */
template <int THREADS> static __device__ __forceinline__ float block_sum(float value)
{
    __shared__ float part[THREADS / 32];
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    if (THREADS == 32) return value;
    __syncthreads(); /* all threads have read the parts of the last sum */
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
#pragma unroll
    for (int i = 1; i < THREADS / 32; i++)
        value += part[i];
    return value;
}

static __device__ __forceinline__ float norm_one(float centred, float scale, float gamma,
                                                 float beta)
{
    return fmaxf(fmaf(centred * scale, gamma, beta), 0.0f);
}

/* The first channel of the block's group. */
static __device__ __forceinline__ int first_channel(const struct norm_job &job)
{
    return (int)(blockIdx.x % (unsigned)job.groups_per_leaf) * job.channels_per_group;
}

/* ------------------------------------------------------------- threepass -- */

enum { PASS_THREADS = 128 };

static __global__ void __launch_bounds__(PASS_THREADS)
    threepass(const float *__restrict__ x, const float *__restrict__ gamma,
              const float *__restrict__ beta, float *__restrict__ y, struct norm_job job)
{
    const int64_t base = (int64_t)blockIdx.x * job.length;
    const int first = first_channel(job);
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < job.length; i += PASS_THREADS)
        sum += x[base + i];
    const float mean = block_sum<PASS_THREADS>(sum) / (float)job.length;
    for (int i = threadIdx.x; i < job.length; i += PASS_THREADS) {
        float centred = x[base + i] - mean;
        squares += centred * centred;
    }
    const float variance = block_sum<PASS_THREADS>(squares) / (float)job.length;
    const float scale = rsqrtf(variance + (float)NORM_EPSILON);
    for (int i = threadIdx.x; i < job.length; i += PASS_THREADS) {
        const int channel = first + i / job.voxels;
        y[base + i] = norm_one(x[base + i] - mean, scale, gamma[channel], beta[channel]);
    }
}

/* ------------------------------------------------------------------ best -- */

template <int THREADS>
static __global__ void __launch_bounds__(THREADS, 512 / THREADS)
    held(const float4 *__restrict__ x, const float *__restrict__ gamma,
         const float *__restrict__ beta, float4 *__restrict__ y, struct norm_job job)
{
    const int pieces = job.length / 4, first = first_channel(job);
    const float4 *in = x + (int64_t)blockIdx.x * pieces;
    float4 *out = y + (int64_t)blockIdx.x * pieces;
    float4 v[HELD];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int i = k * THREADS + threadIdx.x;
        v[k] = i < pieces ? in[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int k = 0; k < HELD; k++)
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    const float mean = block_sum<THREADS>(sum) / (float)job.length;
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        if (k * THREADS + (int)threadIdx.x >= pieces) continue;
        v[k] = make_float4(v[k].x - mean, v[k].y - mean, v[k].z - mean, v[k].w - mean);
        squares += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);
    }
    const float variance = block_sum<THREADS>(squares) / (float)job.length;
    const float scale = rsqrtf(variance + (float)NORM_EPSILON);
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int i = k * THREADS + threadIdx.x;
        if (i >= pieces) continue;
        /* A piece of four numbers is in one channel, because voxels are a multiple of four. */
        const int channel = first + 4 * i / job.voxels;
        const float a = gamma[channel], b = beta[channel];
        out[i] = make_float4(norm_one(v[k].x, scale, a, b), norm_one(v[k].y, scale, a, b),
                             norm_one(v[k].z, scale, a, b), norm_one(v[k].w, scale, a, b));
    }
}

/* ---------------------------------------------------------------- launch -- */

static const char *supports_best(const struct assay_shape *shape)
{
    if (shape->value[NORM_VOXELS] % 4) return "voxels must be a multiple of 4";
    if (norm_job(shape).length > HELD * 4 * 128) return "a group has more than 4096 numbers";
    return NULL;
}

static int launch_threepass(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
    threepass<<<(unsigned)job.groups, PASS_THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[NORM_X], (const float *)call->buffer[NORM_GAMMA],
        (const float *)call->buffer[NORM_BETA], (float *)call->buffer[NORM_Y], job);
    return assay_launched();
}

int group_norm_relu_enqueue(const struct norm_job *job, const float *x, const float *gamma,
                            const float *beta, float *y, void *stream)
{
    const unsigned groups = (unsigned)job->groups;
    if (job->length <= HELD * 4 * 32)
        held<32><<<groups, 32, 0, (cudaStream_t)stream>>>((const float4 *)x, gamma, beta,
                                                          (float4 *)y, *job);
    else
        held<128><<<groups, 128, 0, (cudaStream_t)stream>>>((const float4 *)x, gamma, beta,
                                                            (float4 *)y, *job);
    return assay_launched();
}

static int launch_best(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
    return group_norm_relu_enqueue(
        &job, (const float *)call->buffer[NORM_X], (const float *)call->buffer[NORM_GAMMA],
        (const float *)call->buffer[NORM_BETA], (float *)call->buffer[NORM_Y], call->stream);
}

static const struct assay_variant variant_threepass = {
    .operation = "group_norm_relu",
    .name = "threepass",
    .summary = "one group per block, which reads it three times",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_threepass,
};
ASSAY_REGISTER_VARIANT(variant_threepass);

static const struct assay_variant variant_best = {
    .operation = "group_norm_relu",
    .name = "best",
    .summary = "a warp or 128 threads per group, which they hold in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_best,
    .launch = launch_best,
};
ASSAY_REGISTER_VARIANT(variant_best);
