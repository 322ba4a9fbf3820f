/*
 * pixel_shuffle.cu - the pixel shuffle on a GPU.
 *
 *   scalar  one thread per number of y
 *   best    one thread per four numbers of a row of y, two each from two channels of x: two loads
 *           of 8 bytes and a store of 16
 *
 * Bytes per number: 4 read, 4 written. Operations: none.
 */
#include "pixel_shuffle.h"

constexpr int THREADS = 256;

/* The index in x of the number that becomes number `at` of y. */
static __device__ __forceinline__ int64_t source_of(const struct shuffle_job &job, int64_t at)
{
    const int side = job.side, edge = 2 * side, cube = edge * edge * edge;
    const int64_t channel = at / cube; /* and leaf */
    const int rest = (int)(at % cube), x = rest % edge, y = rest / edge % edge;
    const int z = rest / edge / edge, part = 4 * (z % 2) + 2 * (y % 2) + x % 2;
    return (channel * 8 + part) * (cube / 8) + (z / 2 * side + y / 2) * side + x / 2;
}

static __global__ void __launch_bounds__(THREADS)
    scalar(const float *__restrict__ x, float *__restrict__ y, struct shuffle_job job)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < job.numbers) y[at] = x[source_of(job, at)];
}

static __global__ void __launch_bounds__(THREADS)
    four(const float *__restrict__ x, float4 *__restrict__ y, struct shuffle_job job)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (4 * at >= job.numbers) return;
    const float *from = x + source_of(job, 4 * at);
    const float2 even = *(const float2 *)from;
    const float2 odd = *(const float2 *)(from + job.side * job.side * job.side);
    y[at] = make_float4(even.x, odd.x, even.y, odd.y);
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

int pixel_shuffle_enqueue(const struct shuffle_job *job, const float *x, float *y, void *stream)
{
    if (job->side % 2)
        scalar<<<blocks_for(job->numbers), THREADS, 0, (cudaStream_t)stream>>>(x, y, *job);
    else
        four<<<blocks_for(job->numbers / 4), THREADS, 0, (cudaStream_t)stream>>>(x, (float4 *)y,
                                                                                 *job);
    return assay_launched();
}

static int launch_scalar(struct assay_call *call)
{
    const struct shuffle_job job = shuffle_job(call->shape);
    scalar<<<blocks_for(job.numbers), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[SHUFFLE_X], (float *)call->buffer[SHUFFLE_Y], job);
    return assay_launched();
}

static int launch_best(struct assay_call *call)
{
    const struct shuffle_job job = shuffle_job(call->shape);
    return pixel_shuffle_enqueue(&job, (const float *)call->buffer[SHUFFLE_X],
                                 (float *)call->buffer[SHUFFLE_Y], call->stream);
}

static const char *supports_best(const struct assay_shape *shape)
{
    return shape->value[SHUFFLE_SIDE] % 2 ? "side is odd" : NULL;
}

static const struct assay_variant variant_scalar = {
    .operation = "pixel_shuffle",
    .name = "scalar",
    .summary = "one number of y per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(variant_scalar);

static const struct assay_variant variant_best = {
    .operation = "pixel_shuffle",
    .name = "best",
    .summary = "four numbers of y per thread, from two channels of x",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_best,
    .launch = launch_best,
};
ASSAY_REGISTER_VARIANT(variant_best);
