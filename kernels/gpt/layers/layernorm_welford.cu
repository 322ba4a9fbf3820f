/*
 * layernorm_welford.cu - mean and sum of squared deviations in one pass, by Welford's update ("Note
 * on a method for calculating corrected sums of squares and products", Technometrics 4, 1962). The
 * results of the threads are combined by the formula of Chan, Golub and LeVeque ("Algorithms for
 * computing the sample variance", Amer. Statist. 37, 1983, section 2.1).
 *
 * It has one pass like sumsq, and is right where sumsq is wrong, at the price of a division per
 * element. Bytes per element: 8 read, 4 written, the second read mostly from L1.
 */
#include "layernorm.cuh"

enum { THREADS = 256 };

/* The mean of `count` elements, and the sum of their squared deviations from it. */
struct moments {
    float count, mean, squares;
};

static __device__ __forceinline__ moments join(moments a, moments b)
{
    float count = a.count + b.count;
    if (count == 0.0f) return a;
    float off = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
}

static __device__ __forceinline__ moments warp_join(moments m)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        m = join(m, {__shfl_down_sync(0xffffffffu, m.count, step),
                     __shfl_down_sync(0xffffffffu, m.mean, step),
                     __shfl_down_sync(0xffffffffu, m.squares, step)});
    return m;
}

template <bool ADD> static __global__ void __launch_bounds__(THREADS) welford(struct layernorm args)
{
    __shared__ moments parts[THREADS / 32];
    __shared__ moments whole;
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    moments m = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float s = layernorm_element<ADD>(args, begin + i);
        float off = s - m.mean;
        m.count += 1.0f;
        m.mean += off / m.count;
        m.squares += off * (s - m.mean);
    }
    m = warp_join(m);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++)
            m = join(m, parts[i]);
        whole = m;
    }
    __syncthreads();
    float scale = layernorm_scale(whole.squares / (float)args.columns);
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, whole.mean, scale);
}

static int launch(struct assay_call *call)
{
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], THREADS, welford<false>,
                            welford<true>);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "welford",
    .summary = "one pass by Welford's update, joined over the block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
