/*
 * layernorm_twopass.cu - one block per row: the mean, then the variance about it, then the result.
 * The row is read each time.
 *
 * Bytes per element: 12 read, 4 written, the second and third read mostly from L1 (a row of 4096
 * columns is 16 KiB).
 */
#include "layernorm.cuh"

enum { THREADS = 256 };

template <bool ADD> static __global__ void __launch_bounds__(THREADS) twopass(struct layernorm args)
{
    __shared__ float warps[2][THREADS / 32];
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < args.columns; i += THREADS)
        sum += layernorm_element<ADD>(args, begin + i);
    float mean = gpt_block_sum(sum, warps[0]) / (float)args.columns;
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float off = layernorm_element<ADD>(args, begin + i) - mean;
        squares += off * off;
    }
    float scale = layernorm_scale(gpt_block_sum(squares, warps[1]) / (float)args.columns);
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, mean, scale);
}

static int launch(struct assay_call *call)
{
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], THREADS, twopass<false>,
                            twopass<true>);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "twopass",
    .summary = "one row per block: mean, variance about it, answer; reads three times",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
