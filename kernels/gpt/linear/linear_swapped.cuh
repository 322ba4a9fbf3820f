/*
 * linear_swapped.cuh - products on Hopper's tensor cores with the operands' roles swapped: rows of
 * w are wgmma's rows, 64 for each warpgroup of a block, and rows of x its columns, of which there
 * may be any multiple of 8; of more than 256, in two products of half of them each. So few rows of
 * x cost little more than the reading of w, and tiles come in sizes of which some number just fills
 * the device.
 *
 * A block has one tile and ends with it. A stage is 128 bytes of k of both operands. By TMA: the
 * warps ask for as many stages as there is room for, one thread for the rest, and the warpgroups
 * multiply. By the threads themselves: cp.async, 16 bytes at a time, which for a few
 * stages ends sooner, since nothing is fetched first that says where the operands are. Where
 * several blocks fit on a multiprocessor, one fetches while another stores. Rows that
 * are not there are not fetched: what stands in their place reaches only outputs that are not
 * stored. So a tile may also take fewer rows of w than it has room for, where that fills the
 * device.
 *
 * Traffic from L2: all multiprocessors together get about 48 bytes per cycle each. A tile of 160
 * rows of x and 192 of w needs 44 KiB for each 960 cycles of the tensor cores, 47 per cycle. Two
 * blocks of a cluster, one band above the other, may share the rows of w: each fetches half of
 * them, and TMA writes it to both. That is worth its while where w comes from memory (two bands of
 * 299 rows, 23752 x 6744: 153 us in place of 185 on an H200); sharing rows of x never was.
 *
 * Outputs lie across: a lane has neighbouring rows of y. They are turned on the way to shared
 * memory (stmatrix with .trans; in tf32, word by word), from where TMA stores them; those of a few
 * rows go to y directly. A cluster of up to 8 blocks divides k, and adds the sums of its blocks
 * through its shared memory (linear_skinny_finish.cuh); or as many blocks as there is room for,
 * through the device's (linear_parts_finish.cuh).
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/mma.cuh"
#include "linear_ring.cuh"
#include "linear_swapped.h"
#include "linear_swapped_stages.cuh"
#include "linear_swapped_store.cuh"

enum {
    SWAPPED_ALIGN = 1024,
    SWAPPED_COPIED_BYTES = 72 * 1024, /* of stages, three blocks on a multiprocessor */
    SWAPPED_ALONE_BYTES = 216 * 1024, /* one */
    SWAPPED_STEPS = WGMMA_ROW_BYTES / WGMMA_STEP_BYTES,
    SWAPPED_DIRECT = 64, /* rows of x whose outputs need not pass through shared memory, at most */
    SWAPPED_CHUNKS = WGMMA_ROW_BYTES / 16,
    SWAPPED_EARLY = 2,                /* stages that are asked for by a warp each */
    SWAPPED_BOX = 256,                /* rows that TMA moves at a time */
    SWAPPED_PROCESSOR_THREADS = 1024, /* as their registers allow */
};

/* Tiles of ROWS_ rows of x by 64 of w for each of GROUPS_ warpgroups; outputs of type OUT. */
template <typename T, int ROWS_, int GROUPS_, bool BY_TMA_, linear_finish FINISH_, typename OUT = T>
struct swapped_config {
    using type = T;
    using output = OUT;
    static constexpr enum linear_finish FINISH = FINISH_;
    static constexpr bool BY_STAGE = false; /* whether the sums of each stage begin at zero */
    static constexpr int PAUSE = 0;
    static constexpr bool BY_TMA = BY_TMA_;
    static constexpr int X_ROWS = ROWS_, GROUPS = GROUPS_, W_ROWS = GROUPS * WGMMA_ROWS;
    static constexpr int CONSUMERS = GROUPS * WGMMA_THREADS;
    static constexpr int THREADS = CONSUMERS + (BY_TMA ? 32 : 0);
    static constexpr int TOGETHER = SWAPPED_PROCESSOR_THREADS / THREADS; /* on a multiprocessor */
    static constexpr int DEPTH = WGMMA_ROW_BYTES / (int)sizeof(T);       /* of k, a stage */
    static constexpr int W_BYTES = W_ROWS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = W_BYTES + X_ROWS * WGMMA_ROW_BYTES;
    static constexpr int MOST = SWAPPED_ALONE_BYTES / STAGE_BYTES; /* stages */
    static constexpr int COPIED_STAGES = SWAPPED_COPIED_BYTES / STAGE_BYTES;
    static constexpr int COPIED = CONSUMERS / SWAPPED_CHUNKS; /* rows that threads copy at a time */
    static constexpr int PANEL = WGMMA_ROW_BYTES / (int)sizeof(OUT); /* columns of y of a box */
    static constexpr int PANELS = WGMMA_ROWS / PANEL;                /* of a warpgroup */
    static constexpr int BOXES = X_ROWS > SWAPPED_BOX ? 2 : 1;       /* of a band's rows */
    static constexpr bool DIRECT = X_ROWS <= SWAPPED_DIRECT;         /* a finish that it may have */
    /* For skinny_finish. */
    static constexpr int ROWS = X_ROWS / 8, QUADS = W_ROWS / 4, PITCH = W_ROWS + 4;
    static constexpr int WARPS = 1, SUMS = X_ROWS * PITCH;
    static_assert(BY_TMA || COPIED_STAGES >= 3, "one is fetched while another is multiplied");
};

#ifdef HOPPER_CODE

struct swapped_ring {
    uint32_t stages, full, empty;
    int count;
};

/* One thread: ask for stage `step`, to be put at `stage` of the ring. Of rows of w that are shared,
 * half for both blocks; or, if `alone`, all for this one. The other block has let its stage expect
 * them, or will before it waits for them. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_fetch(const struct linear_swapped_plan &plan,
                                                     const swapped_work &work,
                                                     const swapped_ring &ring, int step, int stage,
                                                     bool alone = false)
{
    const uint32_t w = ring.stages + stage * CONFIG::STAGE_BYTES, arrived = ring.full + 8 * stage;
    const int k = step * CONFIG::DEPTH, half = plan.wide / 2;
    hopper_barrier_expect(arrived, (plan.wide + plan.rows) * WGMMA_ROW_BYTES);
    if (!plan.shares || alone) hopper_load(w, &plan.w, k, work.column, arrived);
    if (plan.shares && alone)
        hopper_load(w + half * WGMMA_ROW_BYTES, &plan.w, k, work.column + half, arrived);
    if (plan.shares && !alone) {
        const int own = (int)blockIdx.x % 2 * half;
        hopper_load_to(w + own * WGMMA_ROW_BYTES, &plan.w, k, work.column + own, arrived, 3);
    }
#pragma unroll
    for (int box = 0; box < CONFIG::BOXES; box++) {
        const int row = plan.rows / CONFIG::BOXES * box;
        hopper_load(w + CONFIG::W_BYTES + row * WGMMA_ROW_BYTES, &plan.x, k, work.row + row,
                    arrived);
    }
}

/* Each warp: the barriers of its share of the ring. The first two ask for their stage at once, as
 * none waits for another's barriers, and a thread takes about 130 cycles for each. One thread asks
 * for the others in their order, in swapped_go_on: if each warp did, all rows of w would arrive
 * before the second of x (3 % slower over 110 shapes on an H200, and up to 21 %). All barriers that
 * there may be: the number of those in use, read here by one lane, would not be known to be the
 * same in all lanes where stages are multiplied. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_begin(const struct linear_swapped_plan &plan,
                                                     const swapped_work &work,
                                                     const swapped_ring &ring)
{
    const int warp = hopper_warp();
    if (!hopper_elect()) return;
#pragma unroll 1
    for (int stage = warp; stage < CONFIG::MOST; stage += CONFIG::THREADS / 32) {
        hopper_barrier_init(ring.full + 8 * stage, 1);
        hopper_barrier_init(ring.empty + 8 * stage, CONFIG::CONSUMERS / 32 << plan.shares);
        hopper_barrier_publish();
        if (stage < SWAPPED_EARLY && work.begin + stage < work.end)
            swapped_fetch<CONFIG>(plan, work, ring, work.begin + stage, stage, true);
    }
}

/* One thread: the rest of the stages, each when its place is free, and where the outputs go, so
 * that nothing waits for that at the end. Blocks that share wait until both have read all, so that
 * neither ends while the other writes or signals to it. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_go_on(const struct linear_swapped_plan &plan,
                                                     const swapped_work &work,
                                                     const swapped_ring &ring)
{
    const int filled = min(work.begin + ring.count, work.end);
    int stage = 0, parity = 0;
    for (int step = work.begin + SWAPPED_EARLY; step < filled; step++)
        swapped_fetch<CONFIG>(plan, work, ring, step, step - work.begin);
    if (plan.finish == LINEAR_SWAPPED_PANELS) hopper_prefetch(&plan.y);
    const int last = plan.shares ? work.end + ring.count : work.end;
    for (int step = work.begin + ring.count; step < last; step++) {
        hopper_barrier_wait(ring.empty + 8 * stage, parity);
        if (step < work.end) swapped_fetch<CONFIG>(plan, work, ring, step, stage);
        if (++stage == ring.count) stage = 0, parity ^= 1;
    }
}

/* A warpgroup's tiles of the first stage. */
struct swapped_tiles {
    uint64_t a, b;
};

template <typename CONFIG>
static __device__ __forceinline__ swapped_tiles swapped_first(uint32_t stages)
{
    const uint32_t own = threadIdx.x / WGMMA_THREADS * (WGMMA_ROWS * WGMMA_ROW_BYTES);
    return {wgmma_tile(stages + own), wgmma_tile(stages + CONFIG::W_BYTES)};
}

/* A warpgroup: add the products of its work to the sums, of stages that TMA fetches (ring_sum). */
template <typename CONFIG, int KEPT, typename GIVE_BACK>
static __device__ __forceinline__ ring_place
swapped_add_products(float (&sum)[CONFIG::X_ROWS / 2], const struct linear_swapped_plan &plan,
                     const swapped_work &work, const swapped_ring &ring, const swapped_tiles &first,
                     const ring_place &at, const GIVE_BACK &give_back)
{
    if constexpr (CONFIG::BY_STAGE)
        return swapped_sum_stages<CONFIG, KEPT>(sum, plan, work, first.a, first.b, ring.full, at,
                                                give_back);
    else
        return ring_sum<typename CONFIG::type, CONFIG::STAGE_BYTES, KEPT>(
            sum, first.a, first.b, ring.full, ring.count, work.end - work.begin, at, give_back);
}

/* A warpgroup's sums, of stages that TMA fetches. A warp that has read a stage says so to all that
 * write to it. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_sum(float (&sum)[CONFIG::X_ROWS / 2],
                                                   const struct linear_swapped_plan &plan,
                                                   const swapped_work &work,
                                                   const swapped_ring &ring, int rank)
{
    const swapped_tiles first = swapped_first<CONFIG>(ring.stages);
    const int lane = threadIdx.x % 32, shares = plan.shares;
    const int peer = hopper_kept(lane < 1 + shares ? (shares ? lane : rank) : NOBODY);
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i++)
        sum[i] = 0;
    swapped_add_products<CONFIG, 0>(sum, plan, work, ring, first, {}, [&](int stage) {
        if (peer != NOBODY) hopper_barrier_arrive(ring.empty + 8 * stage, peer);
    });
}

/* All threads: start the copies of a thread's 16 bytes of rows of one operand, `rows` of them, at
 * `k0` of k; zeros behind its end. */
template <typename CONFIG, int ROWS>
static __device__ __forceinline__ void swapped_copy(uint32_t to,
                                                    const typename CONFIG::type *matrix,
                                                    int64_t row0, int rows, int k0, int k)
{
    const int chunk = threadIdx.x % SWAPPED_CHUNKS, first = threadIdx.x / SWAPPED_CHUNKS;
    k0 += chunk * (16 / (int)sizeof(typename CONFIG::type));
#pragma unroll
    for (int i = 0; i < ROWS; i += CONFIG::COPIED) {
        const int row = first + i;
        if (row < rows)
            mma_copy(to + row * WGMMA_ROW_BYTES + mma_swizzle(row, chunk) * 16,
                     matrix + (row0 + row) * k + (k0 < k ? k0 : 0), k0 < k);
    }
}

/* All threads: start the copies of stage `step`, if there is one. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_copy(const struct linear_operands &of,
                                                    const swapped_work &work, uint32_t stages,
                                                    int step)
{
    using T = typename CONFIG::type;
    const int k0 = step * CONFIG::DEPTH, k = (int)of.k;
    const uint32_t to = stages + (step - work.begin) % CONFIG::COPIED_STAGES * CONFIG::STAGE_BYTES;
    if (step < work.end) {
        swapped_copy<CONFIG, CONFIG::W_ROWS>(to, (const T *)of.w, work.column,
                                             work.until - work.column, k0, k);
        swapped_copy<CONFIG, CONFIG::X_ROWS>(to + CONFIG::W_BYTES, (const T *)of.x, work.row,
                                             work.rows, k0, k);
    }
    mma_copy_commit();
}

/* A warpgroup: start the products of a stage, whose tiles are a and b. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_multiply(float (&sum)[CONFIG::X_ROWS / 2],
                                                        uint64_t a, uint64_t b, bool adds)
{
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < SWAPPED_STEPS; i++)
        wgmma_step(typename CONFIG::type(), sum, wgmma_ahead(a, i), wgmma_ahead(b, i),
                   adds || i > 0);
    wgmma_commit();
}

/* A warpgroup's sums, of stages that all threads copy. The first are under way. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_sum_copied(float (&sum)[CONFIG::X_ROWS / 2],
                                                          const struct linear_operands &of,
                                                          const swapped_work &work, uint32_t stages)
{
    constexpr int count = CONFIG::COPIED_STAGES;
    const swapped_tiles first = swapped_first<CONFIG>(stages);
    for (int step = work.begin; step < work.end; step++) {
        const uint32_t further = (step - work.begin) % count * (CONFIG::STAGE_BYTES / 16);
        mma_copy_wait<count - 2>();
        hopper_store_fence(); /* wgmma reads what this thread has copied */
        wgmma_wait<0>();
        __syncthreads(); /* all have copied this stage, and multiplied the one before */
        swapped_multiply<CONFIG>(sum, wgmma_further(first.a, further),
                                 wgmma_further(first.b, further), step > work.begin);
        swapped_copy<CONFIG>(of, work, stages, step + count - 1);
    }
    wgmma_wait<0>();
    wgmma_pin(sum);
}

static __device__ __forceinline__ swapped_place
swapped_place_of(const struct linear_swapped_plan &plan)
{
    const int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (plan.finish == LINEAR_SWAPPED_APART) return {plan.across ? y : x, plan.across ? x : y, z};
    return {z * plan.height + (x >> plan.log_parts), y, x & ((1 << plan.log_parts) - 1)};
}

/* A block's work, without a division: those would be most of what comes before the first load. */
static __device__ __forceinline__ swapped_work
swapped_work_of(const struct linear_swapped_plan &plan, const swapped_place &place)
{
    const int column = place.column * plan.wide, row = place.band * plan.rows, rank = place.rank;
    const int begin = plan.each * rank + min(rank, plan.more);
    return {column, min(column + plan.wide, (int)plan.operands.n),
            row,    min(plan.rows, (int)plan.operands.m - row),
            begin,  begin + plan.each + (rank < plan.more ? 1 : 0)};
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS)
    linear_swapped_kernel(const __grid_constant__ struct linear_swapped_plan plan)
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
    const swapped_place place = swapped_place_of(plan);
    if (place.band >= plan.bands) return; /* the last group may have fewer */
    const swapped_work work = swapped_work_of(plan, place);
    const int column = work.column + (int)threadIdx.x / 32 * 16, lane = threadIdx.x % 32;
    swapped_bias<typename CONFIG::output> bias;
    float sum[CONFIG::X_ROWS / 2];
    if constexpr (CONFIG::BY_TMA) {
        swapped_begin<CONFIG>(plan, work, ring);
        bias = swapped_bias_of<typename CONFIG::output>(plan.operands, column, lane);
        if (plan.shares)
            hopper_cluster_sync_reads();
        else
            __syncthreads();
        const int warp = hopper_warp();
        if (warp == CONFIG::CONSUMERS / 32) {
            if (hopper_elect()) swapped_go_on<CONFIG>(plan, work, ring);
        } else {
            swapped_sum<CONFIG>(sum, plan, work, ring,
                                plan.finish == LINEAR_SWAPPED_APART ? 0 : place.rank);
        }
        __syncwarp();
    } else {
        for (int step = work.begin; step < work.begin + CONFIG::COPIED_STAGES - 1; step++)
            swapped_copy<CONFIG>(plan.operands, work, ring.stages, step);
        bias = swapped_bias_of<typename CONFIG::output>(plan.operands, column, lane);
        swapped_sum_copied<CONFIG>(sum, plan.operands, work, ring.stages);
    }
    swapped_finish<CONFIG>(plan, memory, sum, work, bias, place);
#else
    __trap();
#endif
}
