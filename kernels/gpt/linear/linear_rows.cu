/*
 * linear_rows.cu - few rows of x by the CUDA cores, for any k: one to eight warps take four rows of
 * w and turns along k, 16 bytes per lane, or a number where rows are not aligned to 16 bytes. x
 * comes from L1. The lanes' sums are added by shuffles and the warps' in shared memory, in a fixed
 * order.
 *
 * It is for one or two rows, and for k that TMA cannot take: the multiply-adds of eight rows in
 * bf16 take longer than the memory does.
 *
 * Operations: 2 m n k in fp32. Bytes: w m / 8 times.
 */
#include "linear.cuh"

enum {
    ROWS_LOG_WARPS = 3,
    ROWS_WARPS = 1 << ROWS_LOG_WARPS,
    ROWS_THREADS = 32 * ROWS_WARPS,
    ROWS_COLUMNS = 4,
    ROWS_MOST = 8, /* rows of x at a time */
};

/* Neighbouring numbers along k that a lane takes at a time: 16 bytes, or one where rows are not
 * aligned. */
template <typename T, int WIDTH> struct alignas(WIDTH * sizeof(T)) rows_chunk {
    T number[WIDTH];
};

static __device__ __forceinline__ void rows_load(rows_chunk<uint16_t, 1> &to, const uint16_t *from)
{
    to.number[0] = __ldcs(from);
}

static __device__ __forceinline__ void rows_load(rows_chunk<fp16_t, 1> &to, const fp16_t *from)
{
    to.number[0] = {__ldcs(&from->bits)};
}

static __device__ __forceinline__ void rows_load(rows_chunk<float, 1> &to, const float *from)
{
    to.number[0] = __ldcs(from);
}

template <typename T, int WIDTH>
static __device__ __forceinline__ void rows_load(rows_chunk<T, WIDTH> &to, const T *from)
{
    static_assert(sizeof to == 16, "a chunk");
    *(uint4 *)&to = __ldcs((const uint4 *)from);
}

template <typename T, int WIDTH>
static __device__ __forceinline__ void rows_load_w(rows_chunk<T, WIDTH> (&to)[ROWS_COLUMNS],
                                                   const T *const (&w)[ROWS_COLUMNS], int at)
{
#pragma unroll
    for (int column = 0; column < ROWS_COLUMNS; column++)
        rows_load(to[column], w[column] + at);
}

/* Add the products of a chunk of each row of w with those of x. */
template <typename T, int WIDTH, int ROWS>
static __device__ __forceinline__ void rows_add(float (&sum)[ROWS][ROWS_COLUMNS],
                                                const T *const (&x)[ROWS], int at,
                                                const rows_chunk<T, WIDTH> (&w)[ROWS_COLUMNS])
{
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        const rows_chunk<T, WIDTH> of_x = *(const rows_chunk<T, WIDTH> *)(x[row] + at);
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
#pragma unroll
            for (int column = 0; column < ROWS_COLUMNS; column++)
                sum[row][column] += gpt_float(of_x.number[i]) * gpt_float(w[column].number[i]);
    }
}

/* Chunks of a row that a lane has under way. */
static constexpr __host__ __device__ int rows_unroll(int width)
{
    return width > 1 ? 2 : 8;
}

/* Blocks on a multiprocessor: as many as leave a thread the registers for all the chunks that are
 * to be under way. Untold, the compiler takes more than two blocks have, or loads chunk after
 * chunk. */
static constexpr __host__ __device__ int rows_together(int rows)
{
    return rows == 8 ? 2 : rows == 4 ? 3 : 4;
}

/* Rows and columns outside are read as the last one, and not written. */
template <typename T, int WIDTH, int ROWS, enum linear_finish FINISH>
static __global__ void __launch_bounds__(ROWS_THREADS, rows_together(ROWS))
    linear_rows_kernel(struct linear_operands operands, int row_blocks, int log_sharers)
{
    __shared__ float part[ROWS_WARPS][ROWS * ROWS_COLUMNS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int sharers = 1 << log_sharers, step = 32 * WIDTH << log_sharers;
    constexpr int unroll = rows_unroll(WIDTH);
    /* Without a division where it can be: it would come before the first load. */
    const int row = row_blocks > 1 ? (int)blockIdx.x % row_blocks : 0;
    const int column = row_blocks > 1 ? (int)blockIdx.x / row_blocks : (int)blockIdx.x;
    const int64_t k = operands.k, row0 = (int64_t)row * ROWS;
    const int first = column * (ROWS_WARPS >> log_sharers);
    const int column0 = (first + (warp >> log_sharers)) * ROWS_COLUMNS;
    const T *x[ROWS], *w[ROWS_COLUMNS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        x[i] = (const T *)operands.x + min(row0 + i, operands.m - 1) * k;
#pragma unroll
    for (int i = 0; i < ROWS_COLUMNS; i++)
        w[i] = (const T *)operands.w + min((int64_t)column0 + i, operands.n - 1) * k;
    float sum[ROWS][ROWS_COLUMNS] = {};
    const int length = (int)k;
    int at = ((warp & (sharers - 1)) * 32 + lane) * WIDTH;
    for (; at + (unroll - 1) * step < length; at += unroll * step) {
        rows_chunk<T, WIDTH> chunk[unroll][ROWS_COLUMNS];
#pragma unroll
        for (int i = 0; i < unroll; i++)
            rows_load_w(chunk[i], w, at + i * step);
#pragma unroll
        for (int i = 0; i < unroll; i++)
            rows_add(sum, x, at + i * step, chunk[i]);
    }
    for (; at < length; at += step) {
        rows_chunk<T, WIDTH> chunk[ROWS_COLUMNS];
        rows_load_w(chunk, w, at);
        rows_add(sum, x, at, chunk);
    }
#pragma unroll
    for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < ROWS_COLUMNS; column++) {
            float total = gpt_warp_sum(sum[row][column]);
            if (lane == 0) part[warp][row * ROWS_COLUMNS + column] = total;
        }
    __syncthreads();
    if ((warp & (sharers - 1)) != 0 || lane >= ROWS * ROWS_COLUMNS) return;
    float total = 0;
    for (int i = 0; i < sharers; i++)
        total += part[warp + i][lane];
    linear_put<T, FINISH>(operands, row0 + lane / ROWS_COLUMNS, column0 + lane % ROWS_COLUMNS,
                          total);
}

/* The numbers along k that a lane takes at a time. */
static int rows_width(const struct linear_operands *operands, enum gpt_precision precision)
{
    const int width = 16 / (int)gpt_bytes(precision);
    return operands->k % width == 0 ? width : 1;
}

int linear_rows_ways(const struct linear_operands *operands, enum gpt_precision precision)
{
    const int64_t turn = 32 * rows_width(operands, precision);
    int ways = 1;
    while (ways <= ROWS_LOG_WARPS && operands->k > turn << (ways - 1))
        ways++;
    return ways;
}

/* How many warps share rows of w: as many as have work, but not more than keep a multiprocessor
 * busy with blocks of their own. The logarithm. */
static int rows_log_sharers(const struct linear_operands *operands, enum gpt_precision precision)
{
    const int64_t warps =
        (int64_t)gpt_blocks(operands->n, ROWS_COLUMNS) * gpt_blocks(operands->m, ROWS_MOST);
    const int width = rows_width(operands, precision);
    int log_sharers = linear_rows_ways(operands, precision) - 1;
    while (log_sharers > 0) {
        const int64_t half = 1 << (log_sharers - 1);
        const bool brief = operands->k <= half * 32 * width * rows_unroll(width);
        if (!brief || warps * half / ROWS_WARPS < assay_card()->multiprocessors) break;
        log_sharers--;
    }
    return log_sharers;
}

/* Blocks that share rows of w follow one another, so that L2 has them. */
template <typename T, int WIDTH, int ROWS, enum linear_finish FINISH>
static int rows_enqueue_finishing(const struct linear_operands *operands, int log_sharers,
                                  cudaStream_t stream)
{
    const unsigned row_blocks = gpt_blocks(operands->m, ROWS);
    const unsigned warps = gpt_blocks(operands->n, ROWS_COLUMNS);
    linear_rows_kernel<T, WIDTH, ROWS, FINISH>
        <<<gpt_blocks(warps, ROWS_WARPS >> log_sharers) * row_blocks, ROWS_THREADS, 0, stream>>>(
            *operands, (int)row_blocks, log_sharers);
    return assay_launched();
}

template <typename T, int WIDTH, int ROWS>
static int rows_enqueue_wide(const struct linear_operands *operands, int log_sharers,
                             cudaStream_t stream)
{
    return operands->finish == LINEAR_GELU
               ? rows_enqueue_finishing<T, WIDTH, ROWS, LINEAR_GELU>(operands, log_sharers, stream)
               : rows_enqueue_finishing<T, WIDTH, ROWS, LINEAR_PLAIN>(operands, log_sharers,
                                                                      stream);
}

template <typename T, int ROWS>
static int rows_enqueue(const struct linear_operands *operands, int log_sharers,
                        cudaStream_t stream)
{
    const int width = 16 / sizeof(T);
    return operands->k % width == 0
               ? rows_enqueue_wide<T, width, ROWS>(operands, log_sharers, stream)
               : rows_enqueue_wide<T, 1, ROWS>(operands, log_sharers, stream);
}

template <typename T>
static int rows_fitting(const struct linear_operands *operands, int log_sharers,
                        cudaStream_t stream)
{
    if (operands->m == 1) return rows_enqueue<T, 1>(operands, log_sharers, stream);
    if (operands->m == 2) return rows_enqueue<T, 2>(operands, log_sharers, stream);
    if (operands->m <= 4) return rows_enqueue<T, 4>(operands, log_sharers, stream);
    return rows_enqueue<T, ROWS_MOST>(operands, log_sharers, stream);
}

int linear_rows(const struct linear_operands *operands, enum gpt_precision precision, int log_warps,
                cudaStream_t stream)
{
    static int (*const product[])(const struct linear_operands *, int, cudaStream_t) = {
        rows_fitting<float>, rows_fitting<float>, rows_fitting<uint16_t>, rows_fitting<fp16_t>};
    return product[precision](operands, log_warps, stream);
}

static int launch(struct assay_call *call)
{
    const enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_operands operands;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    if (linear_rows(&operands, precision, rows_log_sharers(&operands, precision),
                    (cudaStream_t)call->stream) < 0)
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
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
