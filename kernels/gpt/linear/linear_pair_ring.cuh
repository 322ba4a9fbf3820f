/*
 * linear_pair_ring.cuh - how a block of linear_pair.cuh gets its operands: by TMA, to a ring of
 * stages in shared memory.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/dependent_launch.cuh"
#include "linear_pair_config.cuh"

#ifdef HOPPER_CODE

struct pair_ring {
    uint32_t stages, full, empty;
};

/* Where a block's tile is, and the block in its cluster. */
struct pair_work {
    int row, column, rank;
};

template <typename CONFIG>
static __device__ __forceinline__ pair_work pair_work_of(const struct linear_pair_plan &plan)
{
    const bool across = plan.share == LINEAR_PAIR_X;
    const int band = across ? blockIdx.y : blockIdx.x, column = across ? blockIdx.x : blockIdx.y;
    return {band * CONFIG::ROWS, column * CONFIG::COLUMNS, (int)(blockIdx.x % 2)};
}

/* One thread: let stage `stage` of the ring expect its rows of both operands. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_expect(const struct linear_pair_plan &plan,
                                                   const pair_ring &ring, int stage)
{
    hopper_barrier_expect(ring.full + 8 * stage, plan.stage_bytes);
}

/* One thread: ask for rows of an operand of stage `step`, ROWS from `row` on, to be put at `to`:
 * all of them; if they are shared, half for both blocks; or, if `alone`, both halves for
 * this block. Each block has let its stage expect them, or will before it waits for them. */
template <int ROWS>
static __device__ __forceinline__ void pair_fetch(const CUtensorMap *map, uint32_t to, int step,
                                                  int row, uint32_t arrived, bool shared, int rank,
                                                  bool alone)
{
    const int k = step * PAIR_DEPTH;
    if (!shared || alone) hopper_load(to, map, k, row, arrived);
    if (shared && alone)
        hopper_load(to + ROWS / 2 * WGMMA_ROW_BYTES, map, k, row + ROWS / 2, arrived);
    if (shared && !alone)
        hopper_load_to(to + rank * (ROWS / 2) * WGMMA_ROW_BYTES, map, k, row + rank * (ROWS / 2),
                       arrived, 3);
}

template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_x(const struct linear_pair_plan &plan,
                                                    const pair_work &work, const pair_ring &ring,
                                                    int step, int stage, bool alone = false)
{
    pair_fetch<CONFIG::ROWS>(&plan.x, ring.stages + stage * CONFIG::STAGE_BYTES, step, work.row,
                             ring.full + 8 * stage, plan.share == LINEAR_PAIR_X, work.rank, alone);
}

template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_w(const struct linear_pair_plan &plan,
                                                    const pair_work &work, const pair_ring &ring,
                                                    int step, int stage, bool alone = false)
{
    pair_fetch<CONFIG::COLUMNS>(
        &plan.w, ring.stages + stage * CONFIG::STAGE_BYTES + CONFIG::X_BYTES, step, work.column,
        ring.full + 8 * stage, plan.share == LINEAR_PAIR_W, work.rank, alone);
}

/* All threads: the barriers, and the first stage, of which nothing is shared. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_begin(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring)
{
    const int stage = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    const int readers = PAIR_CONSUMERS / 32;
    if (threadIdx.x % 32 == 0 && stage < plan.stages) {
        hopper_barrier_init(ring.full + 8 * stage, 1);
        hopper_barrier_init(ring.empty + 8 * stage, plan.share ? 2 * readers : readers);
        hopper_barrier_publish();
        if (stage == 0) {
            pair_expect<CONFIG>(plan, ring, 0);
            pair_fetch_w<CONFIG>(plan, work, ring, 0, 0, true);
            if (plan.dependent) dependent_wait();
            pair_fetch_x<CONFIG>(plan, work, ring, 0, 0, true);
        }
    }
    if (!plan.share) {
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

/* One thread: the rest of the stages, each when its place is free in both blocks. Then wait until
 * both have read the last ones, so that neither ends while the other writes or signals to it. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_go_on(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring)
{
    const int end = plan.share ? plan.steps + plan.stages : plan.steps;
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
