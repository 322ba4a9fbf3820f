/*
 * linear_pair.cuh - products of a few microseconds on Hopper's tensor cores in 16 bits: operands by
 * TMA, products by wgmma, one tile per block. What such a product takes besides its multiplications
 * is most of its time when L2 is cold, so each part of that is kept short.
 *
 * Traffic from L2: a tile of 128 x 144 needs 34 KiB for each 576 cycles of the tensor cores, 60
 * bytes per cycle, and all multiprocessors together get about 35 each. The two blocks of a cluster
 * share the rows of one operand. Each fetches half of them, and TMA writes it to both.
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
 * The end: the thread that fills the ring waits until both blocks have read it, while outputs are
 * stored, so that the blocks of a cluster need not meet again.
 *
 * Two warpgroups multiply, one above the other (DOWN 2: 128 rows of x) or side by side (DOWN 1: 64
 * rows, for few rows of x), each with its sums in registers. One thread of a further warp fills the
 * stages that do not fit at first. Where a tile is small enough, two blocks fit on a
 * multiprocessor.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/mma_layout.h"
#include "linear_pair.h"
#include "linear_store.cuh"

enum {
    PAIR_ALIGN = 1024,
    PAIR_ALONE_BYTES = 216 * 1024, /* of stages, of a block that is alone on a multiprocessor */
    PAIR_GROUPS = 2,
    PAIR_CONSUMERS = PAIR_GROUPS * WGMMA_THREADS,
    PAIR_THREADS = PAIR_CONSUMERS + 32,
    PAIR_STEPS = WGMMA_ROW_BYTES / WGMMA_STEP_BYTES,
    PAIR_DEPTH = WGMMA_ROW_BYTES / 2, /* of k, a stage */
    PAIR_PANEL = WGMMA_ROW_BYTES / 2, /* columns of y that TMA stores at a time */
    PAIR_TWO_WIDTH = 128, /* columns of a warpgroup whose registers leave room for a second block */
};

/* Tiles of 64 DOWN rows of x; each warpgroup has WIDTH columns. */
template <typename T, int DOWN_, int WIDTH_> struct pair_config {
    using type = T;
    static constexpr int DOWN = DOWN_, WIDTH = WIDTH_, ACROSS = PAIR_GROUPS / DOWN;
    static constexpr int ROWS = DOWN * WGMMA_ROWS, COLUMNS = ACROSS * WIDTH;
    static constexpr int X_BYTES = ROWS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + COLUMNS * WGMMA_ROW_BYTES;
    static constexpr int MOST = PAIR_ALONE_BYTES / STAGE_BYTES; /* stages */
    static constexpr int BLOCKS = WIDTH <= PAIR_TWO_WIDTH ? 2 : 1;
    /* The first of a stage's rows that only one warpgroup reads, and the bytes of each. */
    static constexpr int OWN = DOWN > 1 ? 0 : X_BYTES;
    static constexpr int OWN_BYTES = (DOWN > 1 ? WGMMA_ROWS : WIDTH) * WGMMA_ROW_BYTES;
    static constexpr int PANELS = WIDTH / PAIR_PANEL, REST = WIDTH % PAIR_PANEL;
    static constexpr int HELD = PANELS + (REST > 0); /* stages that hold the outputs */
    static_assert(MOST <= PAIR_THREADS / 32, "a warp for each stage");
    static_assert(HELD <= MOST && REST % 16 == 0 && OWN_BYTES >= WGMMA_ROWS * WGMMA_ROW_BYTES,
                  "room for outputs");
    static_assert(COLUMNS / 2 % 8 == 0 && WIDTH % 8 == 0, "whole swizzles");
};

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

/* One thread: let stage `stage` of the ring expect stage `step` of k, and ask for its rows of the
 * operands that are not shared. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring,
                                                  int step, int stage)
{
    const uint32_t x = ring.stages + stage * CONFIG::STAGE_BYTES, w = x + CONFIG::X_BYTES;
    const uint32_t arrived = ring.full + 8 * stage;
    hopper_barrier_expect(arrived, plan.stage_bytes);
    if (plan.share != LINEAR_PAIR_X) hopper_load(x, &plan.x, step * PAIR_DEPTH, work.row, arrived);
    if (plan.share != LINEAR_PAIR_W)
        hopper_load(w, &plan.w, step * PAIR_DEPTH, work.column, arrived);
}

/* One thread: ask for this block's half of the rows that are shared, for both blocks. Each has let
 * its stage expect them, or will before it waits for them. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_shared(const struct linear_pair_plan &plan,
                                                         const pair_work &work,
                                                         const pair_ring &ring, int step, int stage)
{
    constexpr int x_rows = CONFIG::ROWS / 2, w_rows = CONFIG::COLUMNS / 2;
    const uint32_t x = ring.stages + stage * CONFIG::STAGE_BYTES, w = x + CONFIG::X_BYTES;
    const uint32_t arrived = ring.full + 8 * stage;
    if (plan.share == LINEAR_PAIR_X)
        hopper_load_to(x + work.rank * x_rows * WGMMA_ROW_BYTES, &plan.x, step * PAIR_DEPTH,
                       work.row + work.rank * x_rows, arrived, 3);
    if (plan.share == LINEAR_PAIR_W)
        hopper_load_to(w + work.rank * w_rows * WGMMA_ROW_BYTES, &plan.w, step * PAIR_DEPTH,
                       work.column + work.rank * w_rows, arrived, 3);
}

/* One thread: ask for all rows that are shared, for this block alone. So the first stage need not
 * wait until the other block is ready. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_fetch_first(const struct linear_pair_plan &plan,
                                                        const pair_work &work,
                                                        const pair_ring &ring)
{
    constexpr int x_rows = CONFIG::ROWS / 2, w_rows = CONFIG::COLUMNS / 2;
    const uint32_t x = ring.stages, w = x + CONFIG::X_BYTES;
    if (plan.share == LINEAR_PAIR_X) {
        hopper_load(x, &plan.x, 0, work.row, ring.full);
        hopper_load(x + x_rows * WGMMA_ROW_BYTES, &plan.x, 0, work.row + x_rows, ring.full);
    }
    if (plan.share == LINEAR_PAIR_W) {
        hopper_load(w, &plan.w, 0, work.column, ring.full);
        hopper_load(w + w_rows * WGMMA_ROW_BYTES, &plan.w, 0, work.column + w_rows, ring.full);
    }
}

/* All threads: the barriers, and the first stage. */
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
            pair_fetch<CONFIG>(plan, work, ring, 0, 0);
            pair_fetch_first<CONFIG>(plan, work, ring);
        }
    }
    if (!plan.share) {
        __syncthreads();
        return;
    }
    __syncwarp();
    hopper_cluster_sync_reads();
}

/* One thread: the rest of the stages, each when its place is free in both blocks. Then wait until
 * both have read the last ones, so that neither ends while the other writes or signals to it. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_go_on(const struct linear_pair_plan &plan,
                                                  const pair_work &work, const pair_ring &ring)
{
    const int end = plan.share ? plan.steps + plan.stages : plan.steps;
    int stage = 0, parity = 0;
    for (int step = 1; step < plan.stages; step++) {
        pair_fetch<CONFIG>(plan, work, ring, step, step);
        pair_fetch_shared<CONFIG>(plan, work, ring, step, step);
    }
    for (int step = plan.stages; step < end; step++) {
        hopper_barrier_wait(ring.empty + 8 * stage, parity);
        if (step < plan.steps) {
            pair_fetch<CONFIG>(plan, work, ring, step, stage);
            pair_fetch_shared<CONFIG>(plan, work, ring, step, stage);
        }
        if (++stage == plan.stages) stage = 0, parity ^= 1;
    }
}

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

/* A warpgroup: start the products of a stage. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_multiply(float (&sum)[CONFIG::WIDTH / 2],
                                                     uint32_t stage, int group)
{
    const int own = CONFIG::OWN + group * CONFIG::OWN_BYTES;
    const uint64_t a = wgmma_tile(stage + (CONFIG::DOWN > 1 ? own : 0));
    const uint64_t b = wgmma_tile(stage + (CONFIG::DOWN > 1 ? CONFIG::X_BYTES : own));
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < PAIR_STEPS; i++)
        wgmma_step(typename CONFIG::type(), sum, wgmma_ahead(a, i), wgmma_ahead(b, i), 1);
    wgmma_commit();
}

/* A warpgroup's sums. One batch of products is always in flight; the first is outside of the loop,
 * where the compiler may see other numbers in their registers. */
template <typename CONFIG>
static __device__ __forceinline__ void pair_sum(const struct linear_pair_plan &plan,
                                                float (&sum)[CONFIG::WIDTH / 2],
                                                const pair_ring &ring, int group, int lane)
{
    const int readers = plan.share ? 2 : 1;
    int stage = 0, parity = 0;
    hopper_barrier_wait(ring.full, 0);
    wgmma_pin(sum);
    pair_multiply<CONFIG>(sum, ring.stages, group);
    for (int step = 1; step < plan.steps; step++) {
        const int before = stage;
        if (++stage == plan.stages) stage = 0, parity ^= 1;
        hopper_barrier_wait(ring.full + 8 * stage, parity);
        pair_multiply<CONFIG>(sum, ring.stages + stage * CONFIG::STAGE_BYTES, group);
        wgmma_wait<1>();
        if (lane < readers) hopper_barrier_arrive(ring.empty + 8 * before, lane);
    }
    wgmma_wait<0>();
    wgmma_pin(sum);
    if (lane < readers) hopper_barrier_arrive(ring.empty + 8 * stage, lane);
}

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
static __global__ void __launch_bounds__(PAIR_THREADS, CONFIG::BLOCKS)
    linear_pair_kernel(const __grid_constant__ struct linear_pair_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char pair_shared[];
    __shared__ uint64_t barriers[2 * CONFIG::MOST];
    const uint32_t start = hopper_shared(pair_shared);
    const pair_ring ring = {start + (PAIR_ALIGN - start % PAIR_ALIGN) % PAIR_ALIGN,
                            hopper_shared(barriers), hopper_shared(barriers + CONFIG::MOST)};
    const pair_work work = pair_work_of<CONFIG>(plan);
    pair_begin<CONFIG>(plan, work, ring);
    if (threadIdx.x >= PAIR_CONSUMERS) {
        if (threadIdx.x != PAIR_CONSUMERS) return;
        hopper_prefetch(&plan.y);
        pair_go_on<CONFIG>(plan, work, ring);
        return;
    }
    const int group = threadIdx.x / WGMMA_THREADS, lane = threadIdx.x % 32;
    const int row = work.row + (CONFIG::DOWN > 1 ? group * WGMMA_ROWS : 0);
    const int column = work.column + (CONFIG::DOWN > 1 ? 0 : group * CONFIG::WIDTH);
    float sum[CONFIG::WIDTH / 2];
    pair_sums_begin<CONFIG>(plan, sum, column, lane);
    pair_sum<CONFIG>(plan, sum, ring, group, lane);
    pair_store<CONFIG>(plan, sum, ring, row, column, group, lane);
#else
    __trap();
#endif
}
