/*
 * arithmetic_fma.cu - N chains per thread in registers. Their N multiply-adds are independent, and
 * N is chosen to hide the latency of one.
 *
 * Operations: 2 * iterations * chains, all FFMA. Bytes: 8 per chain.
 */
#include <cuda_runtime.h>

#include "arithmetic.h"

enum { THREADS = 128 };

template <int N>
static __global__ void __launch_bounds__(THREADS)
    fma_chains(float *__restrict__ out, const float *__restrict__ in, int64_t chains,
               int iterations)
{
    const int64_t first = (int64_t)blockIdx.x * (THREADS * N) + threadIdx.x;
    float x[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] = first + k * THREADS < chains ? in[first + k * THREADS] : 0.0f;
#pragma unroll 16
    for (int step = 0; step < iterations; step++) {
#pragma unroll
        for (int k = 0; k < N; k++)
            x[k] = fmaf(x[k], ARITHMETIC_SCALE, ARITHMETIC_SHIFT);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (first + k * THREADS < chains) out[first + k * THREADS] = x[k];
}

template <int N> static int launch(struct assay_call *call)
{
    int64_t chains = call->shape->value[ARITHMETIC_CHAINS];
    int64_t blocks = (chains + THREADS * N - 1) / (THREADS * N);
    fma_chains<N><<<(unsigned)blocks, THREADS, 0, (cudaStream_t)call->stream>>>(
        (float *)call->buffer[ARITHMETIC_OUT], (const float *)call->buffer[ARITHMETIC_IN], chains,
        (int)call->shape->value[ARITHMETIC_ITERATIONS]);
    return assay_launched();
}

static constexpr struct assay_variant named(const char *name, const char *summary,
                                            int (*launch)(struct assay_call *))
{
    return {
        .operation = "arithmetic",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .launch = launch,
    };
}

static constexpr struct assay_variant fma_x4 = named("fma_x4", "four chains per thread", launch<4>);
static constexpr struct assay_variant fma_x8 =
    named("fma_x8", "eight chains per thread", launch<8>);
static constexpr struct assay_variant fma_x16 =
    named("fma_x16", "sixteen chains per thread", launch<16>);
ASSAY_REGISTER_VARIANT(fma_x4);
ASSAY_REGISTER_VARIANT(fma_x8);
ASSAY_REGISTER_VARIANT(fma_x16);
