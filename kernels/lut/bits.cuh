/*
 * bits.cuh - products of few rows with codes of E8, q = 4, as bits on tensor cores (bits.h): the
 * walk over the codes.
 *
 * One block runs on each SM, with the table of entries and the planes of all rows in shared memory.
 * Its 16 warps take chunks of its tiles in turn, each chunk 16 or 32 columns. Sums are whole
 * numbers, so warps add theirs to those in shared memory in any order, and meet only at the end.
 */
#pragma once

#include <cuda_pipeline.h>

#include "bits.h"
#include "kernels/cuda/ampere.cuh"
#include "lut_cuda.h"

enum {
    BIT_THREADS = 512,
    BIT_WARPS = BIT_THREADS / 32,
};

struct bit_args {
    const uint4 *table, *codes;
    int64_t tiles, chunks;
    uint32_t two, upper; /* 2 and 2^16, which the compiler must not know: factors instead of shifts,
                            for the pipe with less to do */
};

/* Shared memory: the table, planes, sums of the block's tiles [tile][level][row][16]. */
struct bit_shared {
    char *table;
    uint2 *planes;
    int *sums;
};

/* Sums of a tile: ROWS rows of 8 M planes each. */
template <int M, int ROWS> struct bit_rows {
    int sum[ROWS * M][4];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < 4 * ROWS * M; i++)
            sum[i / 4][i % 4] = 0;
    }

    /* Words `a` of 16 columns, numbers and entries of columns g and g + 8, times the planes. */
    __device__ __forceinline__ void add(uint4 a, const uint2 b[ROWS * M])
    {
#pragma unroll
        for (int i = 0; i < ROWS * M; i++) {
#ifdef AMPERE_CODE
            asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, "
                "%5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+r"(sum[i][0]), "+r"(sum[i][1]), "+r"(sum[i][2]), "+r"(sum[i][3])
                : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[i].x), "r"(b[i].y));
#else
            __trap();
#endif
        }
    }

    /* What a lane has of its two planes of product i, for columns g (below = 0) or g + 8. The
     * uppermost plane of a row counts negative. */
    __device__ __forceinline__ int share(int i, int below) const
    {
        int plane = threadIdx.x % 4 * 2, upper = sum[i][2 * below + 1] << plane << 1;
        if (i % M == M - 1 && plane == 6) upper = -upper;
        return ((sum[i][2 * below] << plane) + upper) << 8 * (i % M);
    }

    /* Add to a tile's sums in shared memory. */
    __device__ __forceinline__ void flush(int *sums)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int row = 0; row < ROWS; row++)
#pragma unroll
            for (int below = 0; below < 2; below++) {
                int value = share(row * M, below);
                if (M == 2) value += share(row * M + 1, below);
                value += __shfl_xor_sync(0xffffffffu, value, 1);
                value += __shfl_xor_sync(0xffffffffu, value, 2);
                if (lane % 4 == 0) atomicAdd(sums + row * BIT_TILE + 8 * below + lane / 4, value);
            }
        clear();
    }
};

static __device__ __forceinline__ uint32_t bit_word(uint4 four, int j)
{
    return j == 0 ? four.x : j == 1 ? four.y : j == 2 ? four.z : four.w;
}

static __device__ __forceinline__ uint32_t bit_entries(const bit_args &args, uint32_t table,
                                                       uint32_t numbers)
{
    uint32_t low, high;
    asm volatile("ld.shared.u16 %0, [%1];"
                 : "=r"(low)
                 : "r"((numbers & 0xffff) * args.two + table));
    asm volatile("ld.shared.u16 %0, [%1];" : "=r"(high) : "r"((numbers >> 16) * args.two + table));
    return high * args.upper + low;
}

/* Tiles that a block has space for: groups of `wide` tiles blockIdx.x, and every gridDim.x-th from
 * there. */
static __host__ __device__ inline int64_t bit_tiles_each(int64_t tiles, int wide, int64_t blocks)
{
    int64_t groups = (tiles + wide - 1) / wide;
    return (groups + blocks - 1) / blocks * wide;
}

/* The tile of which a block has the sums number `at` of its own. */
static __device__ __forceinline__ int64_t bit_tile_of(int at, int wide)
{
    return (blockIdx.x + (int64_t)(at / wide) * gridDim.x) * wide + at % wide;
}

/* Where a warp is: a group of tiles of its block, and a chunk of it. */
struct bit_cursor {
    int group, chunk;

    __device__ __forceinline__ void advance(int chunks)
    {
        for (chunk += BIT_WARPS; chunk >= chunks; chunk -= chunks)
            group++;
    }
};

template <int WIDE>
static __device__ __forceinline__ void bit_load(const bit_args &args, bit_cursor from,
                                                uint4 out[WIDE][2])
{
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        int64_t tile = bit_tile_of(from.group * WIDE + i, WIDE);
        if (tile >= args.tiles) return;
        const uint4 *at = args.codes + (tile * args.chunks + from.chunk) * 64 + threadIdx.x % 32;
        out[i][0] = __ldcs(at);
        out[i][1] = __ldcs(at + 32);
    }
}

/* Write planes `first` to `first` + 8 M of blocks x[0] and x[1], a pair. */
template <int M>
static __device__ __forceinline__ void bit_write(uint2 *planes, int of_pair, int first, int pair,
                                                 const int32_t (&x)[2][8])
{
    uint32_t turned[2][8];
    int32_t sum[2] = {0, 0};
#pragma unroll
    for (int half = 0; half < 2; half++) {
        bit_turn(x[half], turned[half]);
#pragma unroll
        for (int i = 0; i < 8; i++)
            sum[half] += x[half][i];
    }
#pragma unroll
    for (int plane = 0; plane < 8 * M; plane++) {
        uint32_t low = bit_plane(turned[0], sum[0], plane);
        uint32_t high = bit_plane(turned[1], sum[1], plane);
        planes[bit_plane_at(pair, first + plane, of_pair, M)] =
            make_uint2(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632));
    }
}

/* All of the block: sums of its tiles, for which `fill` writes the planes. A warp takes WIDE tiles
 * at a time. */
template <int M, int ROWS, int WIDE, class FILL>
static __device__ __forceinline__ void bit_walk(const bit_args &args, const bit_shared &shared,
                                                FILL fill)
{
    constexpr int PRODUCTS = ROWS * M;
    constexpr int SLOTS = WIDE == 1 ? 4 : 3; /* items of codes in registers: this one and others */
    const int chunks = (int)args.chunks, lane = threadIdx.x % 32;
    const uint32_t table = (uint32_t)__cvta_generic_to_shared(shared.table);
    for (unsigned i = threadIdx.x; i < BIT_TABLE_BYTES / 16; i += BIT_THREADS) {
        /* Blocks begin at different places, so that they do not all ask one part of L2. */
        unsigned at = (i + blockIdx.x * BIT_THREADS) % (BIT_TABLE_BYTES / 16);
        __pipeline_memcpy_async((uint4 *)shared.table + at, args.table + at, 16);
    }
    __pipeline_commit();
    bit_cursor here = {0, (int)threadIdx.x / 32}, ahead;
    for (; here.chunk >= chunks; here.chunk -= chunks)
        here.group++;
    ahead = here;
    uint4 codes[SLOTS][WIDE][2];
#pragma unroll
    for (int slot = 0; slot < SLOTS - 1; slot++, ahead.advance(chunks))
        bit_load<WIDE>(args, ahead, codes[slot]);
    const int64_t all = (args.tiles + WIDE - 1) / WIDE;
    const int groups = (int)((all - blockIdx.x + gridDim.x - 1) / gridDim.x);
    for (int i = threadIdx.x; i < groups * WIDE * M * ROWS * BIT_TILE; i += BIT_THREADS)
        shared.sums[i] = 0;
    fill();
    __pipeline_wait_prior(0);
    __syncthreads();

    bit_rows<M, ROWS> rows[WIDE * M];
#pragma unroll
    for (int i = 0; i < WIDE * M; i++)
        rows[i].clear();
    while (here.group < groups) {
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            if (here.group >= groups) break;
            bit_load<WIDE>(args, ahead, codes[(slot + SLOTS - 1) % SLOTS]);
            ahead.advance(chunks);
#pragma unroll
            for (int pair = 0; pair < BIT_LANE_WORDS / M; pair++) {
                const int place = here.chunk * (BIT_LANE_WORDS / M) + pair;
                const uint2 *planes = shared.planes + place * PRODUCTS * 32 + bit_slot(lane, place);
                uint2 b[PRODUCTS];
#pragma unroll
                for (int i = 0; i < PRODUCTS; i++)
                    b[i] = planes[32 * i];
#pragma unroll
                for (int i = 0; i < WIDE * M; i++) {
                    uint32_t upper = bit_word(codes[slot][i / M][0], pair * M + i % M);
                    uint32_t lower = bit_word(codes[slot][i / M][1], pair * M + i % M);
                    uint32_t upper_entries = bit_entries(args, table, upper);
                    uint32_t lower_entries = bit_entries(args, table, lower);
                    rows[i].add(make_uint4(upper ^ (upper_entries & BIT_FIRST),
                                           lower ^ (lower_entries & BIT_FIRST), upper_entries,
                                           lower_entries),
                                b);
                }
            }
            int group = here.group;
            here.advance(chunks);
            if (here.group == group) continue;
#pragma unroll
            for (int i = 0; i < WIDE * M; i++)
                rows[i].flush(shared.sums + (group * WIDE * M + i) * ROWS * BIT_TILE);
        }
    }
    __syncthreads();
}
