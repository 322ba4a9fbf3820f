/*
 * gelu.cu - gelu with one element per thread, and with one float4.
 *
 *   scalar  the formula of the operation, with tanhf. Operations: 8 and tanhf
 *   vec4    x / (1 + exp(-2 z)), the same function, with the approximate exponential and division
 *           of the hardware. Operations: 8 and two approximations. The exponent 2 z log2(e) is off
 *           by the roundings of z times |2 z|; for x < 0 the factor exp(-2 |z|) outweighs that, so
 *           the result stays within the operation's bound everywhere
 *
 * Bytes per element: 4 read, 4 written.
 */
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    gelu_scalar(const float *__restrict__ x, float *__restrict__ y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float z = GPT_GELU_SCALE * (v + GPT_GELU_CUBE * v * v * v);
    y[i] = 0.5f * v * (1.0f + tanhf(z));
}

static __global__ void __launch_bounds__(THREADS)
    gelu_vec4(const float *__restrict__ x, float *__restrict__ y, int64_t n)
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

static int launch_scalar(struct assay_call *call)
{
    int64_t n = call->shape->value[GELU_N];
    gelu_scalar<<<gpt_blocks(n, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[GELU_X], (float *)call->buffer[GELU_Y], n);
    return assay_launched();
}

static int launch_vec4(struct assay_call *call)
{
    int64_t n = call->shape->value[GELU_N];
    gelu_vec4<<<gpt_blocks(n, 4 * THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[GELU_X], (float *)call->buffer[GELU_Y], n);
    return assay_launched();
}

static const struct assay_variant scalar = {
    .operation = "gelu",
    .name = "scalar",
    .summary = "one element per thread, tanhf",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant vec4 = {
    .operation = "gelu",
    .name = "vec4",
    .summary = "one float4 per thread, x / (1 + exp(-2 z))",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch_vec4,
};
ASSAY_REGISTER_VARIANT(vec4);
