/*
 * gemv.cuh - what both kernels of decode_gemv do: walk over tiles of 32 columns of B, decode them
 * in registers and multiply on the tensor cores (E8).
 *
 * One block runs on each SM. Its 16 warps split K; each keeps the codes of its next two chunks in
 * flight. Their sums are added in shared memory, with one barrier per tile.
 *
 * The template argument CODE supplies the rest:
 *
 *   TABLE_BYTES                bytes of the table in shared memory; 0: it stays in device memory
 *   bias()                     what it adds to each entry of B that it decodes
 *   shift()                    log2 of the factor by which its sums are too large
 *   SUMS                       groups of four sums that a lane has of a tile
 *   place(sum, i)              which element the i-th of group `sum` belongs to
 *   chunks(blocks)             chunks of 64 bytes in a column
 *   a_bytes(rows, blocks)      bytes of A in shared memory
 *   fill(args, shared)         writes table, A and the sums of A's rows (zero before)
 *   multiply_chunk(...)        multiplies a chunk of 8 columns per group by A, adds to the sums
 */
#pragma once

#include "gemv.h"
#include "kernels/cuda/cuda_limits.h"
#include "lut_cuda.h"

enum {
    GEMV_THREADS = 512,
    GEMV_WARPS = GEMV_THREADS / 32,
    GEMV_GROUPS = 4, /* groups of 8 columns in a warp's tile */
    GEMV_TILE = 8 * GEMV_GROUPS,
    GEMV_SLOTS = 3, /* chunks of codes in registers: this one and two ahead */
};

struct gemv_args {
    struct lut_codes a, b;
    const void *table; /* what CODE::fill takes */
    float *c;
    int64_t columns, blocks;
    int rows, tiles;
};

/* Shared memory: the table, A, the sums of A's rows, partial sums of tiles (twice). */
struct gemv_shared {
    char *table, *a;
    int *sums;
    int32_t *partial;
};

template <class CODE> static __host__ __device__ int64_t gemv_shared_bytes(int rows, int64_t blocks)
{
    return CODE::TABLE_BYTES + CODE::a_bytes(rows, blocks) + GEMV_ROWS * 4 +
           2 * (int64_t)GEMV_WARPS * rows * GEMV_TILE * 4;
}

/* Where a warp's loads are: a tile, and which of its chunks of that tile. */
struct gemv_cursor {
    int tile, turn;
};

static __device__ __forceinline__ void gemv_advance(gemv_cursor &at, int turns)
{
    if (++at.turn < turns) return;
    at.turn = 0;
    at.tile += gridDim.x;
}

/* Load 16 bytes of codes of this lane's column in each group. Beyond a row's end, where A is zeros,
 * its last bytes are loaded; beyond the last column that column, and the sums are not written. */
static __device__ __forceinline__ void gemv_load(const gemv_args &args, gemv_cursor from,
                                                 uint4 codes[GEMV_GROUPS])
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int chunk = warp + from.turn * GEMV_WARPS;
    int at = min(chunk * GEMV_CHUNK_BYTES + lane % 4 * GEMV_LANE_BYTES,
                 (int)args.b.stride_bytes - GEMV_LANE_BYTES);
    int column = from.tile * GEMV_TILE + lane / 4, last = (int)args.columns - 1;
#pragma unroll
    for (int group = 0; group < GEMV_GROUPS; group++) {
        int64_t row = (int64_t)min(column + group * 8, last) * (int)args.b.stride_bytes;
        codes[group] = __ldcs((const uint4 *)((const char *)args.b.data + row + at));
    }
}

/* Add the shares of a warp's threads to the sum of a row, all at once. */
static __device__ __forceinline__ void gemv_add_sum(int *sum, int share)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        share += __shfl_xor_sync(0xffffffffu, share, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, share);
}

/* An element of a tile of C. */
struct gemv_element {
    int row, column;
};

/* Add up the warps' sums of a tile and write them to C. There is one barrier, because consecutive
 * tiles use different halves of `partial`. */
template <class CODE>
static __device__ __forceinline__ void gemv_finish(const gemv_args &args, int tile,
                                                   int32_t *partial, const int *sums,
                                                   int32_t sum[CODE::SUMS][4])
{
    int warp = threadIdx.x / 32;
#pragma unroll
    for (int at = 0; at < CODE::SUMS; at++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            struct gemv_element element = CODE::place(at, i);
            if (element.row < args.rows)
                partial[(warp * args.rows + element.row) * GEMV_TILE + element.column] = sum[at][i];
            sum[at][i] = 0;
        }
    __syncthreads();
    static_assert(GEMV_ROWS <= GEMV_WARPS && GEMV_TILE == 32, "a warp adds up a row");
    if (warp >= args.rows) return;
    int lane = threadIdx.x % 32, total = 0;
    int64_t column = (int64_t)tile * GEMV_TILE + lane;
#pragma unroll
    for (int w = 0; w < GEMV_WARPS; w++)
        total += partial[(w * args.rows + warp) * GEMV_TILE + lane];
    total = (total >> CODE::shift()) - CODE::bias() * sums[warp];
    if (column < args.columns)
        args.c[warp * args.columns + column] = (float)(total >> 2); /* E8: / 4 */
}

template <class CODE>
static __device__ __forceinline__ void gemv_tiles(const gemv_args &args, char *memory)
{
    int chunks = CODE::chunks(args.blocks);
    struct gemv_shared shared;
    shared.table = CODE::TABLE_BYTES > 0 ? memory : (char *)args.table;
    shared.a = memory + CODE::TABLE_BYTES;
    shared.sums = (int *)(shared.a + CODE::a_bytes(args.rows, args.blocks));
    shared.partial = shared.sums + GEMV_ROWS;
    int warp = threadIdx.x / 32;
    int turns = (chunks + GEMV_WARPS - 1) / GEMV_WARPS; /* chunks of a tile per warp */

    /* An item is one chunk of one tile; all warps of a block have equally many. */
    int items = (args.tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x * turns;
    gemv_cursor ahead = {(int)blockIdx.x, 0};
    uint4 codes[GEMV_SLOTS][GEMV_GROUPS];
#pragma unroll
    for (int slot = 0; slot < GEMV_SLOTS - 1; slot++) {
        gemv_load(args, ahead, codes[slot]);
        gemv_advance(ahead, turns);
    }

    if (threadIdx.x < GEMV_ROWS) shared.sums[threadIdx.x] = 0;
    __syncthreads();
    CODE::fill(args, shared);
    __syncthreads();

    int32_t sum[CODE::SUMS][4] = {};
    int tile = blockIdx.x, turn = 0, parity = 0;
    for (int first = 0; first < items; first += GEMV_SLOTS) {
#pragma unroll
        for (int slot = 0; slot < GEMV_SLOTS; slot++) {
            if (first + slot >= items) break;
            gemv_load(args, ahead, codes[(slot + GEMV_SLOTS - 1) % GEMV_SLOTS]);
            gemv_advance(ahead, turns);
            int chunk = warp + turn * GEMV_WARPS;
            if (chunk < chunks) CODE::multiply_chunk(codes[slot], chunk, args.rows, shared, sum);
            if (++turn < turns) continue;
            gemv_finish<CODE>(args, tile,
                              shared.partial + parity * GEMV_WARPS * args.rows * GEMV_TILE,
                              shared.sums, sum);
            tile += gridDim.x;
            turn = 0;
            parity ^= 1;
        }
    }
}

/* ------------------------------------------------------------------ host -- */

static inline struct gemv_args gemv_arguments(const struct assay_call *call,
                                              const struct lut_geometry *geometry,
                                              const void *table)
{
    return {.a = lut_codes(geometry, call->buffer[LUT_A], geometry->rows),
            .b = lut_codes(geometry, call->buffer[LUT_B], geometry->columns),
            .table = table,
            .c = (float *)call->buffer[LUT_C],
            .columns = geometry->columns,
            .blocks = geometry->blocks,
            .rows = (int)geometry->rows,
            .tiles = (int)((geometry->columns + GEMV_TILE - 1) / GEMV_TILE)};
}

typedef void gemv_kernel(gemv_args);

/* A kernel for a geometry, and its shared memory for so many rows of A. */
struct gemv_choice {
    gemv_kernel *kernel;
    int64_t (*bytes)(int rows, int64_t blocks);
    int most; /* rows that it can take */
};

/* Rows of A that one launch takes on this card. */
static inline int gemv_rows_each(const struct gemv_choice *choice,
                                 const struct lut_geometry *geometry)
{
    int rows = geometry->rows < choice->most ? (int)geometry->rows : choice->most;
    while (rows > 1 && choice->bytes(rows, geometry->blocks) > assay_card()->shared_bytes)
        rows--;
    return rows;
}

static inline int gemv_allow(const struct gemv_choice *choice, const struct lut_geometry *geometry)
{
    return cuda_allow_shared((const void *)choice->kernel,
                             choice->bytes(gemv_rows_each(choice, geometry), geometry->blocks));
}

/* As many launches as the rows need; each reads all of B. */
static inline int gemv_enqueue(const struct gemv_choice *choice,
                               const struct lut_geometry *geometry, struct gemv_args args,
                               cudaStream_t stream)
{
    int each = gemv_rows_each(choice, geometry), processors = assay_card()->multiprocessors;
    unsigned grid = (unsigned)(args.tiles < processors ? args.tiles : processors);
    for (int left = args.rows; left > 0; left -= each) {
        args.rows = left < each ? left : each;
        size_t bytes = (size_t)choice->bytes(args.rows, geometry->blocks);
        choice->kernel<<<grid, GEMV_THREADS, bytes, stream>>>(args);
        if (assay_launched()) return -1;
        args.a.data = (const char *)args.a.data + args.rows * args.a.stride_bytes;
        args.c += args.rows * args.columns;
    }
    return 0;
}
