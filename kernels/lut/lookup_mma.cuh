/*
 * lookup_mma.cuh - products by mma.sync of codewords of E8 that are looked up in a table of bf16,
 * 16 bytes each, which are what a lane gives to the instruction: B is codes, and A numbers in bf16
 * (weight_only_linear) or codes too (lut_matmul).
 *
 * Columns of C are the product's 16 rows, 8 rows of A its columns, NT times. The order of K within
 * a product is free: of 32 entries, lane t of four takes the block 8 t to 8 t + 7 of columns g and
 * g + 8, one lookup for each level, and of a row of A the same entries. Levels are added by fma in
 * bf16, exactly: all sums are whole numbers of at most 8 bits.
 *
 * The warps of a block stay for all tasks, tiles of C. Where these are few, 2 to 16 warps (`ways`)
 * share one: each takes every so many unit of K, and sums meet in shared memory, added in order.
 */
#pragma once

#include "kernels/cuda/half.cuh"
#include "lut.h"
#include "weight_decode.cuh"
#include "weight_mma.cuh"

enum {
    LOOKUP_TILE = 16,  /* columns of C in a product */
    LOOKUP_CHUNK = 32, /* entries of K in two products */
    LOOKUP_LANES = 32,
    LOOKUP_WARPS = 16, /* of a block */
    LOOKUP_THREADS = LOOKUP_LANES * LOOKUP_WARPS,
};

struct lookup_args {
    const uint32_t *codes; /* [group][unit][tile][level][lane] */
    const uint4 *points;   /* as bf16 */
    struct lut_codes a;    /* or else `x` */
    const uint16_t *x;
    void *c; /* bf16, or fp32 where A is codes */
    int64_t rows, k, columns, tasks;
    int units, row_blocks, ways, count; /* of K; of A; of points */
    uint32_t weight[3];                 /* of levels above the first, as two bf16 */
    float scale;
};

/* ------------------------------------------------------------------- order -- */

/* A word has one level's indices of a lane: of column g, of g + 8, then of the next chunk. */
static __host__ __device__ constexpr int lookup_chunks(int bits)
{
    return 16 / bits; /* in a unit */
}

/* ------------------------------------------------------------------ kernel -- */

/* The table in shared memory, COPIES times, or else in device memory. */
template <int COPIES> struct lookup_table {
    const uint4 *points;

    __device__ __forceinline__ uint4 operator[](uint32_t index) const
    {
        if (COPIES == 0) return __ldg(points + index);
        return points[index * COPIES + threadIdx.x % (COPIES ? COPIES : 1)];
    }
};

/* Units of codes that a lane holds ahead of their use, of so many words: registers are few. */
static __host__ __device__ constexpr int lookup_ahead(int words, int row_tiles)
{
    return row_tiles == 8 || words > 4 ? 1 : row_tiles == 4 || words == 4 ? 2 : 4;
}

/* Sums of a lane that are in shared memory at a time, of so many. */
static __host__ __device__ constexpr int lookup_shared_sums(int count)
{
    return count < 32 ? count : 32;
}

/* A warp's part of a task: TILES tiles of 16 columns, NT times 8 rows, every `ways`th unit. */
template <bool CODED, int M, int BITS, int COPIES, int TILES, int NT> struct lookup_part {
    static constexpr int COUNT = TILES * NT * 4;
    static constexpr int CHUNKS = lookup_chunks(BITS);
    static constexpr int AHEAD = lookup_ahead(TILES * M, NT);

    const lookup_args &args;
    const uint32_t *next; /* codes of the unit AHEAD of the present one */
    uint32_t codes[AHEAD][TILES][M];
    float sum[COUNT];

    __device__ __forceinline__ void fetch(int slot, int unit)
    {
        if (unit >= args.units) return;
#pragma unroll
        for (int i = 0; i < TILES * M; i++)
            codes[slot][i / M][i % M] = __ldcs(next + i * LOOKUP_LANES);
        next += (int64_t)args.ways * TILES * M * LOOKUP_LANES;
    }

    /* Ask for the first codes of a task, if there is such a one. */
    __device__ __forceinline__ void begin(int64_t task, int part)
    {
        if (task >= args.tasks) return;
        int64_t group = task / args.row_blocks;
        next = args.codes + (group * args.units + part) * (TILES * M * LOOKUP_LANES) +
               threadIdx.x % LOOKUP_LANES;
#pragma unroll
        for (int slot = 0; slot < AHEAD; slot++)
            fetch(slot, part + slot * args.ways);
    }

    /* Add level `m` of a block, in pairs. */
    __device__ __forceinline__ void add_level(const lookup_table<COPIES> &table, int m,
                                              uint32_t index, uint32_t (&block)[4]) const
    {
        const uint4 point = table[index];
        const uint32_t pair[4] = {point.x, point.y, point.z, point.w};
#pragma unroll
        for (int i = 0; i < 4; i++)
            block[i] = m == 0 ? pair[i] : weight_fma(args.weight[m - 1], pair[i], block[i]);
    }

    /* The block of this lane's place number `place` in the words of a unit. */
    __device__ __forceinline__ void decode(const lookup_table<COPIES> &table,
                                           const uint32_t (&words)[M], int place,
                                           uint32_t (&block)[4]) const
    {
#pragma unroll
        for (int m = 0; m < M; m++)
            add_level(table, m, words[m] >> place * BITS & ((1u << BITS) - 1), block);
    }

    /* Eight entries of a row of A from k on; zeros beyond its end. */
    __device__ __forceinline__ uint4 load_row(const lookup_table<COPIES> &table, int64_t row,
                                              int64_t k) const
    {
        if (!CODED) return weight_load_x(args.x + row * args.k + k, args.k - k, args.k % 8 == 0);
        uint32_t block[4] = {};
        if (k >= args.k) return make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int m = 0; m < M; m++)
            add_level(table, m, lut_read(&args.a, row, k / 8 * M + m), block);
        return make_uint4(block[0], block[1], block[2], block[3]);
    }

    /* A unit, whose entries for this lane begin at k. */
    __device__ __forceinline__ void multiply(const lookup_table<COPIES> &table, int slot,
                                             int64_t row, int rows, int64_t k)
    {
#pragma unroll(NT == 8 ? 1 : CHUNKS)
        for (int chunk = 0; chunk < CHUNKS; chunk++, k += LOOKUP_CHUNK) {
            uint32_t upper[TILES][4], lower[TILES][4];
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                decode(table, codes[slot][tile], 2 * chunk, upper[tile]);
                decode(table, codes[slot][tile], 2 * chunk + 1, lower[tile]);
            }
#pragma unroll
            for (int n = 0; n < NT; n++) {
                if (8 * n >= rows) break;
                /* Behind the last row it again; such sums are never written. */
                const int at = min(8 * n + (int)threadIdx.x % LOOKUP_LANES / 4, rows - 1);
                const uint4 b = load_row(table, row + at, k);
#pragma unroll
                for (int tile = 0; tile < TILES; tile++) {
                    float *c = sum + (tile * NT + n) * 4;
                    weight_multiply(c, upper[tile], lower[tile], b.x, b.y);
                    weight_multiply(c, upper[tile] + 2, lower[tile] + 2, b.z, b.w);
                }
            }
        }
    }

    __device__ __forceinline__ void add_up(const lookup_table<COPIES> &table, int64_t task,
                                           int part)
    {
        const int64_t row = task % args.row_blocks * (8 * NT);
        const int rows = (int)min(args.rows - row, (int64_t)8 * NT);
        for (int at = part; at < args.units; at += AHEAD * args.ways)
#pragma unroll
            for (int slot = 0; slot < AHEAD; slot++) {
                const int unit = at + slot * args.ways;
                if (unit >= args.units) break;
                multiply(table, slot, row, rows,
                         (int64_t)unit * (CHUNKS * LOOKUP_CHUNK) + threadIdx.x % 4 * 8);
                fetch(slot, unit + AHEAD * args.ways);
            }
    }

    __device__ __forceinline__ void store(int64_t task, int i, float value) const
    {
        const int lane = threadIdx.x % LOOKUP_LANES;
        const int64_t row =
            task % args.row_blocks * (8 * NT) + i / 4 % NT * 8 + lane % 4 * 2 + i % 2;
        const int64_t column = (task / args.row_blocks * TILES + i / (4 * NT)) * LOOKUP_TILE +
                               lane / 4 + i / 2 % 2 * 8;
        if (row >= args.rows || column >= args.columns) return;
        if (CODED)
            ((float *)args.c)[row * args.columns + column] = 0.25f * value * args.scale;
        else
            ((uint16_t *)args.c)[row * args.columns + column] = bf16_of(args.scale * value);
    }

    /* All warps of a block: the sums of those that share a task, added up by all of them, so many
     * at a time. */
    __device__ __forceinline__ void share(float *sums, int64_t task, int part)
    {
        constexpr int EACH = lookup_shared_sums(COUNT);
        float *of_warp =
            sums + threadIdx.x / LOOKUP_LANES * (EACH * LOOKUP_LANES) + threadIdx.x % LOOKUP_LANES;
        const float *of_first = of_warp - part * (EACH * LOOKUP_LANES);
#pragma unroll
        for (int first = 0; first < COUNT; first += EACH) {
#pragma unroll
            for (int i = 0; i < EACH; i++)
                of_warp[i * LOOKUP_LANES] = sum[first + i];
            __syncthreads();
            for (int i = part; i < EACH && task < args.tasks; i += args.ways) {
                float total = 0;
                for (int p = 0; p < args.ways; p++)
                    total += of_first[(p * EACH + i) * LOOKUP_LANES];
                store(task, first + i, total);
            }
            __syncthreads(); /* before they are overwritten */
        }
    }
};

template <bool CODED, int M, int BITS, int COPIES, int TILES, int NT>
static __global__ void __launch_bounds__(LOOKUP_THREADS, TILES == 1 ? 2 : 1)
    lookup_mma(const __grid_constant__ struct lookup_args args)
{
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / LOOKUP_LANES, part = warp % args.ways;
    const int tasks = LOOKUP_WARPS / args.ways; /* of a block at a time */
    const int64_t step = (int64_t)gridDim.x * tasks;
    int64_t task = (int64_t)blockIdx.x * tasks + warp / args.ways;
    lookup_part<CODED, M, BITS, COPIES, TILES, NT> mine = {args};
    mine.begin(task, part);
#pragma unroll 4
    for (int i = threadIdx.x; i < args.count * COPIES; i += blockDim.x)
        shared[i] = __ldg(args.points + i / (COPIES ? COPIES : 1));
    __syncthreads();
    const lookup_table<COPIES> table = {COPIES ? shared : args.points};
    for (; task - warp / args.ways < args.tasks; task += step) {
#pragma unroll
        for (int i = 0; i < mine.COUNT; i++)
            mine.sum[i] = 0;
        if (task < args.tasks) mine.add_up(table, task, part);
        mine.begin(task + step, part);
        if (args.ways > 1) {
            mine.share((float *)(shared + args.count * COPIES), task, part);
            continue;
        }
#pragma unroll
        for (int i = 0; i < mine.COUNT; i++)
            if (task < args.tasks) mine.store(task, i, mine.sum[i]);
    }
}
