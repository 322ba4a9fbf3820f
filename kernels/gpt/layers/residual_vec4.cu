/*
 * residual_vec4.cu - each thread adds one float4 of each operand.
 *
 * Bytes per element: 8 read, 4 written. Operations: 1.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    residual(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
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

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[RESIDUAL_N];
    residual<<<gpt_blocks(n, 4 * THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[RESIDUAL_A], (const float *)call->buffer[RESIDUAL_B],
        (float *)call->buffer[RESIDUAL_Y], n);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "residual_add",
    .name = "vec4",
    .summary = "one float4 per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
