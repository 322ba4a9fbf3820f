/*
 * gelu_scalar.cu - one element per thread, by the formula of the operation with tanhf.
 *
 * Bytes per element: 4 read, 4 written. Operations: 8 and tanhf.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    gelu(const float *__restrict__ x, float *__restrict__ y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float z = GPT_GELU_SCALE * (v + GPT_GELU_CUBE * v * v * v);
    y[i] = 0.5f * v * (1.0f + tanhf(z));
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[GELU_N];
    gelu<<<gpt_blocks(n, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[GELU_X], (float *)call->buffer[GELU_Y], n);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "gelu",
    .name = "scalar",
    .summary = "one element per thread, tanhf",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
