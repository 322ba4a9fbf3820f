/*
 * layernorm_registers.cu - one block per row, which keeps the row in registers and reads it once:
 * two variants that each leave out something `best` has.
 *
 *   row_in_registers  loads are single floats, so every length and alignment is possible. Bytes per
 *                     element: 4 read, 4 written (8 and 8 with a residual), the minimum
 *   split             one kernel for the sum x + r and another for the layernorm of the sum. The
 *                     difference to `best` is what fusing the two saves. 12 read, 8 written; fused,
 *                     8 and 8
 */
#include "layernorm.cuh"

enum { THREADS = 1024 };

/* -------------------------------------------------------- row_in_registers -- */

enum { PIECES_MAX = 8 };

static const char *supports_length(const struct assay_shape *shape)
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

static int launch_length(struct assay_call *call)
{
    int64_t columns = call->shape->value[LAYERNORM_COLUMNS];
    int threads;
    layernorm_kernel *alone = by_length<false>(columns, &threads);
    layernorm_kernel *adding = by_length<true>(columns, &threads);
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], threads, alone, adding);
}

static const struct assay_variant any_length = {
    .operation = "layernorm",
    .name = "row_in_registers",
    .summary = "one row per block, in registers, read once",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_length,
    .launch = launch_length,
};
ASSAY_REGISTER_VARIANT(any_length);

/* ------------------------------------------------------------------- split -- */

enum { ADD_THREADS = 256, PIECES = 4 };

static __global__ void __launch_bounds__(ADD_THREADS)
    add(const float *__restrict__ x, const float *__restrict__ r, float *__restrict__ sum,
        int64_t n)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * ADD_THREADS + threadIdx.x);
    if (i + 4 <= n) {
        float4 a = *(const float4 *)(x + i), b = *(const float4 *)(r + i);
        *(float4 *)(sum + i) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        return;
    }
    for (; i < n; i++)
        sum[i] = x[i] + r[i];
}

static const char *supports_split(const struct assay_shape *shape)
{
    if (!layernorm_adds(shape)) return "only with a residual";
    int64_t columns = shape->value[LAYERNORM_COLUMNS];
    if (columns % 4 != 0) return "columns are no multiple of 4";
    return columns > 4 * PIECES * THREADS ? "a row is longer than a block's registers" : NULL;
}

static int launch_split(struct assay_call *call)
{
    struct layernorm args = layernorm_args(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t n = args.rows * args.columns;
    add<<<gpt_blocks(n, 4 * ADD_THREADS), ADD_THREADS, 0, stream>>>(args.x, args.r, args.sum, n);
    args.x = args.sum;
    int threads = ((args.columns / 4 + PIECES - 1) / PIECES + 31) / 32 * 32;
    layernorm_block_row<false, 4, PIECES, THREADS, false>
        <<<(unsigned)args.rows, threads, 0, stream>>>(args);
    return assay_launched();
}

static const struct assay_variant split = {
    .operation = "layernorm",
    .name = "split",
    .summary = "residual sum and layernorm as two kernels",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_split,
    .launch = launch_split,
};
ASSAY_REGISTER_VARIANT(split);
