/*
 * layernorm_split.cu - one kernel for the sum x + r and another for the layernorm of the sum, with
 * the row in registers. The difference to `best` is what fusing the two saves.
 *
 * Bytes per element: 12 read, 8 written; fused, 8 and 8.
 */
#include "layernorm.cuh"

enum { THREADS = 256, PIECES = 4, THREADS_MAX = 1024 };

static __global__ void __launch_bounds__(THREADS)
    add(const float *__restrict__ x, const float *__restrict__ r, float *__restrict__ sum,
        int64_t n)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + 4 <= n) {
        float4 a = *(const float4 *)(x + i), b = *(const float4 *)(r + i);
        *(float4 *)(sum + i) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        return;
    }
    for (; i < n; i++)
        sum[i] = x[i] + r[i];
}

static const char *supports(const struct assay_shape *shape)
{
    if (!layernorm_adds(shape)) return "only with a residual";
    int64_t columns = shape->value[LAYERNORM_COLUMNS];
    if (columns % 4 != 0) return "columns are no multiple of 4";
    return columns > 4 * PIECES * THREADS_MAX ? "a row is longer than a block's registers" : NULL;
}

static int launch(struct assay_call *call)
{
    struct layernorm args = layernorm_args(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t n = args.rows * args.columns;
    add<<<gpt_blocks(n, 4 * THREADS), THREADS, 0, stream>>>(args.x, args.r, args.sum, n);
    args.x = args.sum;
    int threads = ((args.columns / 4 + PIECES - 1) / PIECES + 31) / 32 * 32;
    layernorm_block_row<false, 4, PIECES, THREADS_MAX, false>
        <<<(unsigned)args.rows, threads, 0, stream>>>(args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "layernorm",
    .name = "split",
    .summary = "residual sum and layernorm as two kernels",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
