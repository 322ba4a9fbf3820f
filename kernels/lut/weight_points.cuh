/*
 * weight_points.cuh - the kernel of weight_only_decode.cu: a product by mma.sync of codewords that
 * are looked up in a table of bf16, and the order of the codes for it.
 */
#pragma once

#include "kernels/cuda/half.cuh"
#include "weight_decode.cuh"
#include "weight_mma.cuh"

enum {
    TILE = 16,  /* columns of C in a product */
    CHUNK = 32, /* entries of K in two products */
    LANES = 32,
};

struct decode_args {
    const uint32_t *codes; /* [group][unit][tile][level][lane] */
    const uint4 *points;   /* as bf16 */
    const uint16_t *x;
    uint16_t *c;
    int64_t rows, k, columns, tasks;
    int units, row_blocks, ways, count; /* of K; of X; of points */
    uint32_t weight[3];                 /* of levels above the first, as two bf16 */
    float scale;
};

/* ------------------------------------------------------------------- order -- */

/* A word has one level's indices of a lane: of column g, of g + 8, then of the next chunk. */
static __host__ __device__ constexpr int chunks_of(int bits)
{
    return 16 / bits; /* in a unit */
}

/* ------------------------------------------------------------------ kernel -- */

/* The table in shared memory, COPIES times, or else in device memory. */
template <int COPIES> struct point_table {
    const uint4 *points;

    __device__ __forceinline__ uint4 operator[](uint32_t index) const
    {
        if (COPIES == 0) return __ldg(points + index);
        return points[index * COPIES + threadIdx.x % (COPIES ? COPIES : 1)];
    }
};

/* Units of codes that a lane holds ahead of their use, of so many words: registers are few. */
static __host__ __device__ constexpr int decode_ahead(int words, int row_tiles)
{
    return row_tiles == 8 || words > 4 ? 1 : row_tiles == 4 || words == 4 ? 2 : 4;
}

/* A warp's part of a task: TILES tiles of 16 columns, NT times 8 rows, every `ways`th unit. */
template <int M, int BITS, int COPIES, int TILES, int NT> struct warp_part {
    static constexpr int COUNT = TILES * NT * 4;
    static constexpr int CHUNKS = chunks_of(BITS);
    static constexpr int AHEAD = decode_ahead(TILES * M, NT);

    const decode_args &args;
    const uint32_t *next; /* codes of the unit AHEAD of the present one */
    uint32_t codes[AHEAD][TILES][M];
    float sum[COUNT];

    __device__ __forceinline__ void fetch(int slot, int unit)
    {
        if (unit >= args.units) return;
#pragma unroll
        for (int i = 0; i < TILES * M; i++)
            codes[slot][i / M][i % M] = __ldcs(next + i * LANES);
        next += (int64_t)args.ways * TILES * M * LANES;
    }

    /* Ask for the first codes of a task, if there is such a one. */
    __device__ __forceinline__ void begin(int64_t task, int part)
    {
        if (task >= args.tasks) return;
        int64_t group = task / args.row_blocks;
        next = args.codes + (group * args.units + part) * (TILES * M * LANES) + threadIdx.x % LANES;
#pragma unroll
        for (int slot = 0; slot < AHEAD; slot++)
            fetch(slot, part + slot * args.ways);
    }

    /* The eight entries of a block, in pairs. */
    __device__ __forceinline__ void decode(const point_table<COPIES> &table,
                                           const uint32_t (&words)[M], int place,
                                           uint32_t out[4]) const
    {
#pragma unroll
        for (int m = 0; m < M; m++) {
            const uint4 point = table[words[m] >> place * BITS & ((1u << BITS) - 1)];
            const uint32_t pair[4] = {point.x, point.y, point.z, point.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[i] = m == 0 ? pair[i] : weight_fma(args.weight[m - 1], pair[i], out[i]);
        }
    }

    /* A unit, whose entries of X begin at `x`, `left` before the end of K. */
    __device__ __forceinline__ void multiply(const point_table<COPIES> &table, int slot,
                                             const uint16_t *x, const int (&offset)[NT],
                                             int64_t left, int tiles_of_rows)
    {
#pragma unroll(NT == 8 ? 1 : CHUNKS)
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            uint32_t upper[TILES][4], lower[TILES][4];
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                decode(table, codes[slot][tile], 2 * chunk, upper[tile]);
                decode(table, codes[slot][tile], 2 * chunk + 1, lower[tile]);
            }
#pragma unroll
            for (int n = 0; n < NT; n++) {
                if (n >= tiles_of_rows) break;
                const uint4 b = weight_load_x(x + offset[n] + chunk * CHUNK, left - chunk * CHUNK,
                                              args.k % 8 == 0);
#pragma unroll
                for (int tile = 0; tile < TILES; tile++) {
                    float *c = sum + (tile * NT + n) * 4;
                    weight_multiply(c, upper[tile], lower[tile], b.x, b.y);
                    weight_multiply(c, upper[tile] + 2, lower[tile] + 2, b.z, b.w);
                }
            }
        }
    }

    __device__ __forceinline__ void add_up(const point_table<COPIES> &table, int64_t task, int part)
    {
        const int lane = threadIdx.x % LANES;
        const int64_t first = task % args.row_blocks * (8 * NT);
        const int rows = (int)min(args.rows - first, (int64_t)8 * NT);
        int offset[NT];
#pragma unroll
        for (int n = 0; n < NT; n++) /* behind the last row it again; such sums are never written */
            offset[n] = min(n * 8 + lane / 4, rows - 1) * (int)args.k + lane % 4 * 8;
        for (int at = part; at < args.units; at += AHEAD * args.ways)
#pragma unroll
            for (int slot = 0; slot < AHEAD; slot++) {
                const int unit = at + slot * args.ways;
                if (unit >= args.units) break;
                const int64_t k = (int64_t)unit * (CHUNKS * CHUNK);
                multiply(table, slot, args.x + first * args.k + k, offset,
                         args.k - k - lane % 4 * 8, (rows + 7) / 8);
                fetch(slot, unit + AHEAD * args.ways);
            }
    }

    __device__ __forceinline__ void store(int64_t task, int i, float value) const
    {
        const int lane = threadIdx.x % LANES;
        const int64_t row =
            task % args.row_blocks * (8 * NT) + i / 4 % NT * 8 + lane % 4 * 2 + i % 2;
        const int64_t column =
            (task / args.row_blocks * TILES + i / (4 * NT)) * TILE + lane / 4 + i / 2 % 2 * 8;
        if (row < args.rows && column < args.columns)
            args.c[row * args.columns + column] = bf16_of(args.scale * value);
    }

    /* All warps of a block: the sums of those that share a task, added up by all of them. */
    __device__ __forceinline__ void share(float *sums, int64_t task, int part)
    {
        const int lane = threadIdx.x % LANES;
        float *of_warp = sums + threadIdx.x / LANES * (COUNT * LANES) + lane;
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            of_warp[i * LANES] = sum[i];
        __syncthreads();
        of_warp -= part * (COUNT * LANES);
        for (int i = part; i < COUNT && task < args.tasks; i += args.ways) {
            float total = 0;
            for (int p = 0; p < args.ways; p++)
                total += of_warp[(p * COUNT + i) * LANES];
            store(task, i, total);
        }
        __syncthreads(); /* before they are overwritten */
    }
};

static __host__ __device__ constexpr int warps_of(int row_tiles)
{
    return row_tiles == 8 ? 8 : 16;
}

template <int M, int BITS, int COPIES, int TILES, int NT>
static __global__ void __launch_bounds__(LANES *warps_of(NT), NT == 8 || TILES == 1 ? 2 : 1)
    weight_only_decode(const __grid_constant__ struct decode_args args)
{
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / LANES, part = warp % args.ways;
    const int tasks = warps_of(NT) / args.ways; /* of a block at a time */
    const int64_t step = (int64_t)gridDim.x * tasks;
    int64_t task = (int64_t)blockIdx.x * tasks + warp / args.ways;
    warp_part<M, BITS, COPIES, TILES, NT> mine = {args};
    mine.begin(task, part);
#pragma unroll 4
    for (int i = threadIdx.x; i < args.count * COPIES; i += blockDim.x)
        shared[i] = __ldg(args.points + i / (COPIES ? COPIES : 1));
    __syncthreads();
    const point_table<COPIES> table = {COPIES ? shared : args.points};
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
