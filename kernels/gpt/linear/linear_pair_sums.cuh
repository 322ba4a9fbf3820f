/*
 * linear_pair_sums.cuh - the sums of a block of linear_pair.cuh, in registers: what they begin
 * with, the products of a ring's stages, and an act at the end.
 */
#pragma once

#include "kernels/gpt/mma_layout.h"
#include "linear_pair_ring.cuh"
#include "linear_ring.cuh"
#include "linear_store.cuh"

#ifdef HOPPER_CODE

/* A warp's sums before the first product: the biases of its columns, from `column` on. Columns
 * outside y take one that is never used. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_sums_begin(const struct linear_pair_plan &plan,
                                                       float (&sum)[CONFIG::WIDTH / 2], int column,
                                                       int lane)
{
    using T = typename CONFIG::type;
    const T *bias = (const T *)plan.bias;
    if (!bias) {
#pragma unroll
        for (int i = 0; i < CONFIG::WIDTH / 2; i++)
            sum[i] = 0;
        return;
    }
    uint32_t pair[CONFIG::WIDTH / 8];
#pragma unroll
    for (int i = 0; i < CONFIG::WIDTH / 8; i++)
        pair[i] =
            __ldg((const uint32_t *)(bias + min(column + 8 * i + mma_column(lane, 0), plan.n - 2)));
#pragma unroll
    for (int i = 0; i < CONFIG::WIDTH / 8; i++) {
        const float2 add = gpt_unpack(T(), pair[i]);
        sum[4 * i] = sum[4 * i + 2] = add.x;
        sum[4 * i + 1] = sum[4 * i + 3] = add.y;
    }
}

/* The residual of a warp's outputs, from (row, column) on, is added before the first product too.
 * Rows outside y take one that is never used. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_sums_add(const struct linear_pair_plan &plan,
                                                     float (&sum)[CONFIG::WIDTH / 2], int row,
                                                     int column, int lane)
{
    using T = typename CONFIG::type;
#pragma unroll
    for (int i = 0; i < CONFIG::WIDTH / 4; i++) {
        const int at = min(row + mma_row(lane, 2 * (i % 2)), plan.m - 1);
        const int from = min(column + i / 2 * 8 + mma_column(lane, 0), plan.n - 2);
        const T *residual = (const T *)plan.residual + (int64_t)at * plan.n + from;
        const float2 add = gpt_unpack(T(), *(const uint32_t *)residual);
        sum[2 * i] += add.x;
        sum[2 * i + 1] += add.y;
    }
}

/* A warpgroup's sums, to what they are already. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_sum(const struct linear_pair_plan &plan,
                                                float (&sum)[CONFIG::WIDTH / 2],
                                                const pair_work &work, const pair_ring &ring,
                                                int group, int lane)
{
    const int own_x = group / CONFIG::ACROSS * (WGMMA_ROWS * WGMMA_ROW_BYTES);
    const int own_w = group % CONFIG::ACROSS * (CONFIG::WIDTH * WGMMA_ROW_BYTES);
    const uint64_t x = wgmma_tile(ring.stages + own_x);
    const uint64_t w = wgmma_tile(ring.stages + CONFIG::X_BYTES + own_w);
    const int peer = hopper_kept(lane < pair_peers(plan) ? pair_peer(plan, work, lane) : NOBODY);
    ring_sum<typename CONFIG::type, CONFIG::STAGE_BYTES>(
        sum, x, w, ring.full, plan.stages, plan.steps, {}, [&](int stage) {
            if (peer != NOBODY) hopper_barrier_arrive(ring.empty + 8 * stage, peer);
        });
}

template <typename CONFIG>
static __device__ __forceinline__ void pair_sums_act(float (&sum)[CONFIG::WIDTH / 2])
{
#pragma unroll
    for (int i = 0; i < CONFIG::WIDTH / 2; i += 2)
        gpt_gelu_two(sum[i], sum[i + 1]);
}

#endif
