/*
 * linear_ring.cuh - a warpgroup's sums of a ring of stages that TMA fills.
 *
 * One product is all that ever waits for the tensor cores behind the one that runs, so what a warp
 * does between the last product of a stage and the first of the next takes time unless it takes
 * less than a product, of 32 to 64 cycles for 64 to 128 columns. So whether the next stage is there
 * is asked between two products, and where its tiles are is known by then. Whoever calls this is in
 * a branch that the compiler knows to be the same for the whole warp, or it would move descriptors
 * to uniform registers for each product.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"

#ifdef HOPPER_CODE

/* In place of a block's rank: this lane gives no stage back. */
enum { NOBODY = -1 };

/* A stage: its number, the parity of its barrier's phase, and how much further its tiles'
 * descriptors are than the first stage's. */
struct ring_place {
    int stage, parity;
    uint32_t further;
};

template <int STAGE_BYTES>
static __device__ __forceinline__ ring_place ring_next(const ring_place &at, int stages)
{
    if (at.stage + 1 == stages) return {0, at.parity ^ 1, 0};
    return {at.stage + 1, at.parity, at.further + STAGE_BYTES / 16};
}

/* Start the products of a stage, whose tiles are a and b, from the sums there are or from zero.
 * Whether the barrier of the next stage has ended its phase. */
template <typename T, bool ADDS = true, int COUNT>
static __device__ __forceinline__ bool ring_multiply(float (&sum)[COUNT], uint64_t a, uint64_t b,
                                                     uint32_t next_full, int next_parity)
{
    constexpr int STEPS = WGMMA_ROW_BYTES / WGMMA_STEP_BYTES;
    bool there = false;
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) there = hopper_barrier_test(next_full, next_parity);
        wgmma_step(T(), sum, wgmma_ahead(a, i), wgmma_ahead(b, i), ADDS || i > 0);
    }
    wgmma_commit();
    return there;
}

/* A warpgroup: add the products of `steps` stages to the sums, of which the first is at `at`. The
 * ring has `stages`, whose barriers begin at `full`; a and b are the tiles of stage 0.
 * give_back(stage) says that a stage has been read, for all but the last KEPT. Where the last was.
 * One batch of products is always in flight; the first is outside of the loop, where the compiler
 * may see other numbers in their registers. */
template <typename T, int STAGE_BYTES, int KEPT = 0, int COUNT, typename GIVE_BACK>
static __device__ __forceinline__ ring_place ring_sum(float (&sum)[COUNT], uint64_t a, uint64_t b,
                                                      uint32_t full, int stages, int steps,
                                                      ring_place at, const GIVE_BACK &give_back)
{
    ring_place next = ring_next<STAGE_BYTES>(at, stages);
    hopper_barrier_wait(full + 8 * at.stage, at.parity);
    wgmma_pin(sum);
    bool there = ring_multiply<T>(sum, wgmma_further(a, at.further), wgmma_further(b, at.further),
                                  full + 8 * next.stage, next.parity);
    for (int left = steps - 1; left > 0; left--) {
        const int before = at.stage;
        at = next;
        next = ring_next<STAGE_BYTES>(at, stages);
        if (!there) hopper_barrier_wait(full + 8 * at.stage, at.parity);
        there = ring_multiply<T>(sum, wgmma_further(a, at.further), wgmma_further(b, at.further),
                                 full + 8 * next.stage, next.parity);
        wgmma_wait<1>();
        if (left >= KEPT) give_back(before);
    }
    wgmma_wait<0>();
    wgmma_pin(sum);
    if constexpr (KEPT == 0) give_back(at.stage);
    return at;
}

#endif
