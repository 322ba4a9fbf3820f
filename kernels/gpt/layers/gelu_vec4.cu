/*
 * gelu_vec4.cu - one float4 per thread, and gelu as x / (1 + exp(-2 z)): the same function, with
 * the approximate exponential and division of the hardware.
 *
 * Bytes per element: 4 read, 4 written. Operations: 8 and two approximations. The exponent 2 z
 * log2(e) is off by the roundings of z times |2 z|; for x < 0 the factor exp(-2 |z|) outweighs
 * that, so the result stays within the operation's bound everywhere.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    gelu(const float *__restrict__ x, float *__restrict__ y, int64_t n)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + 4 <= n) {
        float4 v = *(const float4 *)(x + i);
        *(float4 *)(y + i) = make_float4(gpt_gelu_fast(v.x), gpt_gelu_fast(v.y), gpt_gelu_fast(v.z),
                                         gpt_gelu_fast(v.w));
        return;
    }
    for (; i < n; i++)
        y[i] = gpt_gelu_fast(x[i]);
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[GELU_N];
    gelu<<<gpt_blocks(n, 4 * THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[GELU_X], (float *)call->buffer[GELU_Y], n);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "gelu",
    .name = "vec4",
    .summary = "one float4 per thread, x / (1 + exp(-2 z))",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
