/*
 * linear_fp32.cuh - the product in fp32 on the CUDA cores: a tile by a block of a few warps, ROWS x
 * COLUMNS outputs per thread.
 *
 * A stage is 16 of k. cp.async copies the next stages to a ring in shared memory, number by
 * number, and transposes them on the way: there, rows are k, so that a thread reads four rows of x
 * or w at a time. A warp copies 32 bytes of k of four rows at a time, to 32 different banks. Number
 * by number, because no larger copy could be transposed; so any k will do.
 *
 * A multiprocessor issues a multiply-add per cycle and quarter, whose three operands its registers
 * can give only if one of them was an operand of the last one, in the same place, and the other two
 * have numbers of different parity. Operands that are read four at a time have the parity of their
 * place, and so have the sums, which are stored four at a time. So a thread goes along a row of
 * sums and back along the next, with the number of x kept on the way and that of w at the turn, and
 * rows of x and w lie swapped in pairs in shared memory, which gives them the parity that the sums
 * have not.
 *
 * Operands of the next number of k are read while this one's are multiplied, also across stages.
 */
#pragma once

#include "kernels/cuda/ampere.cuh"
#include "kernels/cuda/hopper.cuh"
#include "linear.cuh"
#include "linear_fp32.h"
#include "linear_order.h"

enum {
    FP32_DEPTH = 16, /* of k, a stage */
    FP32_STAGES = 4,
    FP32_GROUP = 8,
    FP32_COPY_DEPTH = 8, /* of k that a warp copies at a time */
    FP32_TOGETHER = 4,   /* turns of copies that are started while one number of k is multiplied */
    FP32_COPY_ROWS = 32 / FP32_COPY_DEPTH,
    FP32_PARTS = 64, /* parts of a tile, at most */
};

/* Blocks of DOWN x ACROSS warps, LANES lanes deep, of threads with ROWS x COLUMNS outputs. */
template <int ROWS_, int COLUMNS_, int LANES_, int DOWN, int ACROSS, int BLOCKS_,
          linear_finish FINISH_>
struct fp32_tile {
    static constexpr enum linear_finish FINISH = FINISH_;
    static constexpr int EACH_ROWS = ROWS_, EACH_COLUMNS = COLUMNS_, SUMS = ROWS_ * COLUMNS_;
    static constexpr int LANES = LANES_, WARPS_ACROSS = ACROSS;
    static constexpr int WARP_ROWS = LANES * ROWS_, WARP_COLUMNS = 32 / LANES * COLUMNS_;
    static constexpr int ROWS = DOWN * WARP_ROWS, COLUMNS = ACROSS * WARP_COLUMNS;
    static constexpr int WARPS = DOWN * ACROSS, THREADS = 32 * WARPS;
    static constexpr int BLOCKS = BLOCKS_; /* on a multiprocessor, as registers allow */
    static constexpr int COPIED = WARPS * FP32_COPY_ROWS; /* rows at a time */
    static constexpr int X_TURNS = ROWS / COPIED, W_TURNS = COLUMNS / COPIED;
    static constexpr int TURNS = X_TURNS + W_TURNS;
    static_assert(TURNS <= FP32_TOGETHER * (FP32_DEPTH - 1), "before the last number of k");
    static_assert(LANES == 4 || LANES == 8, "lanes");
    static_assert(ROWS % COPIED == 0 && COLUMNS % COPIED == 0, "whole turns");
};

/* A stage in shared memory, k by k; rows start on 16 bytes. */
template <typename TILE> struct fp32_stage {
    static constexpr int X_PITCH = TILE::ROWS + 4, W_PITCH = TILE::COLUMNS + 4;
    float x[FP32_DEPTH][X_PITCH], w[FP32_DEPTH][W_PITCH];
};

/* Of a block: the ring, and then the sums. */
template <typename TILE> static constexpr int fp32_shared_bytes(void)
{
    const int ring = FP32_STAGES * (int)sizeof(fp32_stage<TILE>);
    const int sums = TILE::SUMS * TILE::THREADS * (int)sizeof(float);
    return ring > sums ? ring : sums;
}

/* One number to shared memory; zero, and nothing is read, if it is not `inside`. */
static __device__ __forceinline__ void fp32_copy(float *to, const float *from, bool inside)
{
#ifdef AMPERE_CODE
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
                 "r"(inside ? 4 : 0)
                 : "memory");
#else
    *to = inside ? __ldg(from) : 0.0f;
#endif
}

/* The copies since the last call belong to a stage. */
static __device__ __forceinline__ void fp32_copied(void)
{
#ifdef AMPERE_CODE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All threads: wait until all stages but the last PENDING are there. */
template <int PENDING> static __device__ __forceinline__ void fp32_await(void)
{
#ifdef AMPERE_CODE
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
    __syncthreads();
}

/* A thread's place among the copies of its block, for one tile: a number of k, and of every
 * COPIED rows one. Rows outside are copied as the last one: their outputs are not stored. */
template <typename TILE> struct fp32_source {
    const float *from[TILE::TURNS]; /* of x, then of w */
    int end;                        /* of k */

    static __device__ __forceinline__ int depth(void)
    {
        return threadIdx.x % FP32_COPY_DEPTH;
    }
    static __device__ __forceinline__ int row(void)
    {
        return threadIdx.x / FP32_COPY_DEPTH;
    }
    __device__ __forceinline__ void start(int turn, const void *matrix, int64_t at, int64_t rows,
                                          int64_t k)
    {
        from[turn] = (const float *)matrix + min(at + row(), rows - 1) * k + depth();
        asm volatile("" : "+l"(from[turn])); /* or its parts are added at every stage */
    }
    __device__ __forceinline__ fp32_source(const struct linear_operands &of, int64_t row0,
                                           int64_t column0, int end_)
        : end(min(end_, (int)of.k))
    {
#pragma unroll
        for (int i = 0; i < TILE::X_TURNS; i++)
            start(i, of.x, row0 + i * TILE::COPIED, of.m, of.k);
#pragma unroll
        for (int i = 0; i < TILE::W_TURNS; i++)
            start(TILE::X_TURNS + i, of.w, column0 + i * TILE::COPIED, of.n, of.k);
    }
    /* Start turn `turn` of a stage's copies. */
    __device__ __forceinline__ void copy(fp32_stage<TILE> &to, int step, int turn) const
    {
        const bool of_x = turn < TILE::X_TURNS;
        const int pitch = of_x ? to.X_PITCH : to.W_PITCH;
        float *at = of_x ? &to.x[depth()][row() ^ 1] : &to.w[depth()][row() ^ 1];
        at += (of_x ? turn : turn - TILE::X_TURNS) * TILE::COPIED;
#pragma unroll
        for (int k = 0; k < FP32_DEPTH; k += FP32_COPY_DEPTH)
            fp32_copy(at + k * pitch, from[turn] + step * FP32_DEPTH + k,
                      step * FP32_DEPTH + k + depth() < end);
    }
};

/* A lane's place among those of its warp, LANES deep. Lanes that differ in bit 1 read the same
 * rows, in bit 0 the same columns: reads of 16 bytes then take half as long, because shared memory
 * serves such pairs together. */
template <int LANES> static __device__ __forceinline__ int fp32_lane_row(int lane)
{
    return (lane & 1) | (lane >> 1 & (LANES - 2));
}

template <int LANES> static __device__ __forceinline__ int fp32_lane_column(int lane)
{
    return (lane >> 1 & 1) | (lane / LANES & ~1);
}

/* Where a thread's outputs begin in the tile; the next four are LANES * 4 below, or as many lanes
 * across beside. */
template <typename TILE> static __device__ __forceinline__ int fp32_row(void)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / TILE::WARPS_ACROSS * TILE::WARP_ROWS + fp32_lane_row<TILE::LANES>(lane) * 4;
}

template <typename TILE> static __device__ __forceinline__ int fp32_column(void)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % TILE::WARPS_ACROSS * TILE::WARP_COLUMNS + fp32_lane_column<TILE::LANES>(lane) * 4;
}

/* A thread's numbers of x and w at one k. */
template <typename TILE> struct fp32_pair {
    float x[TILE::EACH_ROWS], w[TILE::EACH_COLUMNS];

    __device__ __forceinline__ void read(const fp32_stage<TILE> &stage, int k)
    {
        const float *of_x = &stage.x[k][fp32_row<TILE>()], *of_w = &stage.w[k][fp32_column<TILE>()];
#pragma unroll
        for (int i = 0; i < TILE::EACH_ROWS; i += 4)
            *(float4 *)(x + i) = *(const float4 *)(of_x + i * TILE::LANES);
#pragma unroll
        for (int i = 0; i < TILE::EACH_COLUMNS; i += 4)
            *(float4 *)(w + i) = *(const float4 *)(of_w + i * (32 / TILE::LANES));
    }
};

template <typename TILE>
static __device__ __forceinline__ void fp32_multiply(float (&sum)[TILE::SUMS],
                                                     const fp32_pair<TILE> &of)
{
#pragma unroll
    for (int i = 0; i < TILE::EACH_ROWS; i++)
#pragma unroll
        for (int j = 0; j < TILE::EACH_COLUMNS; j++) {
            const int column = i % 2 ? TILE::EACH_COLUMNS - 1 - j : j;
            sum[i * TILE::EACH_COLUMNS + column] += of.x[i ^ 1] * of.w[column ^ 1];
        }
}

static __device__ __forceinline__ float4 fp32_add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Where a thread's sums are kept, four by four, once it has them all: in registers they would be
 * tied to where each of several uses wants them, and not lie as the multiply-adds want them. */
template <typename TILE> struct fp32_kept {
    static constexpr int QUADS = TILE::SUMS / 4;
    float4 *own; /* in the memory of the ring */

    __device__ __forceinline__ float4 &at(int quad) const
    {
        return own[quad * TILE::THREADS];
    }
    __device__ __forceinline__ float4 *part(const struct tile_parts &parts, int writer) const
    {
        return parts.sums + (int64_t)writer * (QUADS * 32) + threadIdx.x % 32;
    }
    __device__ __forceinline__ void keep(const float (&sum)[TILE::SUMS]) const
    {
#pragma unroll
        for (int i = 0; i < QUADS; i++)
            at(i) = make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
    }
    __device__ __forceinline__ void write(const struct tile_parts &parts, int writer) const
    {
        float4 *to = part(parts, writer);
#pragma unroll 8
        for (int i = 0; i < QUADS; i++)
            __stcg(to + i * 32, at(i));
    }
    /* Hand them over to the block that stores the tile. */
    __device__ __forceinline__ void give(const struct tile_parts &parts, int writer) const
    {
        write(parts, writer);
        tile_part_ready(parts, writer, threadIdx.x % 32);
    }
    /* Add those that a writer has handed over. */
    __device__ __forceinline__ void add(const struct tile_parts &parts, int writer) const
    {
        const float4 *from = part(parts, writer);
        tile_part_await(parts, writer, 1, threadIdx.x % 32);
#pragma unroll 8
        for (int i = 0; i < QUADS; i++)
            at(i) = fp32_add(at(i), __ldcg(from + i * 32));
        tile_part_done(parts, writer, threadIdx.x % 32);
    }
};

/* A thread's sums over stages [begin, end) of a tile. */
template <typename TILE>
static __device__ __forceinline__ void fp32_sum(const fp32_source<TILE> &source, int begin, int end,
                                                fp32_stage<TILE> *ring, const fp32_kept<TILE> &kept)
{
    float sum[TILE::SUMS];
    fp32_pair<TILE> pair[2];
#pragma unroll
    for (int i = 0; i < TILE::SUMS; i++)
        sum[i] = 0;
#pragma unroll 1
    for (int stage = 0; stage < FP32_STAGES - 1; stage++) {
#pragma unroll
        for (int turn = 0; turn < TILE::TURNS; turn++)
            source.copy(ring[stage], begin + stage, turn);
        fp32_copied();
    }
    fp32_await<FP32_STAGES - 2>();
    pair[0].read(ring[0], 0);
    int at = 0, next = FP32_STAGES - 1;
    for (int step = begin; step < end; step++) {
#pragma unroll
        for (int k = 0; k < FP32_DEPTH; k++) {
            if (k == FP32_DEPTH - 1) { /* this stage is read by all, and the next is there */
                fp32_copied();
                fp32_await<FP32_STAGES - 2>();
                at = at + 1 == FP32_STAGES ? 0 : at + 1;
            }
            pair[(k + 1) % 2].read(ring[at], (k + 1) % FP32_DEPTH);
#pragma unroll
            for (int turn = k * FP32_TOGETHER; turn < min((k + 1) * FP32_TOGETHER, TILE::TURNS);
                 turn++)
                source.copy(ring[next], step + FP32_STAGES - 1, turn);
            fp32_multiply<TILE>(sum, pair[k % 2]);
        }
        next = next + 1 == FP32_STAGES ? 0 : next + 1;
    }
    fp32_await<0>(); /* the zeros behind the end */
    kept.keep(sum);
}

/* Four neighbouring outputs of a row. */
template <enum linear_finish FINISH>
static __device__ __forceinline__ void fp32_put(const struct linear_operands &operands, int64_t row,
                                                int column, float4 sum)
{
    const float *bias = (const float *)operands.bias;
    if (operands.n % 4 != 0) {
        linear_put<float, FINISH>(operands, row, column, sum.x);
        linear_put<float, FINISH>(operands, row, column + 1, sum.y);
        linear_put<float, FINISH>(operands, row, column + 2, sum.z);
        linear_put<float, FINISH>(operands, row, column + 3, sum.w);
    } else if (row < operands.m && column < operands.n) {
        float4 b = bias ? __ldg((const float4 *)(bias + column)) : make_float4(0, 0, 0, 0);
        *(float4 *)((float *)operands.y + row * operands.n + column) =
            linear_act<FINISH>(make_float4(sum.x + b.x, sum.y + b.y, sum.z + b.z, sum.w + b.w));
    }
}

/* A thread's outputs with number `quad` of a tile. */
template <typename TILE>
static __device__ __forceinline__ void fp32_store(const struct linear_operands &operands, int quad,
                                                  int64_t row0, int column0, float4 sum)
{
    constexpr int across = TILE::EACH_COLUMNS / 4;
    const int row = quad / across;
    fp32_put<TILE::FINISH>(
        operands, row0 + fp32_row<TILE>() + row / 4 * (4 * TILE::LANES) + row % 4,
        column0 + fp32_column<TILE>() + quad % across * (128 / TILE::LANES), sum);
}

/* What a block does with the sums of a tile, or of a part of one, that it has by `walk`. */
template <typename TILE>
static __device__ __forceinline__ void fp32_finish(const struct linear_fp32 &plan,
                                                   const struct linear_walk &walk,
                                                   const struct linear_unit &unit, int64_t row0,
                                                   int column0, const fp32_kept<TILE> &kept)
{
    auto writer = [&](int share) {
        return (walk.of.shares - 1 - share) * TILE::WARPS + (int)threadIdx.x / 32;
    };
    if (unit.begin > 0) {
        kept.give(plan.parts, writer(walk.share));
        return;
    }
    int other;
    for (int i = 0;
         unit.end < plan.division.depth && (other = linear_walk_other(&walk, unit.tile, i)) >= 0;
         i++)
        kept.add(plan.parts, writer(other));
#pragma unroll 4
    for (int quad = 0; quad < kept.QUADS; quad++)
        fp32_store<TILE>(plan.operands, quad, row0, column0, kept.at(quad));
}

/* The same of a part where tiles are divided alike: each stores a part of the outputs, once the
 * sums of all are written. */
template <typename TILE>
static __device__ __forceinline__ void fp32_finish_alike(const struct linear_fp32 &plan,
                                                         const struct linear_walk &walk, int tile,
                                                         int64_t row0, int column0,
                                                         const fp32_kept<TILE> &kept)
{
    const int ways = walk.of.ways, own = walk.share % ways, lane = threadIdx.x % 32;
    auto writer = [&](int part) {
        return (tile * ways + part) * TILE::WARPS + (int)threadIdx.x / 32;
    };
    kept.write(plan.parts, writer(own));
    tile_part_arrive(plan.parts, writer(0), own >= kept.QUADS, lane);
    if (own >= kept.QUADS) return;
    tile_part_await(plan.parts, writer(0), ways, lane);
    for (int quad = own; quad < kept.QUADS; quad += ways) {
        float4 sum = __ldcg(kept.part(plan.parts, writer(0)) + quad * 32);
#pragma unroll 8
        for (int part = 1; part < ways; part++)
            sum = fp32_add(sum, __ldcg(kept.part(plan.parts, writer(part)) + quad * 32));
        fp32_store<TILE>(plan.operands, quad, row0, column0, sum);
    }
    tile_part_leave(plan.parts, writer(0), ways, lane);
}

/* The same in a cluster, whose blocks divide k. */
template <typename TILE>
static __device__ __forceinline__ void fp32_finish_together(const struct linear_fp32 &plan,
                                                            int rank, int64_t row0, int column0,
                                                            const fp32_kept<TILE> &kept)
{
#ifdef HOPPER_CODE
    hopper_cluster_sync();
    for (int quad = rank; quad < kept.QUADS; quad += plan.cluster) {
        const uint32_t from = hopper_shared(&kept.at(quad));
        float4 sum = hopper_get_from(from, 0);
        for (int part = 1; part < plan.cluster; part++)
            sum = fp32_add(sum, hopper_get_from(from, (uint32_t)part));
        fp32_store<TILE>(plan.operands, quad, row0, column0, sum);
    }
    hopper_cluster_sync(); /* no block ends while another may still read from it */
#endif
}

/* Blocks that were launched last have the first shares: linear_parts.h. A cluster has one tile. One
 * loop for both, and no copies of a first stage: with the products compiled once, and only so many
 * instructions around them, the compiler gives their registers the parity that is wanted. */
template <typename TILE>
static __global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS)
    linear_fp32_kernel(const __grid_constant__ struct linear_fp32 plan)
{
    extern __shared__ __align__(16) unsigned char fp32_shared[];
    fp32_stage<TILE> *ring = (fp32_stage<TILE> *)fp32_shared;
    const fp32_kept<TILE> kept = {(float4 *)fp32_shared + threadIdx.x};
    const int cluster = plan.cluster, rank = (int)blockIdx.x % cluster;
    struct linear_walk walk = linear_walk_of((int)gridDim.x - 1 - (int)blockIdx.x, &plan.division);
    struct linear_unit unit = {(int)blockIdx.x / cluster, plan.division.depth * rank / cluster,
                               plan.division.depth * (rank + 1) / cluster};
    bool more = cluster > 1 || linear_walk_next(&walk, &unit);
    while (more) {
        struct linear_tile at = linear_order(unit.tile, plan.bands, plan.columns, FP32_GROUP);
        const int64_t row0 = (int64_t)at.band * TILE::ROWS;
        const int column0 = at.column * TILE::COLUMNS;
        fp32_sum<TILE>(fp32_source<TILE>(plan.operands, row0, column0, unit.end * FP32_DEPTH),
                       unit.begin, unit.end, ring, kept);
        if (cluster > 1) {
            fp32_finish_together<TILE>(plan, rank, row0, column0, kept);
            more = false;
        } else {
            if (walk.of.ways > 0 && unit.end - unit.begin < plan.division.depth)
                fp32_finish_alike<TILE>(plan, walk, unit.tile, row0, column0, kept);
            else
                fp32_finish<TILE>(plan, walk, unit, row0, column0, kept);
            __syncthreads(); /* before the ring is filled again */
            more = linear_walk_next(&walk, &unit);
        }
    }
}
