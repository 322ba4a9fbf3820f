/*
 * linear_pair_ring.cuh - how a block of linear_pair.cuh gets its operands: by TMA, to a ring of
 * stages in shared memory.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/cuda/dependent_launch.cuh"
#include "linear_pair_config.cuh"

#ifdef HOPPER_CODE

struct pair_ring {
    uint32_t stages, full, empty;
};

/* Where a block's tile is, and the block in its cluster. */
struct pair_work {
    int row, column, below, beside;
};

template <typename CONFIG>
static __device__ __forceinline__ pair_work pair_work_of(const struct linear_pair_plan &plan)
{
    const int down = plan.across ? blockIdx.y : blockIdx.x;
    const int across = plan.across ? blockIdx.x : blockIdx.y;
    return {down * CONFIG::ROWS, across * CONFIG::COLUMNS, down & ((1 << plan.log_down) - 1),
            across & ((1 << plan.log_across) - 1)};
}

/* One thread: let stage `stage` of the ring expect its rows of both operands. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_expect(const struct linear_pair_plan &plan,
                                                   const pair_ring &ring, int stage)
{
    hopper_barrier_expect(ring.full + 8 * stage, plan.stage_bytes);
}

/* A block's share of the rows of an operand, 1 << log blocks of it: the first, and who gets them.
 */
struct pair_part {
    int log, first;
    uint16_t blocks;
};

template <typename CONFIG>
static __device__ __forceinline__ pair_part pair_part_of_x(const struct linear_pair_plan &plan,
                                                           const pair_work &work)
{
    return {plan.log_across, work.beside * (CONFIG::ROWS >> plan.log_across),
            (uint16_t)(plan.beside << work.below)};
}

template <typename CONFIG>
static __device__ __forceinline__ pair_part pair_part_of_w(const struct linear_pair_plan &plan,
                                                           const pair_work &work)
{
    return {plan.log_down, work.below * (CONFIG::COLUMNS >> plan.log_down),
            (uint16_t)(plan.below << (work.beside << plan.log_down))};
}

/* One thread: ask for rows of an operand of stage `step`, ROWS from `row` on, to be put at `to`:
 * this block's part of them, for all that share them; or, if `alone`, all of them for this block.
 * Each block has let its stage expect them, or will before it waits for them. */
template <int ROWS>
static __device__ __forceinline__ void pair_fetch(const CUtensorMap *map, uint32_t to, int step,
                                                  int row, uint32_t arrived, const pair_part &part,
                                                  bool alone)
{
    const int k = step * PAIR_DEPTH;
    if (part.log == 0)
        hopper_load(to, map, k, row, arrived);
    else if (!alone)
        hopper_load_to(to + part.first * WGMMA_ROW_BYTES, map, k, row + part.first, arrived,
                       part.blocks);
    else
        for (int i = 0; i < ROWS; i += ROWS >> part.log)
            hopper_load(to + i * WGMMA_ROW_BYTES, map, k, row + i, arrived);
}

template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_x(const struct linear_pair_plan &plan,
                                                    const pair_work &work, const pair_ring &ring,
                                                    int step, int stage, bool alone = false)
{
    pair_fetch<CONFIG::ROWS>(&plan.x, ring.stages + stage * CONFIG::STAGE_BYTES, step, work.row,
                             ring.full + 8 * stage, pair_part_of_x<CONFIG>(plan, work), alone);
}

template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_w(const struct linear_pair_plan &plan,
                                                    const pair_work &work, const pair_ring &ring,
                                                    int step, int stage, bool alone = false)
{
    pair_fetch<CONFIG::COLUMNS>(
        &plan.w, ring.stages + stage * CONFIG::STAGE_BYTES + CONFIG::X_BYTES, step, work.column,
        ring.full + 8 * stage, pair_part_of_w<CONFIG>(plan, work), alone);
}

/* The blocks that write to this one's stages, and whose stages this one writes to. */
static __device__ __forceinline__ int pair_peers(const struct linear_pair_plan &plan)
{
    return (1 << plan.log_down) + (1 << plan.log_across) - 1;
}

/* The rank in the cluster of number `i` of them. */
static __device__ __forceinline__ int pair_peer(const struct linear_pair_plan &plan,
                                                const pair_work &work, int i)
{
    const int down = 1 << plan.log_down, other = i - down;
    if (i < down) return (work.beside << plan.log_down) + i;
    return ((other < work.beside ? other : other + 1) << plan.log_down) + work.below;
}

/* All threads: the barriers, and the first stage, of which nothing is shared. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_begin(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring)
{
    const int warp = hopper_warp();
    if (hopper_elect()) {
#pragma unroll 1
        for (int stage = warp; stage < plan.stages; stage += CONFIG::THREADS / 32) {
            hopper_barrier_init(ring.full + 8 * stage, 1);
            hopper_barrier_init(ring.empty + 8 * stage, CONFIG::CONSUMERS / 32 * pair_peers(plan));
        }
        hopper_barrier_publish();
        if (warp == 0) {
            pair_expect<CONFIG>(plan, ring, 0);
            pair_fetch_w<CONFIG>(plan, work, ring, 0, 0, true);
            if (plan.dependent) dependent_wait();
            pair_fetch_x<CONFIG>(plan, work, ring, 0, 0, true);
        }
    }
    if (pair_peers(plan) == 1) {
        __syncthreads();
        return;
    }
    __syncwarp();
    hopper_cluster_sync_reads();
}

/* One thread: the other stages of the first round. Rows of w are there before the kernel before has
 * ended. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_fill(const struct linear_pair_plan &plan,
                                                 const pair_work &work, const pair_ring &ring)
{
    for (int step = 1; step < plan.stages; step++) {
        pair_expect<CONFIG>(plan, ring, step);
        pair_fetch_w<CONFIG>(plan, work, ring, step, step);
        if (!plan.dependent) pair_fetch_x<CONFIG>(plan, work, ring, step, step);
    }
    if (!plan.dependent) return;
    dependent_wait();
    for (int step = 1; step < plan.stages; step++)
        pair_fetch_x<CONFIG>(plan, work, ring, step, step);
}

/* One thread: the rest of the stages, each when its place is free in all blocks that it goes to.
 * Then wait until they have read the last ones, so that none ends while another writes or signals
 * to it. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_go_on(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring)
{
    const int end = pair_peers(plan) > 1 ? plan.steps + plan.stages : plan.steps;
    int stage = 0, parity = 0;
    for (int step = plan.stages; step < end; step++) {
        hopper_barrier_wait(ring.empty + 8 * stage, parity);
        if (step < plan.steps) {
            pair_expect<CONFIG>(plan, ring, stage);
            pair_fetch_w<CONFIG>(plan, work, ring, step, stage);
            pair_fetch_x<CONFIG>(plan, work, ring, step, stage);
        }
        if (++stage == plan.stages) stage = 0, parity ^= 1;
    }
}

#endif
