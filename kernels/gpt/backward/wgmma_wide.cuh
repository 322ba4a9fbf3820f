/*
 * wgmma_wide.cuh - the warpgroups of wgmma.cu that compute, above 128 numbers of a head.
 *
 * A block has 64 keys, because the sums of dk and dv of 64 keys and 256 numbers are 128 registers
 * of both warpgroups. Each has half of the numbers of dk, dv and dq. Scores and dp are divided by
 * queries: each has half of a tile's, and writes its p and ds to shared memory as [keys][queries],
 * where both read them as the left operand of all three sums. So the warpgroups meet once in each
 * tile, and the buffer of p and ds is double. Each half of the numbers has two panels, the second
 * one with a part in use at 192: a product does not begin in the middle of a panel.
 *
 * Predicted for a tile of 64 keys and 64 queries at 256: 2560 cycles of products, of which those of
 * 32 queries take half as long again, since they read 24 bytes of shared memory for 16 cycles of
 * products: 3070, and 800 in which none run. At 192 2300 and 800.
 */
#pragma once

#include "wgmma.cuh"

#ifdef HOPPER_CODE

/* sum += p or ds, whose keys are rows of `weight`, times the rows of a tile. */
template <int COUNT>
static __device__ __forceinline__ void backward_wide_add(float (&sum)[COUNT], uint64_t weight,
                                                         uint64_t tile)
{
#pragma unroll
    for (int step = 0; step < COLUMNS / 16; step++)
        wgmma_step(wgmma_bf16_across(), sum, wgmma_ahead(weight, step), wgmma_down(tile, step), 1);
}

/* Half of a work: half of the numbers of dk, dv and dq. */
template <int SIZE>
static __device__ __forceinline__ void backward_wide_consume(const struct backward_plan &plan,
                                                             const backward_memory<SIZE> memory,
                                                             const struct backward_work &work,
                                                             int group)
{
    typedef backward_layout<SIZE> layout;
    const int half = COLUMNS / GROUPS; /* queries whose scores a warpgroup has */
    const int lane = threadIdx.x % 32, size = plan.args.forward.size;
    const int warp_row = threadIdx.x / 32 % 4 * 16 + lane / 4, column = group * layout::half;
    const int panel = BOX * WGMMA_ROW_BYTES; /* of every operand */
    const int behind = group * 2 * panel;    /* where a warpgroup's numbers begin in one */
    const int queries = group * half * WGMMA_ROW_BYTES, rows = group * half * (int)sizeof(float);
    const uint64_t keys = wgmma_tile_across(memory.own(0) + behind, panel);
    float s[half / 2], dp[half / 2], dk[layout::half / 2], dv[layout::half / 2],
        dq[layout::half / 2];
    uint32_t word[half / 4];
#pragma unroll
    for (int i = 0; i < layout::half / 2; i++)
        dk[i] = dv[i] = 0.0f;

    for (int n = 0; n < work.tiles; n++) {
        const int tile = work.tile + n;
        const uint32_t p_at = memory.ds(n), ds_at = p_at + panel;
        hopper_barrier_wait(memory.there(n), memory.phase(n));
        wgmma_pin(s);
        wgmma_pin(dp);
        wgmma_begin();
        backward_scores<SIZE>(s, memory.own(0), memory.tile(n, 0) + queries);
        backward_scores<SIZE>(dp, memory.own(1), memory.tile(n, 1) + queries);
        wgmma_wait<1>();
        wgmma_pin(s);
        backward_weigh(s, memory.lse(n) + rows, plan.scale, work.own,
                       tile * COLUMNS + group * half);
        backward_pack(word, s);
        backward_put(p_at, word, warp_row, lane, group * half / 8);
        wgmma_wait<0>();
        wgmma_pin(dp);
        backward_differ(dp, s, memory.delta(n) + rows);
        backward_pack(word, dp);
        backward_put(ds_at, word, warp_row, lane, group * half / 8);
        hopper_store_fence();
        hopper_turn_wait(MEETING, COMPUTING);

        const uint64_t across = wgmma_tile_across(ds_at, panel);
        wgmma_pin(dq);
        wgmma_pin(dk);
        wgmma_pin(dv);
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < BOX / 16; step++)
            wgmma_step(wgmma_bf16_both_across(), dq, wgmma_down(across, step),
                       wgmma_down(keys, step), step > 0);
        wgmma_commit();
        backward_wide_add(dv, wgmma_tile(p_at),
                          wgmma_tile_across(memory.tile(n, 1) + behind, panel));
        backward_wide_add(dk, wgmma_tile(ds_at),
                          wgmma_tile_across(memory.tile(n, 0) + behind, panel));
        wgmma_commit();
        wgmma_wait<1>();
        wgmma_pin(dq);
        backward_sum<false>(backward_sums(plan, work.line, tile, column, size), dq, size - column);
        wgmma_wait<0>();
        wgmma_pin(dk);
        wgmma_pin(dv);
        if (lane == 0) hopper_barrier_arrive(memory.free(n));
    }
    if (lane == 0) hopper_barrier_arrive(memory.own_free());
    backward_store<false>(plan, work.line, 1, column, work.own + warp_row, dk, rsqrtf((float)size));
    backward_store<false>(plan, work.line, 2, column, work.own + warp_row, dv, 1.0f);
}

#endif
