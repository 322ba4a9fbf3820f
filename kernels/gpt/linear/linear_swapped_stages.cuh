/*
 * linear_swapped_stages.cuh - the sums of products of linear_swapped.cuh in e4m3 (linear_fp8.h).
 *
 * wgmma's sums have 14 bits for e4m3, so those of a stage, 128 of k, begin at zero and are added in
 * fp32, with their scale where scales are of blocks; one scale for all comes at the end.
 */
#pragma once

#include "linear_fp8.h"
#include "linear_ring.cuh"
#include "linear_swapped_store.cuh"

#ifdef HOPPER_CODE

enum { SWAPPED_SCALED = 8 }; /* stages whose scales a warp loads at a time */

/* Scales of a lane's rows of x times that of its warp's rows of w, from stage `stage` on: eight
 * lanes have the same rows, and each loads those of one stage in eight, which lie together. A tile
 * begins at a multiple of 16 rows of w, so that a warp's 16 have one scale. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_scales(float (&scale)[CONFIG::X_ROWS / 4],
                                                      const struct linear_swapped_plan &plan,
                                                      const swapped_work &work, int stage)
{
    const int lane = threadIdx.x % 32, column = work.column + (int)threadIdx.x / 32 * 16;
    const int groups = (int)(plan.operands.k + LFP8_GROUP - 1) / LFP8_GROUP;
    const int block = min(column, (int)plan.operands.n - 1) / LFP8_GROUP;
    const int group = min(stage + lane / 4, groups - 1);
    const float of_w = __ldg(plan.w_scales + (int64_t)block * groups + group);
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 4; i++) {
        const int row = min(i / 2 * 8 + mma_column(lane, i % 2), work.rows - 1);
        scale[i] = of_w * __ldg(plan.x_scales + (int64_t)(work.row + row) * groups + group);
    }
}

/* Add the sums of a stage, with the scales that the lanes of `turn` have loaded. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_add(float (&sum)[CONFIG::X_ROWS / 2],
                                                   const float (&part)[CONFIG::X_ROWS / 2],
                                                   const float (&scale)[CONFIG::X_ROWS / 4],
                                                   int turn)
{
    const int from = turn * 4 + threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 4; i++) {
        const int at = i / 2 * 4 + i % 2; /* two of the lane's are of this row */
        const float by = CONFIG::BY_BLOCK ? __shfl_sync(0xffffffffu, scale[i], from) : 1;
        sum[at] = CONFIG::BY_BLOCK ? fmaf(part[at], by, sum[at]) : sum[at] + part[at];
        sum[at + 2] =
            CONFIG::BY_BLOCK ? fmaf(part[at + 2], by, sum[at + 2]) : sum[at + 2] + part[at + 2];
    }
}

/* A warpgroup: add the products of all stages of its work to the sums, as ring_sum does; the first
 * is at `at`, a and b are the tiles of the ring's first. Where the last was. */
template <typename CONFIG, int KEPT, typename GIVE_BACK>
static __device__ __forceinline__ ring_place
swapped_sum_stages(float (&sum)[CONFIG::X_ROWS / 2], const struct linear_swapped_plan &plan,
                   const swapped_work &work, uint64_t a, uint64_t b, uint32_t full, ring_place at,
                   const GIVE_BACK &give_back)
{
    const float of_all = CONFIG::BY_BLOCK ? 1 : __ldg(plan.x_scales) * __ldg(plan.w_scales);
    float scale[CONFIG::X_ROWS / 4];
    ring_place last = at;
    bool there = false;
    for (int step = work.begin; step < work.end; step++) {
        const int turn = (step - work.begin) % SWAPPED_SCALED;
        const ring_place next = ring_next<CONFIG::STAGE_BYTES>(at, plan.stages);
        float part[CONFIG::X_ROWS / 2];
        if (CONFIG::BY_BLOCK && turn == 0) swapped_scales<CONFIG>(scale, plan, work, step);
        if (!there) hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_pin(part);
        there = ring_multiply<typename CONFIG::type, false>(part, wgmma_further(a, at.further),
                                                            wgmma_further(b, at.further),
                                                            full + 8 * next.stage, next.parity);
        wgmma_wait<0>();
        wgmma_pin(part);
        if (work.end - step > KEPT) give_back(at.stage);
        swapped_add<CONFIG>(sum, part, scale, turn);
        last = at;
        at = next;
    }
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2 && !CONFIG::BY_BLOCK; i++)
        sum[i] *= of_all;
    return last;
}

#endif
