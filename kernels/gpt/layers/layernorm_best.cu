/*
 * layernorm_best.cu - layernorm with the row in registers, of a warp or of a block; rows that begin
 * at no float4, or that are longer, by the kernels of layernorm_rows.cu.
 *
 * Bytes per element: 4 read, 4 written (8 and 8 with a residual), the minimum.
 *
 *   up to 512 columns     one warp per row, at most four float4 per lane: no barriers, sums by
 *                         shuffles
 *   up to 1024 columns    one warp per row, at most eight float4 per lane. But one block per row,
 *                         four floats per thread, where rows are few (warps alone have too few
 *                         loads in flight), and with a residual (a warp needs too many registers)
 *   more columns          one block per row, four float4 per thread (eight above 16384 columns).
 *                         With 4096 columns that is 256 threads, and eight blocks per
 *                         multiprocessor: while some compute sums, the loads of others keep the
 *                         memory busy
 *   not a multiple of 4   as layernorm_rows.cu does it, and so above 32768 columns: divided as is
 *                         fastest in setup
 *
 * weight and bias come from L1 and L2.
 *
 * Measured at 768 columns on an H200. 1024 rows take 3.8 us by blocks and 4.4 us by warps; with a
 * residual 4.9 and 5.6 us. 8192 rows with a residual take 24.1 us by blocks and 25.3 us by warps,
 * but without one 17.6 and 13.0 us, so that case keeps warps. (Where blocks are used now, the
 * figures by warps are of the published run of 2026-11-21, before this change.)
 */
#include "layernorm.cuh"
#include "layernorm_rows.cuh"

enum {
    WARPS = 4,
    THREADS = 1024,
    PIECES_MAX = 8,
    WARP_COLUMNS = 1024, /* at most, of a row that a warp holds */
    FEW_COLUMNS = 512,   /* a warp always */
    MANY_ROWS = 4096,    /* warps fill the device */
};

template <bool ADD, int PIECES>
static __global__ void __launch_bounds__(32 * WARPS) warp_row(struct layernorm args)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= args.rows) return;
    layernorm_row<ADD, 4, PIECES>(args, row, threadIdx.x % 32, 32,
                                  [](float value, int) { return gpt_warp_sum(value); });
}

/* The kernel for rows of this length; blocks and threads to launch it with. */
template <bool ADD>
static layernorm_kernel *choose(int64_t rows, int64_t columns, int64_t *blocks, int *threads)
{
    static layernorm_kernel *const by_warp[] = {
        warp_row<ADD, 1>, warp_row<ADD, 2>, warp_row<ADD, 4>, warp_row<ADD, 6>, warp_row<ADD, 8>};
    static const int warp_columns[] = {128, 256, 512, 768, WARP_COLUMNS};
    static layernorm_kernel *const by_block[] = {layernorm_block_row<ADD, 4, 4, THREADS>,
                                                 layernorm_block_row<ADD, 4, 8, THREADS>,
                                                 layernorm_block_row<ADD, 1, 4, THREADS>};
    bool vectors = !(columns > FEW_COLUMNS && columns <= WARP_COLUMNS && (ADD || rows < MANY_ROWS));
    *blocks = rows;
    if (vectors && columns <= WARP_COLUMNS) {
        int index = 0;
        while (columns > warp_columns[index])
            index++;
        *blocks = gpt_blocks(rows, WARPS);
        *threads = 32 * WARPS;
        return by_warp[index];
    }
    int64_t pieces = vectors ? columns / 4 : columns;
    bool eight = pieces > 4 * THREADS;
    int64_t needed = (pieces + (eight ? 7 : 3)) / (eight ? 8 : 4);
    *threads = (int)((needed + 31) / 32 * 32);
    return by_block[(vectors ? 0 : 2) + eight];
}

static bool in_registers(const struct assay_shape *shape)
{
    int64_t columns = shape->value[LAYERNORM_COLUMNS];
    return columns % 4 == 0 && columns <= 4 * THREADS * PIECES_MAX;
}

static int setup(struct assay_call *call)
{
    if (in_registers(call->shape)) return 0;
    return row_setup<layernorm_rows_job, row_plan_stream, row_unchecked, true>(call);
}

static int launch(struct assay_call *call)
{
    int64_t rows = call->shape->value[LAYERNORM_ROWS], blocks;
    int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    int threads;
    if (!in_registers(call->shape)) return row_launch<layernorm_rows_job>(call);
    /* Which one holds a row, a warp or a block, may differ with the residual. */
    layernorm_kernel *kernel = layernorm_adds(call->shape)
                                   ? choose<true>(rows, columns, &blocks, &threads)
                                   : choose<false>(rows, columns, &blocks, &threads);
    return layernorm_launch(call, blocks, threads, kernel, kernel);
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "best",
    .summary = "the row in registers, one per warp or block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = row_teardown,
};
ASSAY_REGISTER_VARIANT(variant);
