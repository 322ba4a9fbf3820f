// Ten kernels on f32, launched by the variant `c` of this file, and from Python by ten.py, which
// loads them from a cubin of the same source (-DKERNELS_ONLY). In the order of ten.py's list.
#define KERNEL(name, ...)                                                                          \
    extern "C" __global__ void name(const float *x, float *out, long long n)                       \
    {                                                                                              \
        long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                            \
        if (i >= n) return;                                                                        \
        [[maybe_unused]] float v = x[i];                                                           \
        out[i] = (__VA_ARGS__);                                                                    \
    }

KERNEL(copy, v)
KERNEL(scale, 2.5f * v)
KERNEL(relu, fmaxf(v, 0.0f))
KERNEL(square, v *v)
KERNEL(sigmoid, 1.0f / (1.0f + expf(-v)))
KERNEL(gelu, 0.5f * v * (1.0f + erff(0.70710678f * v)))
KERNEL(softplus, log1pf(expf(v)))
KERNEL(reverse, x[n - 1 - i])
KERNEL(neighbours, 0.5f * (v + x[i + 1 < n ? i + 1 : 0]))

// The sum of its block of 256, in each of its elements. n is a multiple of 256.
extern "C" __global__ void block_sum(const float *x, float *out, long long n)
{
    __shared__ float sum[256];
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    sum[threadIdx.x] = x[i];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    __syncthreads();
    out[i] = sum[0];
}

#ifndef KERNELS_ONLY
#include "assay.h"

static int launch(struct assay_call *call)
{
    static void (*const kernels[])(const float *, float *, long long) = {
        copy, scale, relu, square, sigmoid, gelu, softplus, reverse, neighbours, block_sum};
    int64_t kernel = call->shape->value[0], n = call->shape->value[1];
    kernels[kernel]<<<(unsigned)((n + 255) / 256), 256, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[0], (float *)call->buffer[1], n);
    return assay_launched();
}

static const struct assay_variant in_c = {
    .operation = "ten",
    .name = "c",
    .summary = "launched by C",
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(in_c);
#endif
