/*
 * residual_add.cu - the sum with one element of each operand per thread, and with one float4.
 *
 * Bytes per element: 8 read, 4 written. Operations: 1.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    residual_scalar(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
                    int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}

static __global__ void __launch_bounds__(THREADS)
    residual_vec4(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
                  int64_t n)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + 4 <= n) {
        float4 p = *(const float4 *)(a + i), q = *(const float4 *)(b + i);
        *(float4 *)(y + i) = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
        return;
    }
    for (; i < n; i++)
        y[i] = a[i] + b[i];
}

static int launch_scalar(struct assay_call *call)
{
    int64_t n = call->shape->value[RESIDUAL_N];
    residual_scalar<<<gpt_blocks(n, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[RESIDUAL_A], (const float *)call->buffer[RESIDUAL_B],
        (float *)call->buffer[RESIDUAL_Y], n);
    return assay_launched();
}

static int launch_vec4(struct assay_call *call)
{
    int64_t n = call->shape->value[RESIDUAL_N];
    residual_vec4<<<gpt_blocks(n, 4 * THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[RESIDUAL_A], (const float *)call->buffer[RESIDUAL_B],
        (float *)call->buffer[RESIDUAL_Y], n);
    return assay_launched();
}

static const struct assay_variant scalar = {
    .operation = "residual_add",
    .name = "scalar",
    .summary = "one element per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant vec4 = {
    .operation = "residual_add",
    .name = "vec4",
    .summary = "one float4 per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_vec4,
};
ASSAY_REGISTER_VARIANT(vec4);
