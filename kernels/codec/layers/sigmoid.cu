/*
 * sigmoid.cu - the sigmoid on a GPU: `scalar` has one thread per number, `vec4` one per four.
 *
 * Bytes per number: 4 read, 4 written. Operations: about 10.
 */
#include "sigmoid.h"

constexpr int THREADS = 256;

static __device__ __forceinline__ float one(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static __global__ void __launch_bounds__(THREADS) scalar(const float *x, float *y, int64_t count)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = one(x[at]);
}

static __global__ void __launch_bounds__(THREADS) vec4(const float4 *x, float4 *y, int64_t count)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    const float4 v = x[at];
    y[at] = make_float4(one(v.x), one(v.y), one(v.z), one(v.w));
}

int sigmoid_enqueue(const float *x, float *y, int64_t count, void *stream)
{
    const unsigned blocks = (unsigned)((count / 4 + THREADS - 1) / THREADS);
    vec4<<<blocks, THREADS, 0, (cudaStream_t)stream>>>((const float4 *)x, (float4 *)y, count / 4);
    return assay_launched();
}

static int64_t count_of(const struct assay_call *call)
{
    return call->shape->value[SIGMOID_LEAVES] * LEAF_VOXELS;
}

static int launch_scalar(struct assay_call *call)
{
    const unsigned blocks = (unsigned)((count_of(call) + THREADS - 1) / THREADS);
    scalar<<<blocks, THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[SIGMOID_X], (float *)call->buffer[SIGMOID_Y], count_of(call));
    return assay_launched();
}

static int launch_vec4(struct assay_call *call)
{
    return sigmoid_enqueue((const float *)call->buffer[SIGMOID_X], (float *)call->buffer[SIGMOID_Y],
                           count_of(call), call->stream);
}

static const struct assay_variant variant_scalar = {
    .operation = "sigmoid",
    .name = "scalar",
    .summary = "one number per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(variant_scalar);

static const struct assay_variant variant_vec4 = {
    .operation = "sigmoid",
    .name = "vec4",
    .summary = "four numbers per thread, loads of 16 bytes",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_vec4,
};
ASSAY_REGISTER_VARIANT(variant_vec4);
