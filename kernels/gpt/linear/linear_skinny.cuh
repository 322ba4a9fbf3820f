/*
 * linear_skinny.cuh - few rows of x, or few outputs, on tensor cores by mma.sync: nothing that a
 * product of a few microseconds need wait for, no TMA, no ring in shared memory.
 *
 * The rows of w are the 16 rows of mma.sync's tile and those of x its 8 columns. A lane loads 16
 * bytes of k of a row into the registers in which the products take them: which numbers of k a
 * product multiplies does not matter, as long as both operands have the same. So four lanes read 64
 * bytes of a row, a chunk, and two products take it. Where rows are not aligned to 16 bytes, lanes
 * load single numbers, each the next one.
 *
 * A block has 16, 32 or 64 columns and up to 64 rows of outputs, its warps successive parts of k,
 * and on Hopper a cluster of up to 8 blocks divides k further. The warps' sums are added in shared
 * memory, the blocks' through the shared memory of the cluster, in a fixed order.
 *
 * e4m3 are converted to fp16, which takes any, and each chunk's sums are multiplied by its scales
 * where scales are of blocks. Hopper's own e4m3 mma.sync is the same two instructions.
 *
 * Operations: 2 m n k. Bytes from L2: w m / 64 times; x n / 64 to n / 16 times, partly from L1.
 */
#pragma once

#include <cuda_fp8.h>
#include <type_traits>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/mma.cuh"
#include "linear.cuh"
#include "linear_fp8.h"
#include "linear_skinny.h"

enum {
    SKINNY_ROWS = 64,        /* of a block, at most */
    SKINNY_CHUNK_BYTES = 64, /* of k */
    SKINNY_LANE_LOADS = 8,   /* of 16 bytes of w or of x that are under way */
};

/* An operand that has scales (linear_fp8.h): one, or one for each block. */
template <bool BY_BLOCK_> struct skinny_e4m3 {
    uint8_t code;
};

template <typename T> struct skinny_scaled : std::false_type {
    static constexpr bool BY_BLOCK = false;
    using output = T;
};
template <bool BY_BLOCK_> struct skinny_scaled<skinny_e4m3<BY_BLOCK_>> : std::true_type {
    static constexpr bool BY_BLOCK = BY_BLOCK_;
    using output = uint16_t;
};

/* One kernel: COLUMNS tiles of 16 columns and ROWS of 8 rows. */
template <typename T, int COLUMNS_, int ROWS_, bool ALIGNED_> struct skinny_config {
    using type = T;
    static constexpr int COLUMNS = COLUMNS_, ROWS = ROWS_;
    static constexpr bool ALIGNED = ALIGNED_, SCALED = skinny_scaled<T>::value;
    static constexpr bool BY_BLOCK = skinny_scaled<T>::BY_BLOCK;
    static constexpr int WARPS = COLUMNS * ROWS > (SCALED ? 4 : 8) ? 4 : 8, THREADS = 32 * WARPS;
    static constexpr int WIDTH = 16 / sizeof(T), DEPTH = SKINNY_CHUNK_BYTES / sizeof(T);
    /* Chunks that a warp loads at a time. */
    static constexpr int BY_X = SKINNY_LANE_LOADS / ROWS, BY_W = SKINNY_LANE_LOADS / COLUMNS / 2;
    static constexpr int TOGETHER = BY_X < BY_W ? BY_X : BY_W;
    /* A warp's sums, row by row; so padded that its lanes write to 32 banks. */
    static constexpr int PITCH = 16 * COLUMNS + 4, SUMS = 8 * ROWS * PITCH;
    static constexpr int QUADS = 4 * COLUMNS; /* of a row of outputs */
    static constexpr int SHARED_BYTES = WARPS * SUMS * (int)sizeof(float);
};

struct skinny_args {
    struct linear_operands operands;
    struct linear_scales scales;
    int row_blocks, parts;
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

static __device__ __forceinline__ void skinny_set(skinny_piece &p, int i, float number)
{
    p.word[i] = __float_as_uint(number);
}

/* A lane's piece of a chunk of a row; zeros outside the matrix. */
template <typename CONFIG, bool OF_W>
static __device__ __forceinline__ skinny_piece skinny_load(const typename CONFIG::type *row,
                                                           int chunk, int k, bool inside, int lane)
{
    skinny_piece p = {{0, 0, 0, 0}};
    if constexpr (CONFIG::ALIGNED) {
        int at = chunk * CONFIG::DEPTH + lane % 4 * CONFIG::WIDTH;
        if (inside && at < k) p = OF_W ? skinny_load_w(row + at) : skinny_load_x(row + at);
    } else {
#pragma unroll
        for (int i = 0; i < CONFIG::WIDTH; i++) {
            int at = chunk * CONFIG::DEPTH + 4 * i + lane % 4;
            if (inside && at < k) skinny_set(p, i, __ldg(row + at));
        }
    }
    return p;
}

/* Four e4m3 as two pairs of fp16. */
static __device__ __forceinline__ uint2 skinny_halves(uint32_t word)
{
    auto pair = [](uint32_t codes) {
        __half2_raw both = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)codes, __NV_E4M3);
        return (uint32_t)both.y << 16 | both.x;
    };
    return make_uint2(pair(word & 0xffff), pair(word >> 16));
}

/* Add the products of a chunk of e4m3: four steps of k, a word each. */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_multiply_e4m3(
    float (&sum)[CONFIG::COLUMNS][CONFIG::ROWS][4], const skinny_piece (&w)[CONFIG::COLUMNS][2],
    const skinny_piece (&x)[CONFIG::ROWS])
{
#pragma unroll
    for (int step = 0; step < 4; step++) {
        uint2 b[CONFIG::ROWS];
#pragma unroll
        for (int row = 0; row < CONFIG::ROWS; row++)
            b[row] = skinny_halves(x[row].word[step]);
#pragma unroll
        for (int column = 0; column < CONFIG::COLUMNS; column++) {
            const uint2 first = skinny_halves(w[column][0].word[step]);
            const uint2 second = skinny_halves(w[column][1].word[step]);
            const uint32_t a[4] = {first.x, second.x, first.y, second.y};
#pragma unroll
            for (int row = 0; row < CONFIG::ROWS; row++)
                mma_step(__half(), sum[column][row], a, b[row].x, b[row].y);
        }
    }
}

/* Add the products of a chunk, with its scales. */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_multiply_scaled(
    float (&sum)[CONFIG::COLUMNS][CONFIG::ROWS][4], const skinny_piece (&w)[CONFIG::COLUMNS][2],
    const skinny_piece (&x)[CONFIG::ROWS], const struct skinny_args &args, int64_t row0,
    int64_t column0, int chunk, int lane)
{
    float part[CONFIG::COLUMNS][CONFIG::ROWS][4] = {};
    const int64_t groups = (args.operands.k + LFP8_GROUP - 1) / LFP8_GROUP;
    const int group = chunk * CONFIG::DEPTH / LFP8_GROUP;
    const float of_w = __ldg(args.scales.w + column0 / LFP8_GROUP * groups + group);
    float scale[CONFIG::ROWS][2];
#pragma unroll
    for (int i = 0; i < 2 * CONFIG::ROWS; i++) {
        int64_t row = min(row0 + i / 2 * 8 + mma_column(lane, i % 2), args.operands.m - 1);
        scale[i / 2][i % 2] = __ldg(args.scales.x + row * groups + group) * of_w;
    }
    skinny_multiply_e4m3<CONFIG>(part, w, x);
#pragma unroll
    for (int column = 0; column < CONFIG::COLUMNS; column++)
#pragma unroll
        for (int row = 0; row < CONFIG::ROWS; row++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[column][row][i] += part[column][row][i] * scale[row][i % 2];
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
                                                  const struct skinny_args &args, int64_t row0,
                                                  int64_t column0, int begin, int end, int lane)
{
    using T = typename CONFIG::type;
    const struct linear_operands &operands = args.operands;
    const int64_t k = operands.k;
    const int64_t row = row0 + lane / 4, column = column0 + lane / 4;
    const T *x = (const T *)operands.x + row * k, *w = (const T *)operands.w + column * k;
    for (int chunk = begin; chunk < end; chunk += CONFIG::TOGETHER) {
        skinny_piece of_w[CONFIG::TOGETHER][CONFIG::COLUMNS][2];
        skinny_piece of_x[CONFIG::TOGETHER][CONFIG::ROWS];
#pragma unroll
        for (int i = 0; i < CONFIG::TOGETHER; i++) {
#pragma unroll
            for (int j = 0; j < 2 * CONFIG::COLUMNS; j++)
                of_w[i][j / 2][j % 2] =
                    skinny_load<CONFIG, true>(w + 8 * j * k, chunk + i, (int)k,
                                              chunk + i < end && column + 8 * j < operands.n, lane);
#pragma unroll
            for (int j = 0; j < CONFIG::ROWS; j++)
                of_x[i][j] =
                    skinny_load<CONFIG, false>(x + 8 * j * k, chunk + i, (int)k,
                                               chunk + i < end && row + 8 * j < operands.m, lane);
        }
#pragma unroll
        for (int i = 0; i < CONFIG::TOGETHER; i++)
            if constexpr (CONFIG::BY_BLOCK)
                skinny_multiply_scaled<CONFIG>(sum, of_w[i], of_x[i], args, row0, column0,
                                               min(chunk + i, end - 1), lane);
            else if constexpr (CONFIG::SCALED)
                skinny_multiply_e4m3<CONFIG>(sum, of_w[i], of_x[i]);
            else
                skinny_multiply<CONFIG>(sum, of_w[i], of_x[i]);
    }
}

static __device__ __forceinline__ void skinny_add(float4 &sum, float4 more)
{
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
    sum.w += more.w;
}

/* Four neighbouring outputs of a row. */
template <typename T>
static __device__ __forceinline__ void skinny_put(const struct linear_operands &operands,
                                                  int64_t row, int column, float4 sum)
{
    const T *bias = (const T *)operands.bias;
    const int n = (int)operands.n;
    float2 left = linear_bias_pair(bias, column, n), right = linear_bias_pair(bias, column + 2, n);
    linear_write_pair<T>(operands, row, column, make_float2(sum.x + left.x, sum.y + left.y));
    linear_write_pair<T>(operands, row, column + 2, make_float2(sum.z + right.x, sum.w + right.y));
}

/* The sums of the block's warps, or of the cluster's blocks, to y. */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_finish(const struct skinny_args &args, float *shared,
                                                     int64_t row0, int column0, int rank)
{
    constexpr int count = 8 * CONFIG::ROWS * CONFIG::QUADS;
    auto place = [&](int i) { return i / CONFIG::QUADS * CONFIG::PITCH + i % CONFIG::QUADS * 4; };
    float scale = 1.0f;
    if (CONFIG::SCALED && !CONFIG::BY_BLOCK) scale = __ldg(args.scales.x) * __ldg(args.scales.w);
    auto put = [&](int i, float4 sum) {
        if (CONFIG::SCALED && !CONFIG::BY_BLOCK)
            sum = make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale);
        skinny_put<typename skinny_scaled<typename CONFIG::type>::output>(
            args.operands, row0 + i / CONFIG::QUADS, column0 + i % CONFIG::QUADS * 4, sum);
    };
    __syncthreads();
    for (int i = (int)threadIdx.x; i < count; i += CONFIG::THREADS) {
        float4 sum = *(const float4 *)(shared + place(i));
#pragma unroll
        for (int warp = 1; warp < CONFIG::WARPS; warp++)
            skinny_add(sum, *(const float4 *)(shared + warp * CONFIG::SUMS + place(i)));
        if (args.parts == 1)
            put(i, sum);
        else
            *(float4 *)(shared + place(i)) = sum;
    }
#ifdef HOPPER_CODE
    if (args.parts == 1) return;
    hopper_cluster_sync();
    for (int i = rank * CONFIG::THREADS + (int)threadIdx.x; i < count;
         i += args.parts * CONFIG::THREADS) {
        const uint32_t at = hopper_shared(shared + place(i));
        float4 sum = hopper_get_from(at, 0);
        for (int part = 1; part < args.parts; part++)
            skinny_add(sum, hopper_get_from(at, (uint32_t)part));
        put(i, sum);
    }
    hopper_cluster_sync(); /* no block ends while another may still read from it */
#endif
}

template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS, 2)
    linear_skinny_kernel(const __grid_constant__ struct skinny_args args)
{
    extern __shared__ __align__(16) float skinny_shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rank = (int)blockIdx.x % args.parts, block = (int)blockIdx.x / args.parts;
    const int64_t row0 = (int64_t)(block % args.row_blocks) * (8 * CONFIG::ROWS);
    const int column0 = block / args.row_blocks * (16 * CONFIG::COLUMNS);
    const int chunks = ((int)args.operands.k + CONFIG::DEPTH - 1) / CONFIG::DEPTH;
    const int sharers = args.parts * CONFIG::WARPS, share = rank * CONFIG::WARPS + warp;
    float sum[CONFIG::COLUMNS][CONFIG::ROWS][4] = {};
    skinny_sum<CONFIG>(sum, args, row0, column0, chunks * share / sharers,
                       chunks * (share + 1) / sharers, lane);
    float *own = skinny_shared + warp * CONFIG::SUMS;
#pragma unroll
    for (int column = 0; column < CONFIG::COLUMNS; column++)
#pragma unroll
        for (int row = 0; row < CONFIG::ROWS; row++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                own[(8 * row + mma_column(lane, i)) * CONFIG::PITCH + 16 * column +
                    mma_row(lane, i)] = sum[column][row][i];
    skinny_finish<CONFIG>(args, skinny_shared, row0, column0, rank);
}

/* ------------------------------------------------------------------ launch -- */

struct skinny_kernel {
    const void *kernel;
    int columns, rows, depth, threads, shared_bytes; /* rows: tiles */
};

template <typename T, int COLUMNS, int ROWS, bool ALIGNED>
static struct skinny_kernel kernel_of(void)
{
    using config = skinny_config<T, COLUMNS, ROWS, ALIGNED>;
    return {(const void *)linear_skinny_kernel<config>,
            16 * COLUMNS,
            ROWS,
            config::DEPTH,
            config::THREADS,
            config::SHARED_BYTES};
}

/* The fewest rows that are enough for so many. */
template <typename T, int COLUMNS, bool ALIGNED>
static struct skinny_kernel kernel_for(int64_t rows)
{
    if (rows <= 8) return kernel_of<T, COLUMNS, 1, ALIGNED>();
    if (rows <= 16) return kernel_of<T, COLUMNS, 2, ALIGNED>();
    if (rows <= 32) return kernel_of<T, COLUMNS, 4, ALIGNED>();
    if (rows <= 48) return kernel_of<T, COLUMNS, 6, ALIGNED>();
    return kernel_of<T, COLUMNS, 8, ALIGNED>();
}

/* In setup: a product by this kernel, k in so many parts. 0; or -1, also where the card cannot
 * divide k so, or k is too short for it. */
static int skinny_plan(struct linear_skinny *product, const struct skinny_kernel &kernel, int parts,
                       const struct linear_operands *operands)
{
    const int64_t row_blocks = gpt_blocks(operands->m, 8 * kernel.rows);
    const int64_t blocks = gpt_blocks(operands->n, kernel.columns) * row_blocks * parts;
    if (parts > 1 && !assay_card()->arch_specific) return assay_error("no clusters");
    if (parts > 1 && operands->k < (int64_t)kernel.depth * parts * kernel.threads / 64)
        return assay_error("k is too short for %d parts", parts);
    if (blocks > INT32_MAX) return assay_error("too many blocks");
    *product = {*operands,      {NULL, NULL}, kernel.kernel,   kernel.threads,  kernel.shared_bytes,
                kernel.columns, parts,        (int)row_blocks, (unsigned)blocks};
    if (kernel.shared_bytes <= 48 * 1024) return 0;
    return cuda_allow_shared(kernel.kernel, kernel.shared_bytes);
}

/* As many parts, 1, 2, 4 or 8, as give each multiprocessor a block or two: the logarithm. */
static int skinny_usual_parts(const struct linear_operands *operands, int columns)
{
    int64_t blocks =
        gpt_blocks(operands->n, columns) * (int64_t)gpt_blocks(operands->m, SKINNY_ROWS);
    int log_parts = 0;
    if (!assay_card()->arch_specific) return 0;
    while (log_parts < 3 && blocks << log_parts < assay_card()->multiprocessors)
        log_parts++;
    return log_parts;
}
