/*
 * unfused5.cu - five kernels, as an eager framework runs the formula: divide, add, round, clamp,
 * cast, each from memory to memory. Deliberately slow: it shows what fusing saves.
 *
 * Formula: fadd(fdiv(x, s), z), then rint, clamp, cast; NaN passes the clamp and becomes 0 in the
 * cast. The four intermediates are fp32, in the variant's own workspace (16 bytes per element).
 * Bytes per element, read and written: 8 + 8 + 8 + 8 + 5 = 37 for fp32, 35 for bf16, against 5 and
 * 3 fused. Operations: 1 division, 1 addition.
 *
 * Each kernel by itself is well written (4 elements per thread, coalesced). So the fused ones win
 * by bytes where memory is the limit, and by launches where it is not.
 */
#include "kernels/cuda/device_memory.h"
#include "int8.cuh"

enum { THREADS = 256, WIDTH = 4 };

/* Apply `step` to each of n elements. The workspace's arrays start on 16 bytes. */
template <typename T, typename Step>
static __device__ __forceinline__ void each(const T *__restrict__ in, float *__restrict__ out,
                                            int64_t n, Step step)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + WIDTH <= n) {
        float4 v = int8_load4(in + i);
        *(float4 *)(out + i) = make_float4(step(v.x), step(v.y), step(v.z), step(v.w));
        return;
    }
    for (; i < n; i++)
        out[i] = step(int8_float(in[i]));
}

template <typename T> static __global__ void divide(const T *in, float *out, int64_t n, float scale)
{
    each(in, out, n, [=](float v) { return __fdiv_rn(v, scale); });
}

static __global__ void add(const float *in, float *out, int64_t n, float zero)
{
    each(in, out, n, [=](float v) { return __fadd_rn(v, zero); });
}

static __global__ void round_even(const float *in, float *out, int64_t n)
{
    each(in, out, n, [](float v) { return rintf(v); });
}

static __global__ void clamp(const float *in, float *out, int64_t n)
{
    each(in, out, n, [](float v) { return v > 127.0f ? 127.0f : v < -128.0f ? -128.0f : v; });
}

static __global__ void cast(const float *in, int8_t *out, int64_t n)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + WIDTH <= n) {
        int8_store4(out + i, int8_pack(int8_load4(in + i)));
        return;
    }
    for (; i < n; i++)
        out[i] = int8_round(in[i]);
}

/* Elements of one intermediate, up to whole 256 bytes. */
static int64_t padded(int64_t n)
{
    return (n + 63) / 64 * 64;
}

static int setup(struct assay_call *call)
{
    size_t bytes = 4 * sizeof(float) * (size_t)padded(call->shape->value[DIM_N]);
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    int64_t n = call->shape->value[DIM_N];
    float scale = int8_scale(call->shape);
    float *quotient = (float *)call->state;
    float *sum = quotient + padded(n);
    float *rounded = sum + padded(n);
    float *clamped = rounded + padded(n);
    const void *x = call->buffer[BUF_X];
    unsigned blocks = int8_blocks(n, THREADS * WIDTH);
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (call->shape->value[DIM_INPUT] == INPUT_BF16)
        divide<<<blocks, THREADS, 0, stream>>>((const uint16_t *)x, quotient, n, scale);
    else
        divide<<<blocks, THREADS, 0, stream>>>((const float *)x, quotient, n, scale);
    add<<<blocks, THREADS, 0, stream>>>(quotient, sum, n, int8_zero(call->shape));
    round_even<<<blocks, THREADS, 0, stream>>>(sum, rounded, n);
    clamp<<<blocks, THREADS, 0, stream>>>(rounded, clamped, n);
    cast<<<blocks, THREADS, 0, stream>>>(clamped, (int8_t *)call->buffer[BUF_Y], n);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "unfused5",
    .summary = "five kernels through memory: divide, add, round, clamp, cast",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = int8_model_div,
};
ASSAY_REGISTER_VARIANT(variant);
