/*
 * layernorm_naive.cu - one thread per row, three passes. Deliberately plain: neighbouring threads
 * read elements a whole row apart, so every load of a warp touches 32 cache lines.
 *
 * Bytes per element: 12 read, 4 written; what is no longer in L1 is read in sectors of 32 bytes.
 * Sums run from the first element to the last.
 */
#include "layernorm.cuh"

enum { THREADS = 64 };

template <bool ADD> static __global__ void __launch_bounds__(THREADS) naive(struct layernorm args)
{
    int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= args.rows) return;
    int64_t begin = row * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < args.columns; i++)
        sum += layernorm_element<ADD>(args, begin + i);
    float mean = sum / (float)args.columns;
    for (int i = 0; i < args.columns; i++) {
        float off = layernorm_element<ADD>(args, begin + i) - mean;
        squares += off * off;
    }
    float scale = layernorm_scale(squares / (float)args.columns);
    layernorm_write<ADD>(args, begin, 0, 1, mean, scale);
}

static int launch(struct assay_call *call)
{
    int64_t rows = call->shape->value[LAYERNORM_ROWS];
    return layernorm_launch(call, gpt_blocks(rows, THREADS), THREADS, naive<false>, naive<true>);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "naive",
    .summary = "one row per thread, three passes over memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
