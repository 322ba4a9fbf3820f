/*
 * linear_pair.cuh - products of a few microseconds on Hopper's tensor cores in 16 bits: operands by
 * TMA, products by wgmma, one tile per block. What such a product takes besides its multiplications
 * is most of its time when L2 is cold, so each part of that is kept short.
 *
 * Traffic from L2: a tile of 128 x 144 needs 34 KiB for each 576 cycles of the tensor cores, 60
 * bytes per cycle, and all multiprocessors together get about 40 each out of L2, and 70 where
 * blocks share what comes out. Up to four blocks of a cluster that stand one above the other share
 * rows of w, those that stand side by side rows of x: each fetches its part, and TMA writes it to
 * all. Clusters of four or eight leave out multiprocessors where they would fill the device (1024 x
 * 768 x 3072: 16 us in place of 11), and where they do not, they are faster by a fifth and more
 * (777 x 1000 x 2000).
 *
 * The beginning: what is needed before the first load lies in 32 bytes of constants, and there is
 * no division. The first stage is not shared, so that a block asks for it before the blocks of the
 * cluster have met. One thread asks for the others in their order: a warp for each at once would
 * have all rows of w arrive before the second of x (1363 x 1728 x 448, cold: 6.9 us in place of
 * 5.8 on an H200).
 *
 * The bias is where the sums begin, so that the end of the block does not wait for it.
 *
 * The outputs lie in the ring, each warpgroup's in rows of operands that only it has read, so no
 * store waits for another. TMA stores 64 columns at a time; what is left of a tile's columns goes
 * to y by the warps.
 *
 * The end: the thread that fills the ring waits until all that share with this block have read it,
 * while outputs are stored, so that the blocks of a cluster need not meet again.
 *
 * One to three warpgroups multiply, one above the other or two side by side, each with its sums in
 * registers. An elected lane of a further warp fills the ring. Stages of small tiles are as long as
 * what these two do for each, not as their products: where the compiler did not know the lane to be
 * one of a whole warp, each stage of 64 x 64 to 64 x 128 took 330 to 430 cycles (an H200), and now
 * 220 to 290. Where a tile is small enough, two blocks fit on a multiprocessor.
 *
 * A step of a model (linear_pair.h) begins while the kernel before it still runs. Rows of w come
 * meanwhile, and rows of x and the residual, with which the sums begin, behind dependent_wait.
 */
#pragma once

#include "linear_pair_sums.cuh"

#ifdef HOPPER_CODE

/* A warp: the last COLUMNS, fewer than TMA stores at a time, to y through the buffer `from`, 16
 * bytes at a time. As words from registers all of a tile's columns would take 4.3 us, and by
 * TMA 1.0 (1363 x 1728 x 448, cold, on an H200). */
template <typename T, int COLUMNS>
static __device__ __forceinline__ void pair_store_rest(const struct linear_pair_plan &plan,
                                                       const float *sum, uint32_t from, int row,
                                                       int column, int lane)
{
    constexpr int CHUNKS = COLUMNS / 8;
    linear_store_matrices<T, COLUMNS>(from, sum, lane);
    __syncwarp();
#pragma unroll
    for (int i = lane; i < LINEAR_STORE_ROWS * CHUNKS; i += 32) {
        const int line = i / CHUNKS, chunk = i % CHUNKS;
        const uint32_t at = from + line * WGMMA_ROW_BYTES + 16 * mma_swizzle(line, chunk);
        if (row + line < plan.m && column + 8 * chunk < plan.n)
            *(uint4 *)((T *)plan.base + (int64_t)(row + line) * plan.n + column + 8 * chunk) =
                *(const uint4 *)__cvta_shared_to_generic(at);
    }
}

/* A warpgroup whose products are done: its outputs, the first at (row, column), to y. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_store(const struct linear_pair_plan &plan,
                                                  const float (&sum)[CONFIG::WIDTH / 2],
                                                  const pair_ring &ring, int row, int column,
                                                  int group, int lane)
{
    using T = typename CONFIG::type;
    const int first = (int)threadIdx.x / 32 % 4 * LINEAR_STORE_ROWS;
    uint32_t to = ring.stages + CONFIG::OWN + group * CONFIG::OWN_BYTES + first * WGMMA_ROW_BYTES;
    hopper_turn_wait(1 + group, WGMMA_THREADS); /* its warps have read their operands */
    row += first;
    if (row >= plan.m) return;
#pragma unroll
    for (int panel = 0; panel < CONFIG::PANELS; panel++, to += CONFIG::STAGE_BYTES) {
        const int at = column + panel * PAIR_PANEL;
        if (at >= plan.n) break;
        linear_store_matrices<T>(to, sum + panel * (PAIR_PANEL / 2), lane);
        hopper_store_fence();
        __syncwarp();
        if (lane == 0) hopper_store(&plan.y, to, at, row);
    }
    if constexpr (CONFIG::REST > 0)
        pair_store_rest<T, CONFIG::REST>(plan, sum + CONFIG::PANELS * (PAIR_PANEL / 2), to, row,
                                         column + CONFIG::PANELS * PAIR_PANEL, lane);
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS) __maxnreg__(CONFIG::REGISTERS)
    linear_pair_kernel(const __grid_constant__ struct linear_pair_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char pair_shared[];
    __shared__ uint64_t barriers[2 * CONFIG::MOST];
    const uint32_t start = hopper_shared(pair_shared), full = hopper_kept(hopper_shared(barriers));
    const pair_ring ring = {hopper_kept(start + (PAIR_ALIGN - start % PAIR_ALIGN) % PAIR_ALIGN),
                            full, full + 8 * CONFIG::MOST};
    const pair_work work = pair_work_of<CONFIG>(plan);
    if (plan.dependent) dependent_release();
    pair_begin<CONFIG>(plan, work, ring);
    if (hopper_warp() == CONFIG::CONSUMERS / 32) {
        if (!hopper_elect()) return;
        hopper_prefetch(&plan.y);
        pair_fill<CONFIG>(plan, work, ring);
        pair_go_on<CONFIG>(plan, work, ring);
        return;
    }
    const int group = threadIdx.x / WGMMA_THREADS, lane = threadIdx.x % 32;
    const int row = work.row + group / CONFIG::ACROSS * WGMMA_ROWS;
    const int column = work.column + group % CONFIG::ACROSS * CONFIG::WIDTH;
    float sum[CONFIG::WIDTH / 2];
    pair_sums_begin<CONFIG>(plan, sum, column, lane);
    if (plan.residual) {
        dependent_wait();
        pair_sums_add<CONFIG>(plan, sum, row + (int)threadIdx.x / 32 % 4 * LINEAR_STORE_ROWS,
                              column, lane);
    }
    pair_sum<CONFIG>(plan, sum, work, ring, group, lane);
    if (plan.finish == LINEAR_GELU) pair_sums_act<CONFIG>(sum);
    pair_store<CONFIG>(plan, sum, ring, row, column, group, lane);
#else
    __trap();
#endif
}
