/*
 * linear_swapped_turns.cuh - products of linear_swapped.cuh whose blocks stay: one on each
 * multiprocessor, which takes tile after tile.
 *
 * A block that begins anew takes about 5,000 cycles before it multiplies, and fetches nothing while
 * it stores: with six tiles of 144 x 192 and 9280 of k that was a twentieth of the time. Here the
 * ring goes on from tile to tile, so that the first stages of the next tile arrive while outputs
 * are stored. The outputs lie in the last stages of their tile, which are the last to be filled
 * again: these are given back after the next tile's first stage, when TMA has read them.
 */
#pragma once

#include "linear_swapped.cuh"

/* What a block that stays needs of its ring. */
template <typename CONFIG> struct swapped_turns_config {
    static constexpr int PANEL_BYTES = CONFIG::X_ROWS * WGMMA_ROW_BYTES;
    static constexpr int GROUP_BYTES = CONFIG::PANELS * PANEL_BYTES; /* outputs of a warpgroup */
    static constexpr int FIT = CONFIG::STAGE_BYTES / GROUP_BYTES;    /* of them in a stage */
    static constexpr int KEPT = FIT > 0 ? (CONFIG::GROUPS + FIT - 1) / FIT : CONFIG::MOST;
    static constexpr int LEAST = 2 * 128; /* smaller tiles wait for L2 */
    static constexpr int AHEAD = 2; /* stages that the next tile needs before they are given back */
    static constexpr bool FITS = CONFIG::TOGETHER > 0 && KEPT + AHEAD <= CONFIG::MOST;
    static constexpr bool EXISTS =
        CONFIG::BY_TMA && FITS && CONFIG::X_ROWS * CONFIG::GROUPS >= LEAST;
};

#ifdef HOPPER_CODE

/* Tile number `tile`, of one part of k. By multiplication: exact below 2^21 tiles. */
static __device__ __forceinline__ swapped_work swapped_turn(const struct linear_swapped_plan &plan,
                                                            int tile)
{
    const struct linear_swapped_turns &turns = plan.turns;
    const int group = (int)((tile + 0.5f) * turns.per_group), in_group = tile - group * turns.group;
    const bool last = group == turns.last;
    const int height = last ? turns.last_height : plan.height;
    const int y = (int)((in_group + 0.5f) * (last ? turns.per_last : turns.per_height));
    const int column = y * plan.wide,
              row = (group * plan.height + in_group - y * height) * plan.rows;
    return {column, min(column + plan.wide, (int)plan.operands.n),
            row,    min(plan.rows, (int)plan.operands.m - row),
            0,      plan.each};
}

/* One thread: all stages of all tiles of this block but the first two, each when its place is
 * free. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_turns_fetch(const struct linear_swapped_plan &plan,
                                                           const swapped_ring &ring)
{
    int stage = SWAPPED_EARLY, parity = 1; /* a barrier is behind this phase when it begins */
    int step = SWAPPED_EARLY;
    hopper_prefetch(&plan.y);
    for (int tile = blockIdx.x; tile < plan.turns.tiles; tile += gridDim.x, step = 0) {
        const swapped_work work = swapped_turn(plan, tile);
        for (; step < work.end; step++) {
            hopper_barrier_wait(ring.empty + 8 * stage, parity);
            swapped_fetch<CONFIG>(plan, work, ring, step, stage);
            if (++stage == ring.count) stage = 0, parity ^= 1;
        }
    }
}

/* A warp: the places of the last stages of a tile, of which `last` was the last, back to the thread
 * that fills them. Its lane 0 has stored the warpgroup's outputs, or its lanes have. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_turns_release(const swapped_ring &ring, int last,
                                                             bool gives)
{
    __syncwarp();
    if (!gives) return;
    hopper_store_wait<0>();
#pragma unroll
    for (int i = 0; i < swapped_turns_config<CONFIG>::KEPT; i++) {
        const int stage = last < i ? last - i + ring.count : last - i;
        hopper_barrier_arrive(ring.empty + 8 * stage, 0);
    }
}

/* A warpgroup: its part of all tiles of this block. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_turns_sum(const struct linear_swapped_plan &plan,
                                                         const swapped_ring &ring,
                                                         unsigned char *memory)
{
    using config = swapped_turns_config<CONFIG>;
    using T = typename CONFIG::output;
    const swapped_tiles first = swapped_first<CONFIG>(ring.stages);
    const int group = threadIdx.x / WGMMA_THREADS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int back = group / config::FIT; /* stages before the last, where its outputs go */
    ring_place at = {};
    int kept = NOBODY;
    float sum[CONFIG::X_ROWS / 2];
    for (int tile = blockIdx.x; tile < plan.turns.tiles; tile += gridDim.x) {
        const swapped_work work = swapped_turn(plan, tile);
        const swapped_bias<T> bias =
            swapped_bias_of<T>(plan.operands, work.column + 16 * warp, lane);
#pragma unroll
        for (int i = 0; i < CONFIG::X_ROWS / 2; i++)
            sum[i] = 0;
        at = swapped_add_products<CONFIG, config::KEPT>(
            sum, plan, work, ring, first, at, [&](int stage) {
                if (kept != NOBODY) swapped_turns_release<CONFIG>(ring, kept, lane == 0);
                kept = NOBODY;
                if (lane == 0) hopper_barrier_arrive(ring.empty + 8 * stage, 0);
            });
        kept = at.stage;
        hopper_turn_wait(1 + CONFIG::GROUPS, CONFIG::CONSUMERS); /* all have read these stages */
        swapped_act<CONFIG>(plan.operands, sum, bias);
        const int stage = kept < back ? kept - back + ring.count : kept - back;
        swapped_store_panels<CONFIG>(
            plan, memory + stage * CONFIG::STAGE_BYTES + group % config::FIT * config::GROUP_BYTES,
            sum, work, group, warp % 4, lane);
        at = ring_next<CONFIG::STAGE_BYTES>(at, ring.count);
    }
    hopper_store_wait<0>();
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS)
    linear_swapped_turns_kernel(const __grid_constant__ struct linear_swapped_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char swapped_shared[];
    __shared__ uint64_t barriers[2 * CONFIG::MOST];
    unsigned char *memory =
        swapped_shared +
        (SWAPPED_ALIGN - hopper_shared(swapped_shared) % SWAPPED_ALIGN) % SWAPPED_ALIGN;
    const uint32_t full = hopper_kept(hopper_shared(barriers));
    const swapped_ring ring = {hopper_kept(hopper_shared(memory)), full, full + 8 * CONFIG::MOST,
                               plan.stages};
    swapped_begin<CONFIG>(plan, swapped_turn(plan, blockIdx.x), ring);
    __syncthreads();
    if (hopper_warp() == CONFIG::CONSUMERS / 32) {
        if (hopper_elect()) swapped_turns_fetch<CONFIG>(plan, ring);
    } else {
        swapped_turns_sum<CONFIG>(plan, ring, memory);
    }
#else
    __trap();
#endif
}
