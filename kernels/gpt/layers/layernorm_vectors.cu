/*
 * layernorm_vectors.cu - layernorm with the row in registers, of a warp or of a block, of rows of
 * whole float4. Other rows, and longer ones, are for layernorm_rows.cu.
 *
 * Bytes per element: 4 read, 4 written (8 and 8 with a residual), the minimum.
 *
 *   up to 768 columns     one warp per row, at most six float4 per lane, eight warps per block: no
 *                         barriers, sums by shuffles. With a residual up to 512, as a warp needs
 *                         too many registers beyond
 *   more columns          one block per row, four float4 per thread (eight above 16384 columns);
 *                         with a residual two, up to 3072 columns. With 4096 columns that is 256
 *                         threads, and eight blocks per multiprocessor: while some compute sums,
 *                         the loads of others keep the memory busy
 *
 * Weight and bias are read beside the row where registers allow it: behind the sums, the first rows
 * of each multiprocessor would wait for memory once more. Beyond 2048 columns (3072 with a
 * residual) they cost more warps than they save, unless there are only a few rows.
 *
 * Measured on an H200, cold, without and with a residual, in microseconds: 1024 x 768 2.78 and 4.7,
 * 8192 x 768 12.4 and 23.0, 3000 x 1536 9.6 and 17.4, 16384 x 4096 126 and 256. With the weights
 * behind the sums and a barrier more 1024 x 768 took 3.78, 8192 x 768 13.1 and 3000 x 1536 10.9.
 */
#include "layernorm.cuh"

enum {
    WARPS = 8,
    THREADS = 1024,
    PIECES_MAX = 8,
    FEW_BLOCKS = 4, /* per multiprocessor */
};

/* The kernel for rows of so many columns at most. */
struct division {
    int columns;
    int floats; /* per thread of a block that has one row; 0: a warp per row */
    layernorm_kernel *kernel;
};

static const struct division alone[] = {
    {128, 0, layernorm_warp_row<false, 1, WARPS>},
    {256, 0, layernorm_warp_row<false, 2, WARPS>},
    {512, 0, layernorm_warp_row<false, 4, WARPS>},
    {768, 0, layernorm_warp_row<false, 6, WARPS>},
    {2048, 16, layernorm_block_row<false, 4, 4, THREADS, true>},
    {16 * THREADS, 16, layernorm_block_row<false, 4, 4, THREADS, false>},
    {32 * THREADS, 32, layernorm_block_row<false, 4, 8, THREADS, false>},
};

static const struct division adding[] = {
    {128, 0, layernorm_warp_row<true, 1, WARPS>},
    {256, 0, layernorm_warp_row<true, 2, WARPS>},
    {512, 0, layernorm_warp_row<true, 4, WARPS>},
    {3072, 8, layernorm_block_row<true, 4, 2, THREADS, true>},
    {16 * THREADS, 16, layernorm_block_row<true, 4, 4, THREADS, false>},
    {32 * THREADS, 32, layernorm_block_row<true, 4, 8, THREADS, false>},
};

static const struct division *choose(bool adds, int64_t rows, int64_t columns)
{
    const struct division *division = adds ? adding : alone;
    while (columns > division->columns)
        division++;
    const bool few = rows <= (int64_t)FEW_BLOCKS * assay_card()->multiprocessors;
    if (!adds && few && division->floats == 16 && division->columns > 2048) division--;
    return division;
}

static const char *supports(const struct assay_shape *shape)
{
    const int64_t columns = shape->value[LAYERNORM_COLUMNS];
    if (columns % 4 != 0) return "columns are no multiple of 4";
    return columns > 4 * THREADS * PIECES_MAX ? "a row is longer than a block's registers" : NULL;
}

static int launch(struct assay_call *call)
{
    const int64_t rows = call->shape->value[LAYERNORM_ROWS];
    const int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    const struct division *by = choose(layernorm_adds(call->shape), rows, columns);
    if (by->floats == 0)
        return layernorm_launch(call, gpt_blocks(rows, WARPS), 32 * WARPS, by->kernel, by->kernel);
    const int64_t a_warp = 32 * by->floats;
    const int threads = (int)((columns + a_warp - 1) / a_warp * 32);
    return layernorm_launch(call, rows, threads, by->kernel, by->kernel);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "vectors_in_registers",
    .summary = "the row in registers by whole float4, one per warp or block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
