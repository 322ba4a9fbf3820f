/*
 * layernorm_sumsq.cu - the variance as E[s^2] - mean^2, in one pass, as the published kernel did
 * (which called it Welford's method).
 *
 * It saves a pass, but the result is wrong where the mean is large compared with the standard
 * deviation: with data=shifted both terms are near 10^6, and their difference, 1, has about one
 * correct digit. Such cases must be reported as wrong.
 *
 * Bytes per element: 8 read, 4 written, the second read mostly from L1.
 */
#include "layernorm.cuh"

enum { THREADS = 256 };

template <bool ADD> static __global__ void __launch_bounds__(THREADS) sumsq(struct layernorm args)
{
    __shared__ float warps[2][THREADS / 32];
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float s = layernorm_element<ADD>(args, begin + i);
        sum += s;
        squares += s * s;
    }
    float mean = gpt_block_sum(sum, warps[0]) / (float)args.columns;
    float mean_square = gpt_block_sum(squares, warps[1]) / (float)args.columns;
    /* Rounding can make the difference negative, and its root NaN. */
    float scale = layernorm_scale(fmaxf(mean_square - mean * mean, 0.0f));
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, mean, scale);
}

static int launch(struct assay_call *call)
{
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], THREADS, sumsq<false>,
                            sumsq<true>);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "sumsq",
    .summary = "variance as E[s^2] - mean^2; wrong where the mean is large",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
