/*
 * linear_wgmma.cuh - the tensor-core product for Hopper: tiles of 128 x COLUMNS outputs, operands
 * by TMA, products by wgmma.
 *
 * Warp specialization: a block of three warpgroups runs on each multiprocessor. One thread of the
 * first keeps a ring of stages full: 128 bytes of k (64 bf16 or 32 tf32), or twice that, of 128
 * rows of x and COLUMNS rows of w. The other two warpgroups multiply, with their sums in registers,
 * and release a stage as soon as their products have read it. CLUSTER blocks, one above the other,
 * share the rows of w: each fetches a part, and TMA writes it to all. Without that, the traffic
 * from L2 would be more than L2 can give.
 *
 * Blocks are persistent: the grid has as many as fit, and each goes through tiles in the order of
 * linear_order.h. While the sums of one tile are written, the next tile's operands arrive. Outputs
 * are stored by linear_store.cuh.
 *
 * Tiles that do not fill the device a whole number of times may be divided along k instead
 * (lwg_plan.division; linear_parts.cuh); not in turns, which hold twice as many sums.
 *
 * Operands in fp32 come as three parts in bf16 each (SPLIT; linear_split.h). A stage has 64 of k of
 * all parts, two stages fill the ring, and six products of parts are made of each.
 *
 * The two warpgroups that multiply either share a tile, 64 rows each, or take turns (TURNS): each
 * has every other tile to itself, all 128 rows, and writes its sums while the other multiplies.
 * Sharing is for a block with a single tile, whose outputs are then stored in half the time, and
 * for tiles of 256 columns, of which a warpgroup can hold only half in registers. With k = 768,
 * shared tiles of 128 x 256 bf16 outputs take 12,200 cycles for the products and 3,000 for
 * storing, which nothing hides. In turns the tensor cores go on with the next tile at once and are
 * busy for 95 % of the time with 192 columns.
 *
 * Tried for small k on an H200 and left out, 2026-11-28: every width from 64 to 256 in steps of 16
 * in one kernel, clusters across as well as down, a warpgroup that begins some stages before the
 * other, and stores by warps in place of TMA. 1363 x 1728 x 448 took 7.5 us in 132 tiles of 144
 * columns, as with 192 (7.4; cublasLt 6.1): they ask more of L2, and a cluster then began and ended
 * with a fence of the whole device. linear_pair.cuh is for such products.
 *
 * A producer and consumers in separate warpgroups, and persistent tiles, shared or in turns, are
 * described by NVIDIA's CUTLASS 3 (documentation, "Efficient GEMM in CUDA", Hopper warp
 * specialization, cooperative and ping-pong).
 */
#pragma once

#include "linear_wgmma_ring.cuh"

#ifdef HOPPER_CODE

/* A warpgroup's sums over so many stages, whose tiles in the first of the ring are `x` and `w`. One
 * batch of products is always in flight, so a stage is released when the batch of the next one has
 * been started. The warpgroup whose `turn` is next (0: none) may start after the last batch. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_multiply(
    float (&sum)[CONFIG::HALVES][CONFIG::COLUMNS / 2], int stages, uint64_t x, uint64_t w,
    uint32_t full, uint32_t empty, struct lwg_cursor &at, int turn, int lane)
{
    constexpr int half_rows = WGMMA_ROWS * WGMMA_ROW_BYTES / 16;
    int before = 0;
    for (int step = 0; step < stages; step++) {
        const uint32_t ahead = at.stage * CONFIG::STRIDE;
        const uint64_t a = x + ahead, b = w + ahead;
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_begin();
#pragma unroll
        for (int box = 0; box < CONFIG::BOXES; box++)
#pragma unroll
            for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
#pragma unroll
                for (int half = 0; half < CONFIG::HALVES; half++)
                    wgmma_step(typename CONFIG::type(), sum[half],
                               wgmma_ahead(a + half * half_rows, i + box * CONFIG::X_BOX_STEPS),
                               wgmma_ahead(b, i + box * CONFIG::W_BOX_STEPS),
                               step > 0 || box > 0 || i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0) lwg_give_back<CONFIG>(empty, before, lane);
        before = at.stage;
        lwg_advance<CONFIG>(at);
    }
    if (turn) hopper_turn_pass(turn, LWG_CONSUMERS * WGMMA_THREADS);
    wgmma_wait<0>();
#pragma unroll
    for (int half = 0; half < CONFIG::HALVES; half++)
        wgmma_pin(sum[half]);
    lwg_give_back<CONFIG>(empty, before, lane);
}

/* The same of operands in parts. Tensor cores cut off what is below the last place of a sum, so a
 * stage's products begin at zero, the smallest ones first, and are added to the sums in fp32. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_multiply_parts(float (&sum)[CONFIG::COLUMNS / 2],
                                                          int stages, uint64_t x, uint64_t w,
                                                          uint32_t full, uint32_t empty,
                                                          struct lwg_cursor &at, int lane)
{
    constexpr int PRODUCTS = 6;
    constexpr int of_x[PRODUCTS] = {2, 0, 1, 1, 0, 0}, of_w[PRODUCTS] = {0, 2, 1, 0, 1, 0};
    float part[CONFIG::COLUMNS / 2]; /* of a stage */
#pragma unroll
    for (int i = 0; i < CONFIG::COLUMNS / 2; i++)
        sum[i] = 0.0f;
    for (int step = 0; step < stages; step++) {
        const uint64_t a = x + at.stage * CONFIG::STRIDE, b = w + at.stage * CONFIG::STRIDE;
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_begin();
#pragma unroll
        for (int p = 0; p < PRODUCTS; p++)
#pragma unroll
            for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
                wgmma_step(typename CONFIG::type(), part,
                           wgmma_ahead(a, i + of_x[p] * CONFIG::X_BOX_STEPS),
                           wgmma_ahead(b, i + of_w[p] * CONFIG::W_BOX_STEPS), p > 0 || i > 0);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_pin(part);
        lwg_give_back<CONFIG>(empty, at.stage, lane);
        lwg_advance<CONFIG>(at);
#pragma unroll
        for (int i = 0; i < CONFIG::COLUMNS / 2; i++)
            sum[i] += part[i];
    }
}

/* Add the residual to a warp's outputs. */
template <int COUNT>
static __device__ __forceinline__ void lwg_add_residual(const struct lwg_plan &plan,
                                                        float (&sum)[COUNT], int row, int column,
                                                        int lane)
{
    const int n = (int)plan.operands.n;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int64_t at = row + mma_row(lane, 2 * half);
        const float *from = plan.residual + at * n;
#pragma unroll
        for (int i = 0; i < COUNT / 4; i++) {
            const int to = column + 8 * i + mma_column(lane, 0);
            if (at >= plan.operands.m || to >= n) continue;
            const float2 add = *(const float2 *)(from + to);
            sum[4 * i + 2 * half] += add.x;
            sum[4 * i + 2 * half + 1] += add.y;
        }
    }
}

/* A warpgroup's sums to y, from `row` on. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_store(
    const struct lwg_plan &plan, float (&sum)[CONFIG::HALVES][CONFIG::COLUMNS / 2],
    const typename CONFIG::output (&bias)[CONFIG::COLUMNS / 32], int row, int column,
    unsigned char *out, int lane)
{
    using T = typename CONFIG::output;
#pragma unroll
    for (int half = 0; half < CONFIG::HALVES; half++) {
        if (lane == 0) hopper_store_wait<0>(); /* the half before, or the last tile's */
        __syncwarp();
        linear_sums_finish<T, CONFIG::COLUMNS>(
            plan.operands, CONFIG::PLAIN ? LINEAR_PLAIN : plan.finish, sum[half], bias, out, lane);
        if (CONFIG::SPLIT && plan.residual) lwg_add_residual(plan, sum[half], row, column, lane);
        linear_store_rows<T, CONFIG::COLUMNS, CONFIG::BUFFERS>(
            plan.y, sum[half], row + half * WGMMA_ROWS, column, out, lane);
    }
}

/* The sums of a warp, number `warp` of those that multiply, of a unit that is no whole tile. True
 * if they are then the sums of the tile. */
template <typename CONFIG>
static __device__ __forceinline__ bool lwg_join(const struct lwg_plan &plan,
                                                const struct linear_walk &walk,
                                                const struct linear_unit &unit,
                                                float (&sum)[CONFIG::HALVES][CONFIG::COLUMNS / 2],
                                                int warp, int lane)
{
    auto writer = [&](int share) {
        int block =
            (walk.of.shares - 1 - share) * CONFIG::CLUSTER + (int)blockIdx.x % CONFIG::CLUSTER;
        return block * LWG_WARPS + warp;
    };
    if (unit.begin > 0) {
        linear_part_put(plan.parts, writer(walk.share), sum, lane);
        return false;
    }
    int other;
    for (int i = 0; (other = linear_walk_other(&walk, unit.tile, i)) >= 0; i++)
        linear_part_add(plan.parts, writer(other), sum, lane);
    return true;
}

/*
 * A warpgroup: the products and outputs of every unit of this block, or of every other one. It
 * waits for its turn before it tests a barrier of the ring: two rounds of the ring ahead, the
 * parity that it waits for would be that of an earlier phase.
 */
template <typename CONFIG>
static __device__ void lwg_consume(const struct lwg_plan &plan, uint32_t ring, unsigned char *out,
                                   uint32_t full, uint32_t empty)
{
    const int rank = CONFIG::CLUSTER > 1 ? (int)hopper_cluster_rank() : 0;
    const int warp = hopper_warp() - 4, group = warp / 4;
    const int lane = threadIdx.x % 32, row = CONFIG::TURNS ? 0 : group * WGMMA_ROWS;
    const int own = 1 + group, other = 2 - group; /* named barriers */
    struct lwg_cursor at = {0, 0};
    struct linear_walk walk = lwg_walk_of<CONFIG>(plan);
    struct linear_unit unit;
    const uint64_t x = wgmma_tile(ring + row * WGMMA_ROW_BYTES);
    const uint64_t w = wgmma_tile(ring + CONFIG::X_BYTES);
    out += warp * CONFIG::BUFFERS * LINEAR_STORE_BYTES;
    for (int index = 0; linear_walk_next(&walk, &unit); index++) {
        const int stages = unit.end - unit.begin;
        if (CONFIG::TURNS && index % LWG_CONSUMERS != group) {
            lwg_skip<CONFIG>(at, stages);
            continue;
        }
        struct lwg_corner tile = lwg_corner_of<CONFIG>(plan, unit.tile, rank);
        if (!CONFIG::TURNS && tile.row + row >= plan.operands.m) {
            lwg_pass<CONFIG>(stages, full, empty, at, lane);
            continue;
        }
        float sum[CONFIG::HALVES][CONFIG::COLUMNS / 2];
        typename CONFIG::output bias[CONFIG::COLUMNS / 32];
        linear_bias_load<typename CONFIG::output, CONFIG::COLUMNS>(plan.operands, bias, tile.column,
                                                                   lane);
        if (CONFIG::TURNS && index > 0) hopper_turn_wait(own, LWG_CONSUMERS * WGMMA_THREADS);
        if constexpr (CONFIG::SPLIT)
            lwg_multiply_parts<CONFIG>(sum[0], stages, x, w, full, empty, at, lane);
        else
            lwg_multiply<CONFIG>(sum, stages, x, w, full, empty, at,
                                 CONFIG::TURNS && linear_walk_more(&walk) ? other : 0, lane);
        const int first = tile.row + row + warp % 4 * LINEAR_STORE_ROWS;
        if (first >= plan.operands.m) continue;
        if (!CONFIG::TURNS && stages < plan.division.depth &&
            !lwg_join<CONFIG>(plan, walk, unit, sum, warp, lane))
            continue;
        lwg_store<CONFIG>(plan, sum, bias, first, tile.column, out, lane);
    }
    if (lane == 0) hopper_store_wait<0>();
}

/* A warp for the barriers of each stage: one after the other they would delay the first load.
 * Without a cluster, whose blocks would have to be ready for each other's rows, the first ones ask
 * for their stages at once (linear_swapped.cuh says why not all).
 * All threads of a block, before anything else. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_begin(const struct lwg_plan &plan, uint32_t ring,
                                                 uint32_t full, uint32_t empty)
{
    if (CONFIG::CLUSTER > 1 && threadIdx.x == 0) {
        hopper_prefetch(&plan.x);
        hopper_prefetch(&plan.w);
    }
    static_assert(CONFIG::STAGES <= LWG_THREADS / 32, "a warp each");
    const int stage = hopper_warp();
    if (stage < CONFIG::STAGES && hopper_elect()) {
        hopper_barrier_init(full + 8 * stage, 1);
        hopper_barrier_init(empty + 8 * stage, CONFIG::READERS * CONFIG::CLUSTER);
        hopper_barrier_publish();
        if constexpr (CONFIG::CLUSTER == 1) {
            struct linear_walk walk = lwg_walk_of<CONFIG>(plan);
            struct linear_unit unit;
            if (stage < LWG_EARLY && linear_walk_next(&walk, &unit) &&
                unit.begin + stage < unit.end)
                lwg_fetch<CONFIG>(plan, ring, full, lwg_corner_of<CONFIG>(plan, unit.tile, 0), 0,
                                  unit.begin + stage, stage);
        }
    }
    if (CONFIG::CLUSTER > 1)
        hopper_cluster_sync_reads();
    else
        __syncthreads();
}

#endif

/* setup refuses machine code without the body, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(LWG_THREADS, 1)
    linear_wgmma(const __grid_constant__ struct lwg_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char lwg_memory[];
    __shared__ uint64_t barriers[2 * CONFIG::STAGES];
    unsigned char *memory =
        lwg_memory + (LWG_ALIGN - hopper_shared(lwg_memory) % LWG_ALIGN) % LWG_ALIGN;
    const uint32_t ring = hopper_kept(hopper_shared(memory));
    const uint32_t full = hopper_kept(hopper_shared(barriers)), empty = full + 8 * CONFIG::STAGES;
    lwg_begin<CONFIG>(plan, ring, full, empty);
    if (hopper_warp() < WGMMA_THREADS / 32) {
        hopper_registers_give<LWG_PRODUCER_REGISTERS>();
        if (threadIdx.x == 32 && plan.y.by_engine) hopper_prefetch(&plan.y.map);
        if (hopper_warp() == 0 && hopper_elect()) {
            const struct lwg_cursor at = lwg_produce<CONFIG>(plan, ring, full, empty);
            if (CONFIG::CLUSTER > 1) lwg_await_all<CONFIG>(empty, at);
        }
    } else {
        hopper_registers_take<LWG_CONSUMER_REGISTERS>();
        lwg_consume<CONFIG>(plan, ring, memory + CONFIG::STAGES * CONFIG::STAGE_BYTES, full, empty);
    }
#else
    __trap();
#endif
}
