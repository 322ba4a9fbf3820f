/*
 * residual_scalar.cu - one element per thread.
 *
 * Bytes per element: 8 read, 4 written. Operations: 1.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    residual(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y,
             int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[RESIDUAL_N];
    residual<<<gpt_blocks(n, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[RESIDUAL_A], (const float *)call->buffer[RESIDUAL_B],
        (float *)call->buffer[RESIDUAL_Y], n);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "residual_add",
    .name = "scalar",
    .summary = "one element per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
