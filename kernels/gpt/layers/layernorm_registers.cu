/*
 * layernorm_registers.cu - one block per row, which keeps the row in registers and reads it once.
 * Loads are single floats, so every length and alignment is possible.
 *
 * Bytes per element: 4 read, 4 written (8 and 8 with a residual), the minimum.
 */
#include "layernorm.cuh"

enum { THREADS = 1024, PIECES_MAX = 8 };

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LAYERNORM_COLUMNS] > THREADS * PIECES_MAX
               ? "a row is longer than 8192 registers"
               : NULL;
}

template <bool ADD> static layernorm_kernel *by_length(int64_t columns, int *threads)
{
    static layernorm_kernel *const kernels[] = {layernorm_block_row<ADD, 1, 1, THREADS, false>,
                                                layernorm_block_row<ADD, 1, 2, THREADS, false>,
                                                layernorm_block_row<ADD, 1, 4, THREADS, false>,
                                                layernorm_block_row<ADD, 1, 8, THREADS, false>};
    /* Four elements per thread, if that fills at least one warp. */
    int index = columns >= 4 * 32 ? 2 : 0;
    while (columns > ((int64_t)THREADS << index))
        index++;
    int64_t needed = (columns + (1 << index) - 1) >> index;
    *threads = (int)((needed + 31) / 32 * 32);
    return kernels[index];
}

static int launch(struct assay_call *call)
{
    int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    int threads;
    layernorm_kernel *alone = by_length<false>(columns, &threads);
    layernorm_kernel *adding = by_length<true>(columns, &threads);
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], threads, alone, adding);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "row_in_registers",
    .summary = "one row per block, in registers, read once",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
