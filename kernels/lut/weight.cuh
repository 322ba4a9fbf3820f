/*
 * weight.cuh - what weight_only_linear's kernels on tensor cores share: their arguments, codewords
 * decoded in registers, and the choice and preparation on the host (weight.cu).
 *
 * A kernel's block x does part x % slices of K, for every (gridDim.x / slices)-th group of columns;
 * its teams (a warp or a warpgroup) take these by turns. Block y does 8 row_tiles rows of X. The
 * table of codewords is in shared memory, and X behind it, as many units as fit.
 */
#pragma once

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include "kernels/cuda/ampere.cuh"
#include "weight_code.h"
#include "weight_only.h"
#include "weight_tiles.h"

/* Units of codes that a lane holds ahead of their use. K is filled up to a multiple of so many. */
enum { WEIGHT_AHEAD = 4 };

struct weight_args {
    const uint4 *table, *codes;
    const uint16_t *x;
    __nv_bfloat16 *c;
    float *sums; /* [slice][row][column], or NULL: one slice, which writes C */
    int64_t rows, k, columns, units, groups;
    int slices, slice_units; /* parts of K, and their units; as pass_units */
    int pass_units;          /* units of X in shared memory; a multiple of WEIGHT_AHEAD */
    float scale;
    struct weight_constants constants;
};

/* ------------------------------------------------------------- on the host -- */

struct weight_kernel {
    void (*function)(struct weight_args);
    int row_tiles, teams, team_threads;
    int group;  /* columns of a team's group */
    bool fills; /* shared memory has all 8 row_tiles rows of X, where X has fewer */
};

/* The four kernels of one variant for codes of one level or two, those for few rows first. */
typedef const struct weight_kernel *weight_kernels(int levels);

/* Signatures of assay_variant, but for the kernels. */
const char *weight_unsupported(const struct assay_shape *shape);
int64_t weight_shared_bytes(const struct assay_shape *shape, weight_kernels *kernels);
int weight_setup(struct assay_call *call, weight_kernels *kernels);
int weight_launch(struct assay_call *call, weight_kernels *kernels);
void weight_teardown(struct assay_call *call);

/* --------------------------------------------------------------- decoding -- */

/* a b + c in both halves. */
static __device__ __forceinline__ uint32_t weight_fma(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef AMPERE_CODE
    uint32_t d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#else
    __trap();
#endif
}

static __device__ __forceinline__ uint32_t weight_add(uint32_t a, uint32_t b)
{
    return weight_fma(a, 0x3f803f80u, b);
}

/* The table's entries of two numbers; `table` is its address in shared memory. */
static __device__ __forceinline__ uint32_t weight_entries(const struct weight_constants &constants,
                                                          uint32_t table, uint32_t numbers)
{
    uint32_t low, high;
    asm volatile("ld.shared.u16 %0, [%1];"
                 : "=r"(low)
                 : "r"((numbers & 0xffff) * constants.two + table));
    asm volatile("ld.shared.u16 %0, [%1];"
                 : "=r"(high)
                 : "r"((numbers >> 16) * constants.two + table));
    return high * constants.upper + low;
}

/* Doubled coordinates of two codewords, plus 4 times `more`, which is at most 8 in magnitude. */
template <bool MORE>
static __device__ __forceinline__ void weight_level(const struct weight_constants &constants,
                                                    uint32_t table, uint32_t numbers,
                                                    uint32_t out[8])
{
    uint32_t fields[8], high = weight_offset(&constants, numbers);
    uint32_t low = weight_add(high, 0x42c042c0u); /* 96 */
    weight_fields(&constants, numbers, weight_entries(constants, table, numbers), fields);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint32_t offset = weight_is_high(i) ? high : low;
        if (MORE) offset = weight_fma(out[i], 0x40804080u, offset);
        out[i] = weight_add(fields[i], offset);
    }
}

/* The eight pairs of column g (below = 0) or g + 8 of a chunk. */
template <int M>
static __device__ __forceinline__ void weight_decode(const struct weight_constants &constants,
                                                     uint32_t table, const uint32_t words[4],
                                                     int chunk, int below, uint32_t out[8])
{
    if (M == 1) {
        weight_level<false>(constants, table, words[2 * chunk + below], out);
    } else {
        weight_level<false>(constants, table, words[2 * below + 1], out);
        weight_level<true>(constants, table, words[2 * below], out);
    }
}

/* ------------------------------------------------------------------- walk -- */

/* An element's sum: to C, or to the slice's sums. */
static __device__ __forceinline__ void weight_store(const struct weight_args &args, int slice,
                                                    int64_t row, int64_t column, float sum)
{
    int64_t at = row * args.columns + column;
    if (args.sums)
        args.sums[slice * args.rows * args.columns + at] = sum;
    else
        args.c[at] = __float2bfloat16(args.scale * sum);
}

/* The whole of a kernel, but for the team's own work:
 *
 *   THREADS, TILES, ROW_TILES  of a team; tiles of 16 columns of a warp; rows of X / 8
 *   first_tile(group)          of this warp
 *   stage(args, row, rows, k, chunks, x)
 *                              all of the block: rows of X from entry k on to shared memory
 *   clear(), add(args, table, codes, x, unit, rows), drain(), store(args, slice, row, rows, group)
 *                              sums to 0; one unit to them, X's number `unit` at x; wait until X
 * may be overwritten; sums to memory
 *
 * K goes by passes, of as much X as shared memory takes. */
template <int M, class Team>
static __device__ __forceinline__ void weight_walk(const struct weight_args &args, uint4 *shared)
{
    const int unit_entries = weight_unit_entries(M), unit_chunks = 2 / M;
    uint32_t table = (uint32_t)__cvta_generic_to_shared(shared);
    uint4 *x = shared + WEIGHT_TABLE_BYTES / 16;
    int teams = blockDim.x / Team::THREADS, number = threadIdx.x / Team::THREADS;
    int slice = blockIdx.x % args.slices, mine = blockIdx.x / args.slices;
    int others = gridDim.x / args.slices;
    int64_t first_row = (int64_t)blockIdx.y * 8 * Team::ROW_TILES;
    int rows = (int)min((int64_t)8 * Team::ROW_TILES, args.rows - first_row);
    int64_t begin = (int64_t)slice * args.slice_units;
    int64_t end = min(begin + args.slice_units, args.units);
    bool whole = args.slice_units <= args.pass_units; /* X is staged once */

    for (int i = threadIdx.x; i < WEIGHT_TABLE_BYTES / 16; i += blockDim.x)
        __pipeline_memcpy_async(shared + i, args.table + i, 16);
    __pipeline_commit();

    for (int64_t first_group = mine; first_group < args.groups; first_group += others * teams) {
        int64_t group = first_group + (int64_t)others * number;
        bool busy = group < args.groups;
        const uint4 *from =
            args.codes + Team::first_tile(group) * args.units * 32 + threadIdx.x % 32;
        uint4 codes[WEIGHT_AHEAD][Team::TILES];
        Team team;
        team.clear();
#pragma unroll
        for (int ahead = 0; ahead < WEIGHT_AHEAD; ahead++)
#pragma unroll
            for (int tile = 0; tile < Team::TILES; tile++)
                if (busy)
                    codes[ahead][tile] = __ldcs(from + (tile * args.units + begin + ahead) * 32);
        for (int64_t pass = begin; pass < end; pass += args.pass_units) {
            int64_t stop = min(pass + args.pass_units, end);
            if (!whole || first_group == mine) {
                __syncthreads(); /* nobody reads the X of before */
                Team::stage(args, first_row, rows, pass * unit_entries,
                            (int)(stop - pass) * unit_chunks, x);
                __pipeline_wait_prior(0);
                __syncthreads();
            }
            if (!busy) continue;
            for (int64_t unit = pass; unit < stop; unit += WEIGHT_AHEAD)
#pragma unroll
                for (int ahead = 0; ahead < WEIGHT_AHEAD; ahead++) {
                    int64_t next = unit + ahead + WEIGHT_AHEAD;
                    team.add(args, table, codes[ahead], x, (int)(unit - pass), ahead, rows);
#pragma unroll
                    for (int tile = 0; tile < Team::TILES; tile++)
                        if (next < end)
                            codes[ahead][tile] = __ldcs(from + (tile * args.units + next) * 32);
                }
            team.drain();
        }
        if (busy) team.store(args, slice, first_row, rows, group);
    }
}
