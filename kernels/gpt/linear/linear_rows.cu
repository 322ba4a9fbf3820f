/*
 * linear_rows.cu - few rows of x by the CUDA cores, for any k: four rows of w per block, whose
 * warps take turns along k, a number per lane. It reads w once per eight rows of x and is as fast
 * as memory while it does (fp32) or nearly so (bf16); x comes from L1. The warps' sums are added in
 * shared memory, in a fixed order.
 *
 * Rows of w need not be aligned, which TMA asks for; products of numbers that are exact in tf32 are
 * more exact here than on tensor cores.
 *
 * Operations: 2 m n k in fp32. Bytes: w m / 8 times.
 */
#include "linear.cuh"

enum {
    ROWS_WARPS = 8,
    ROWS_THREADS = 32 * ROWS_WARPS,
    ROWS_COLUMNS = 4,
    ROWS_MOST = 8, /* rows of x at a time */
    ROWS_UNROLL = 4,
};

/* Add the products of one k. */
template <int ROWS, typename T>
static __device__ __forceinline__ void rows_step(float (&sum)[ROWS][ROWS_COLUMNS],
                                                 const T (&x)[ROWS], const T (&w)[ROWS_COLUMNS])
{
#pragma unroll
    for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < ROWS_COLUMNS; column++)
            sum[row][column] += gpt_float(x[row]) * gpt_float(w[column]);
}

/* Rows and columns outside are read as the last one, and not written. */
template <typename T, int ROWS>
static __global__ void __launch_bounds__(ROWS_THREADS)
    linear_rows_kernel(struct linear_operands operands)
{
    __shared__ float part[ROWS_WARPS][ROWS * ROWS_COLUMNS];
    const int64_t k = operands.k, row0 = (int64_t)blockIdx.y * ROWS;
    const int column0 = (int)blockIdx.x * ROWS_COLUMNS;
    const T *x[ROWS], *w[ROWS_COLUMNS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        x[i] = (const T *)operands.x + min(row0 + i, operands.m - 1) * k;
#pragma unroll
    for (int i = 0; i < ROWS_COLUMNS; i++)
        w[i] = (const T *)operands.w + min((int64_t)column0 + i, operands.n - 1) * k;
    float sum[ROWS][ROWS_COLUMNS] = {};
    int64_t at = threadIdx.x;
    for (; at + (ROWS_UNROLL - 1) * ROWS_THREADS < k; at += ROWS_UNROLL * ROWS_THREADS) {
        T of_w[ROWS_UNROLL][ROWS_COLUMNS];
#pragma unroll
        for (int i = 0; i < ROWS_UNROLL; i++)
#pragma unroll
            for (int column = 0; column < ROWS_COLUMNS; column++)
                of_w[i][column] = __ldcs(w[column] + at + i * ROWS_THREADS);
#pragma unroll
        for (int i = 0; i < ROWS_UNROLL; i++) {
            T of_x[ROWS];
#pragma unroll
            for (int row = 0; row < ROWS; row++)
                of_x[row] = __ldg(x[row] + at + i * ROWS_THREADS);
            rows_step<ROWS>(sum, of_x, of_w[i]);
        }
    }
    for (; at < k; at += ROWS_THREADS) {
        T of_x[ROWS], of_w[ROWS_COLUMNS];
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            of_x[row] = __ldg(x[row] + at);
#pragma unroll
        for (int column = 0; column < ROWS_COLUMNS; column++)
            of_w[column] = __ldcs(w[column] + at);
        rows_step<ROWS>(sum, of_x, of_w);
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < ROWS_COLUMNS; column++) {
            float total = gpt_warp_sum(sum[row][column]);
            if (lane == 0) part[warp][row * ROWS_COLUMNS + column] = total;
        }
    __syncthreads();
    const int own = (int)threadIdx.x;
    if (own >= ROWS * ROWS_COLUMNS) return;
    float total = 0;
    for (int i = 0; i < ROWS_WARPS; i++)
        total += part[i][own];
    linear_put<T>(operands, row0 + own / ROWS_COLUMNS, column0 + own % ROWS_COLUMNS, total);
}

template <typename T, int ROWS>
static int rows_enqueue(const struct linear_operands *operands, cudaStream_t stream)
{
    dim3 grid(gpt_blocks(operands->n, ROWS_COLUMNS), gpt_blocks(operands->m, ROWS));
    linear_rows_kernel<T, ROWS><<<grid, ROWS_THREADS, 0, stream>>>(*operands);
    return assay_launched();
}

template <typename T>
static int rows_fitting(const struct linear_operands *operands, cudaStream_t stream)
{
    if (operands->m == 1) return rows_enqueue<T, 1>(operands, stream);
    if (operands->m == 2) return rows_enqueue<T, 2>(operands, stream);
    if (operands->m <= 4) return rows_enqueue<T, 4>(operands, stream);
    return rows_enqueue<T, ROWS_MOST>(operands, stream);
}

int linear_rows_bf16(const struct linear_operands *operands, cudaStream_t stream)
{
    return rows_fitting<uint16_t>(operands, stream);
}

int linear_rows_fp32(const struct linear_operands *operands, cudaStream_t stream)
{
    return rows_fitting<float>(operands, stream);
}

static int launch(struct assay_call *call)
{
    struct linear_operands operands;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    bool bf16 = call->shape->value[LINEAR_PRECISION] == GPT_BF16;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if ((bf16 ? linear_rows_bf16(&operands, stream) : linear_rows_fp32(&operands, stream)) < 0)
        return -1;
    return linear_end(call);
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return shape->value[LINEAR_M] > LINEAR_ROWS_MOST ? "more than 64 rows" : NULL;
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "rows",
    .summary = "few rows on the CUDA cores, four rows of w per block, any k",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
