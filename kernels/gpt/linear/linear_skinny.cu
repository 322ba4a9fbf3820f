/*
 * linear_skinny.cu - few rows of x, or few outputs, on tensor cores by mma.sync: nothing that a
 * product of a few microseconds need wait for, no TMA, no ring in shared memory.
 *
 * The rows of w are the 16 rows of mma.sync's tile and those of x its 8 columns. A lane loads 16
 * bytes of k of a row into the registers in which the products take them: which numbers of k a
 * product multiplies does not matter, as long as both operands have the same. So four lanes read 64
 * bytes of a row, a chunk, and two products take it. Where rows are not aligned to 16 bytes, lanes
 * load single numbers, each the next one.
 *
 * A block has 16 or 32 columns (64 never were the fastest) and up to 64 rows of outputs, its warps
 * successive parts of k, and on Hopper a cluster of up to 8 blocks divides k further. The warps'
 * sums are added in shared memory, the blocks' through the shared memory of the cluster, in a fixed
 * order.
 *
 * Operations: 2 m n k. Bytes from L2: w m / 64 times; x n / 32 or n / 16 times, partly from L1.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/mma.cuh"
#include "linear.cuh"
#include "linear_skinny.h"
#include "linear_skinny_finish.cuh"

enum {
    SKINNY_ROWS = 64,        /* of a block, at most */
    SKINNY_CHUNK_BYTES = 64, /* of k */
    SKINNY_LANE_LOADS = 8,   /* of 16 bytes of w or of x that are under way */
};

/* One kernel: COLUMNS tiles of 16 columns and ROWS of 8 rows. */
template <typename T, int COLUMNS_, int ROWS_, bool ALIGNED_, linear_finish FINISH_>
struct skinny_config {
    using type = T;
    using output = T;
    static constexpr enum linear_finish FINISH = FINISH_;
    static constexpr int COLUMNS = COLUMNS_, ROWS = ROWS_;
    static constexpr bool ALIGNED = ALIGNED_;
    static constexpr int LOG_WARPS = COLUMNS * ROWS > 8 ? 2 : 3, WARPS = 1 << LOG_WARPS;
    static constexpr int THREADS = 32 * WARPS;
    static constexpr int WIDTH = 16 / sizeof(T), DEPTH = SKINNY_CHUNK_BYTES / sizeof(T);
    /* Chunks that a warp loads at a time. */
    static constexpr int BY_X = SKINNY_LANE_LOADS / ROWS, BY_W = SKINNY_LANE_LOADS / COLUMNS / 2;
    static constexpr int TOGETHER = BY_X < BY_W ? BY_X : BY_W;
    /* A warp's sums, row by row; so padded that its lanes write to 32 banks. */
    static constexpr int PITCH = 16 * COLUMNS + 4, SUMS = 8 * ROWS * PITCH;
    static constexpr int QUADS = 4 * COLUMNS; /* of a row of outputs */
    static constexpr int SHARED_BYTES = WARPS * SUMS * (int)sizeof(float);
};

/* The grid: along x the parts of tiles of columns, along y tiles of rows. */
struct skinny_args {
    int chunks, log_parts;
    struct linear_operands operands;
};

/* The 16 bytes of a lane, as words. */
struct skinny_piece {
    uint32_t word[4];
};

/* Read once: kept out of L1. */
static __device__ __forceinline__ skinny_piece skinny_load_w(const void *from)
{
    skinny_piece p;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
                 : "l"(from));
    return p;
}

static __device__ __forceinline__ skinny_piece skinny_load_x(const void *from)
{
    uint4 v = __ldg((const uint4 *)from);
    return {{v.x, v.y, v.z, v.w}};
}

/* Number i of a piece. */
static __device__ __forceinline__ void skinny_set(skinny_piece &p, int i, uint16_t number)
{
    p.word[i / 2] |= (uint32_t)number << 16 * (i % 2);
}

static __device__ __forceinline__ void skinny_set(skinny_piece &p, int i, fp16_t number)
{
    skinny_set(p, i, number.bits);
}

static __device__ __forceinline__ void skinny_set(skinny_piece &p, int i, float number)
{
    p.word[i] = __float_as_uint(number);
}

/* A lane's piece of a chunk of a row, from its first number on; `left` of the row are there, zeros
 * stand for the others. */
template <typename CONFIG, bool OF_W>
static __device__ __forceinline__ skinny_piece skinny_load(const typename CONFIG::type *from,
                                                           int left)
{
    skinny_piece p = {{0, 0, 0, 0}};
    if (CONFIG::ALIGNED) {
        if (left > 0) p = OF_W ? skinny_load_w(from) : skinny_load_x(from);
    } else {
#pragma unroll
        for (int i = 0; i < CONFIG::WIDTH; i++)
            if (4 * i < left) skinny_set(p, i, __ldg(from + 4 * i));
    }
    return p;
}

/* Add the products of a chunk: two steps of k. */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_multiply(
    float (&sum)[CONFIG::COLUMNS][CONFIG::ROWS][4], const skinny_piece (&w)[CONFIG::COLUMNS][2],
    const skinny_piece (&x)[CONFIG::ROWS])
{
#pragma unroll
    for (int step = 0; step < 4; step += 2)
#pragma unroll
        for (int column = 0; column < CONFIG::COLUMNS; column++) {
            const uint32_t a[4] = {w[column][0].word[step], w[column][1].word[step],
                                   w[column][0].word[step + 1], w[column][1].word[step + 1]};
#pragma unroll
            for (int row = 0; row < CONFIG::ROWS; row++)
                mma_step(typename CONFIG::type(), sum[column][row], a, x[row].word[step],
                         x[row].word[step + 1]);
        }
}

/* A warp's sums over chunks [begin, end) of k. */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_sum(float (&sum)[CONFIG::COLUMNS][CONFIG::ROWS][4],
                                                  const struct linear_operands &operands,
                                                  int64_t row0, int64_t column0, int begin, int end,
                                                  int lane)
{
    using T = typename CONFIG::type;
    constexpr int together = CONFIG::TOGETHER * CONFIG::DEPTH;
    const int64_t k = operands.k;
    const int64_t row = row0 + lane / 4, column = column0 + lane / 4;
    const int first = lane % 4 * (CONFIG::ALIGNED ? CONFIG::WIDTH : 1);
    const int until = min((int)k, end * CONFIG::DEPTH) - first;
    int at = begin * CONFIG::DEPTH;
    const T *x = (const T *)operands.x + row * k + first + at;
    const T *w = (const T *)operands.w + column * k + first + at;
    for (; at < end * CONFIG::DEPTH; at += together, x += together, w += together) {
        skinny_piece of_w[CONFIG::TOGETHER][CONFIG::COLUMNS][2];
        skinny_piece of_x[CONFIG::TOGETHER][CONFIG::ROWS];
#pragma unroll
        for (int i = 0; i < CONFIG::TOGETHER; i++) {
            const int ahead = i * CONFIG::DEPTH, left = until - at - ahead;
#pragma unroll
            for (int j = 0; j < 2 * CONFIG::COLUMNS; j++)
                of_w[i][j / 2][j % 2] = skinny_load<CONFIG, true>(
                    w + 8 * j * k + ahead, column + 8 * j < operands.n ? left : 0);
#pragma unroll
            for (int j = 0; j < CONFIG::ROWS; j++)
                of_x[i][j] = skinny_load<CONFIG, false>(x + 8 * j * k + ahead,
                                                        row + 8 * j < operands.m ? left : 0);
        }
#pragma unroll
        for (int i = 0; i < CONFIG::TOGETHER; i++)
            skinny_multiply<CONFIG>(sum, of_w[i], of_x[i]);
    }
}

template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS, 2)
    linear_skinny_kernel(const __grid_constant__ struct skinny_args args)
{
    extern __shared__ __align__(16) float skinny_shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    /* No division: it would be a large part of what comes before the first load. */
    const int rank = (int)blockIdx.x & ((1 << args.log_parts) - 1);
    const int64_t row0 = (int64_t)blockIdx.y * (8 * CONFIG::ROWS);
    const int column0 = ((int)blockIdx.x >> args.log_parts) * (16 * CONFIG::COLUMNS);
    const int share = rank * CONFIG::WARPS + warp, log_shares = CONFIG::LOG_WARPS + args.log_parts;
    skinny_expect_bias<typename CONFIG::type>(args.operands, column0, 16 * CONFIG::COLUMNS);
    float sum[CONFIG::COLUMNS][CONFIG::ROWS][4] = {};
    skinny_sum<CONFIG>(sum, args.operands, row0, column0, args.chunks * share >> log_shares,
                       args.chunks * (share + 1) >> log_shares, lane);
    float *own = skinny_shared + warp * CONFIG::SUMS;
#pragma unroll
    for (int column = 0; column < CONFIG::COLUMNS; column++)
#pragma unroll
        for (int row = 0; row < CONFIG::ROWS; row++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                own[(8 * row + mma_column(lane, i)) * CONFIG::PITCH + 16 * column +
                    mma_row(lane, i)] = sum[column][row][i];
    skinny_finish<CONFIG>(args.operands, 1 << args.log_parts, skinny_shared, row0, column0, rank);
}

/* ------------------------------------------------------------------ launch -- */

struct skinny_kernel {
    const void *kernel;
    int columns, rows, depth, threads, shared_bytes; /* rows: tiles */
};

template <typename T, int COLUMNS, int ROWS, bool ALIGNED, enum linear_finish FINISH>
static struct skinny_kernel kernel_of(void)
{
    using config = skinny_config<T, COLUMNS, ROWS, ALIGNED, FINISH>;
    return {(const void *)linear_skinny_kernel<config>,
            16 * COLUMNS,
            ROWS,
            config::DEPTH,
            config::THREADS,
            config::SHARED_BYTES};
}

/* The fewest rows that are enough for so many. */
template <typename T, int COLUMNS, bool ALIGNED, enum linear_finish FINISH>
static struct skinny_kernel kernel_for(int64_t rows)
{
    if (rows <= 8) return kernel_of<T, COLUMNS, 1, ALIGNED, FINISH>();
    if (rows <= 16) return kernel_of<T, COLUMNS, 2, ALIGNED, FINISH>();
    if (rows <= 32) return kernel_of<T, COLUMNS, 4, ALIGNED, FINISH>();
    if (rows <= 48) return kernel_of<T, COLUMNS, 6, ALIGNED, FINISH>();
    return kernel_of<T, COLUMNS, 8, ALIGNED, FINISH>();
}

/* `width` is 0 or 1; 1 alone where rows are not aligned. */
template <typename T, enum linear_finish FINISH>
static struct skinny_kernel kernel_for(int width, int64_t rows, int64_t k)
{
    if (k * (int64_t)sizeof(T) % 16 != 0)
        return width == 1 ? kernel_for<T, 2, false, FINISH>(rows) : skinny_kernel();
    return width == 0 ? kernel_for<T, 1, true, FINISH>(rows) : kernel_for<T, 2, true, FINISH>(rows);
}

template <enum linear_finish FINISH>
static struct skinny_kernel kernel_for(enum gpt_precision precision, int width, int64_t rows,
                                       int64_t k)
{
    return precision == GPT_BF16   ? kernel_for<uint16_t, FINISH>(width, rows, k)
           : precision == GPT_FP16 ? kernel_for<fp16_t, FINISH>(width, rows, k)
                                   : kernel_for<float, FINISH>(width, rows, k);
}

static int allow(const struct skinny_kernel *kernel)
{
    if (kernel->shared_bytes <= 48 * 1024) return 0;
    return cuda_allow_shared(kernel->kernel, kernel->shared_bytes);
}

int linear_skinny_init(struct linear_skinny *product, int division,
                       const struct linear_operands *operands, enum gpt_precision precision)
{
    const int width = division / 4, log_parts = division % 4, parts = 1 << log_parts;
    const int64_t row_blocks = gpt_blocks(operands->m, SKINNY_ROWS);
    const int64_t rows = gpt_blocks(operands->m, row_blocks);
    const struct skinny_kernel kernel =
        operands->finish == LINEAR_GELU
            ? kernel_for<LINEAR_GELU>(precision, width, rows, operands->k)
            : kernel_for<LINEAR_PLAIN>(precision, width, rows, operands->k);
    if (!kernel.kernel) return assay_error("rows are not aligned");
    if (parts > 1 && !assay_card()->arch_specific) return assay_error("no clusters");
    if (parts > 1 && operands->k < (int64_t)kernel.depth * parts * kernel.threads / 64)
        return assay_error("k is too short for %d parts", parts);
    const int64_t blocks = (int64_t)gpt_blocks(operands->n, kernel.columns) * parts;
    if (blocks > INT32_MAX) return assay_error("too many blocks");
    *product = {};
    product->operands = *operands;
    product->kernel = kernel.kernel;
    product->threads = kernel.threads;
    product->shared_bytes = kernel.shared_bytes;
    product->columns = kernel.columns;
    product->log_parts = log_parts;
    product->chunks = (int)gpt_blocks(operands->k, kernel.depth);
    product->blocks = (unsigned)blocks;
    product->row_blocks = gpt_blocks(operands->m, 8 * kernel.rows);
    return allow(&kernel);
}

int linear_skinny_enqueue(const struct linear_skinny *product, cudaStream_t stream)
{
    struct skinny_args args = {product->chunks, product->log_parts, product->operands};
    void *pointers[] = {&args};
    struct cluster_launch launch(1 << product->log_parts,
                                 dim3(product->blocks, product->row_blocks), product->threads,
                                 (size_t)product->shared_bytes, stream);
    if (product->log_parts == 0) launch.config.numAttrs = 0;
    return assay_cuda(cudaLaunchKernelExC(&launch.config, product->kernel, pointers), "launch");
}

void linear_skinny_name(const struct linear_skinny *product, char *out, size_t size)
{
    (void)snprintf(out, size, "skinny, %d columns, k in %d", product->columns,
                   1 << product->log_parts);
}

/* ----------------------------------------------------------------- variant -- */

/* As many parts as give each multiprocessor a block or two, of 32 columns. */
static int usual(const struct linear_operands *operands)
{
    int64_t blocks = gpt_blocks(operands->n, 32) * (int64_t)gpt_blocks(operands->m, SKINNY_ROWS);
    int log_parts = 0;
    while (log_parts < 3 && blocks << log_parts < assay_card()->multiprocessors)
        log_parts++;
    return 4 + (assay_card()->arch_specific ? log_parts : 0);
}

static int setup(struct assay_call *call)
{
    struct linear_skinny *product = (struct linear_skinny *)calloc(1, sizeof *product);
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_operands operands;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = -1;
    for (int division = usual(&operands); status && division >= 4; division--)
        status = linear_skinny_init(product, division, &operands, precision);
    if (status) return status;
    linear_skinny_name(product, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct linear_skinny *product = (const struct linear_skinny *)call->state;
    if (linear_skinny_enqueue(product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const char *supports(const struct assay_shape *shape)
{
    const int64_t precision = shape->value[LINEAR_PRECISION];
    if (precision == GPT_FP32) return "tf32, bf16 and fp16 only";
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return shape->value[LINEAR_M] > LINEAR_SKINNY_MOST ? "more than 1024 rows" : NULL;
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "skinny",
    .summary = "few rows on tensor cores by mma.sync, any k, which clusters divide",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
