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

#include "linear.cuh"
#include "linear_order.h"
#include "linear_parts.cuh"
#include "linear_products.h"
#include "linear_store.cuh"
#include "kernels/cuda/wgmma.cuh"

enum {
    LWG_ROWS = 128,
    LWG_CONSUMERS = LWG_ROWS / WGMMA_ROWS,
    LWG_THREADS = (1 + LWG_CONSUMERS) * WGMMA_THREADS,
    LWG_WARPS = LWG_CONSUMERS * WGMMA_THREADS / 32, /* that consume */
    LWG_GROUP = 8,
    LWG_WAYS = 8, /* parts of a tile that is divided alike: one block adds them all */
    LWG_ALIGN = 1024,
    LWG_BLOCK_BYTES = 227 * 1024, /* what a block may have on sm_90 */
    LWG_BARRIER_BYTES = 256,
    LWG_EARLY = 2, /* stages that are asked for by a warp each, without a cluster */
    LWG_PRODUCER_REGISTERS = 40,
    LWG_CONSUMER_REGISTERS = 232, /* 40 + 2 x 232 = 3 x 168, all there are */
};

/* Cycles of the tensor cores for a column of a tile and a stage, in either type. */
static constexpr double LWG_COLUMN_CYCLES = 4;

/* One kernel: operands of type T. PLAIN: its only finish is LINEAR_PLAIN. */
template <typename T, int COLUMNS_, int CLUSTER_, bool TURNS_, bool PLAIN_ = false>
struct lwg_config {
    using type = T;
    static constexpr int COLUMNS = COLUMNS_, CLUSTER = CLUSTER_;
    static constexpr bool TURNS = TURNS_, PLAIN = PLAIN_;
    static constexpr int HALVES = TURNS ? LWG_ROWS / WGMMA_ROWS : 1; /* a warpgroup's, of a tile */
    static constexpr int READERS = LWG_WARPS / (TURNS ? LWG_CONSUMERS : 1); /* warps, of a stage */
    /* Boxes of 128 bytes of k in a stage. What comes with a stage, its barriers and the first of
     * its products, takes longer than the products of one box of a narrow tile.
     */
    static constexpr int BOXES = COLUMNS <= 128 && CLUSTER == 1 && !TURNS ? 2 : 1;
    static constexpr int BOX_DEPTH = WGMMA_ROW_BYTES / sizeof(T);
    static constexpr int DEPTH = BOXES * BOX_DEPTH; /* of k, per stage */
    static constexpr int X_BOX_BYTES = LWG_ROWS * WGMMA_ROW_BYTES;
    static constexpr int W_BOX_BYTES = COLUMNS * WGMMA_ROW_BYTES;
    static constexpr int X_BOX_STEPS = X_BOX_BYTES / WGMMA_STEP_BYTES;
    static constexpr int W_BOX_STEPS = W_BOX_BYTES / WGMMA_STEP_BYTES;
    static constexpr int X_BYTES = BOXES * X_BOX_BYTES, W_BYTES = BOXES * W_BOX_BYTES;
    /* Rows of w that each block of a cluster fetches, in whole swizzles. Where the blocks do not
     * divide the rows, the last one fetches some that another fetches too. */
    static constexpr int PART = (COLUMNS / CLUSTER + 7) / 8 * 8;
    static constexpr int PARTS_BYTES = CLUSTER * PART * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + W_BYTES;
    static constexpr int STRIDE = STAGE_BYTES / 16;                     /* of a tile's descriptor */
    static constexpr int BUFFER_BYTES = LWG_WARPS * LINEAR_STORE_BYTES; /* one per warp */
    static constexpr int ROOM_BYTES = LWG_BLOCK_BYTES - LWG_ALIGN - LWG_BARRIER_BYTES;
    static constexpr int STAGES = (ROOM_BYTES - LINEAR_STORE_BUFFERS * BUFFER_BYTES) / STAGE_BYTES;
    /* What the stages leave is for outputs. */
    static constexpr int BUFFERS = (ROOM_BYTES - STAGES * STAGE_BYTES) / BUFFER_BYTES;
    static constexpr int SHARED_BYTES = LWG_ALIGN + STAGES * STAGE_BYTES + BUFFERS * BUFFER_BYTES;
    static_assert(2 * STAGES * 8 <= LWG_BARRIER_BYTES, "barriers");
};

/* What a launch needs; made in setup. */
struct lwg_plan {
    CUtensorMap x, w;
    /* All that comes before the first load, side by side: constants come from memory too. */
    struct linear_division division; /* along k, in clusters; where it divides, there are `parts` */
    int x_rows;                      /* of a box of x */
    struct linear_order_plan order;  /* bands: tiles of CLUSTER x 128 rows */
    struct linear_store y;
    struct linear_operands operands;
    enum linear_finish finish;
    struct tile_parts parts;
    unsigned blocks;
};

#ifdef HOPPER_CODE

/* Where a thread is in the ring. */
struct lwg_cursor {
    int stage;
    uint32_t parity;
};

/* So many stages on. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_skip(struct lwg_cursor &at, int stages)
{
    int stage = at.stage + stages;
    at.parity ^= stage / CONFIG::STAGES % 2;
    at.stage = stage % CONFIG::STAGES;
}

template <typename CONFIG> static __device__ __forceinline__ void lwg_advance(struct lwg_cursor &at)
{
    if (++at.stage == CONFIG::STAGES) {
        at.stage = 0;
        at.parity ^= 1;
    }
}

/* First output of a tile. */
struct lwg_corner {
    int row, column;
};

/* Tile `index` of this block; the blocks of a cluster have neighbouring bands. */
template <typename CONFIG>
static __device__ __forceinline__ struct lwg_corner lwg_corner_of(const struct lwg_plan &plan,
                                                                  int index, int rank)
{
    struct linear_tile tile = linear_order_by(&plan.order, index);
    return {(tile.band * CONFIG::CLUSTER + rank) * LWG_ROWS, tile.column * CONFIG::COLUMNS};
}

/* The work of this block's cluster: the cluster that is launched last has the first share, so that
 * one which waits for sums waits for clusters that were launched before it. */
template <typename CONFIG>
static __device__ __forceinline__ struct linear_walk lwg_walk_of(const struct lwg_plan &plan)
{
    const int shares = (int)gridDim.x / CONFIG::CLUSTER;
    struct linear_walk walk =
        linear_walk_of(shares - 1 - (int)blockIdx.x / CONFIG::CLUSTER, &plan.division);
    if (CONFIG::TURNS) walk.at = walk.end = 0; /* as it is, but now the compiler knows */
    return walk;
}

/* One thread: ask for stage `step` of a tile, to be put at `stage` of the ring. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_fetch(const struct lwg_plan &plan, uint32_t ring,
                                                 uint32_t full, const struct lwg_corner &tile,
                                                 int rank, int step, int stage)
{
    const int part = min(rank * CONFIG::PART, CONFIG::COLUMNS - CONFIG::PART);
    const uint32_t bytes = CONFIG::BOXES * (plan.x_rows * WGMMA_ROW_BYTES + CONFIG::PARTS_BYTES);
    const uint32_t x = ring + stage * CONFIG::STAGE_BYTES, w = x + CONFIG::X_BYTES;
    const uint32_t arrived = full + 8 * stage;
    hopper_barrier_expect(arrived, bytes);
#pragma unroll
    for (int box = 0; box < CONFIG::BOXES; box++) {
        const int k = step * CONFIG::DEPTH + box * CONFIG::BOX_DEPTH;
        hopper_load(x + box * CONFIG::X_BOX_BYTES, &plan.x, k, tile.row, arrived);
        if (CONFIG::CLUSTER == 1)
            hopper_load(w + box * CONFIG::W_BOX_BYTES, &plan.w, k, tile.column, arrived);
        else
            hopper_load_to(w + part * WGMMA_ROW_BYTES, &plan.w, k, tile.column + part, arrived,
                           (1 << CONFIG::CLUSTER) - 1);
    }
}

/* One thread: fill the ring with the operands of every tile of this block. Where lwg_begin has
 * asked for the first unit's, go on behind them. Where the ring would be filled next. */
template <typename CONFIG>
static __device__ struct lwg_cursor lwg_produce(const struct lwg_plan &plan, uint32_t ring,
                                                uint32_t full, uint32_t empty)
{
    const int rank = CONFIG::CLUSTER > 1 ? (int)hopper_cluster_rank() : 0;
    struct lwg_cursor at = {0, 1}; /* the first round finds every stage free */
    struct linear_walk walk = lwg_walk_of<CONFIG>(plan);
    struct linear_unit unit;
    int asked = CONFIG::CLUSTER == 1 ? LWG_EARLY : 0;
    while (linear_walk_next(&walk, &unit)) {
        struct lwg_corner tile = lwg_corner_of<CONFIG>(plan, unit.tile, rank);
        const int first = min(unit.begin + asked, unit.end);
        if (CONFIG::CLUSTER == 1) lwg_skip<CONFIG>(at, first - unit.begin);
        asked = 0;
        for (int step = first; step < unit.end; step++) {
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
            lwg_fetch<CONFIG>(plan, ring, full, tile, rank, step, at.stage);
            lwg_advance<CONFIG>(at);
        }
    }
    return at;
}

/* The same thread, before its block may end: wait until all blocks of the cluster have given back
 * every stage. Then none writes or signals to this block any more. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_await_all(uint32_t empty, struct lwg_cursor at)
{
    for (int stage = 0; stage < CONFIG::STAGES; stage++) {
        hopper_barrier_wait(empty + 8 * at.stage, at.parity);
        lwg_advance<CONFIG>(at);
    }
}

/* A warp has read a stage: say so to every block that writes to it. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_give_back(uint32_t empty, int stage, int lane)
{
    if (lane < CONFIG::CLUSTER) hopper_barrier_arrive(empty + 8 * stage, lane);
}

/* A warpgroup whose rows are all below x gives back the stages of a unit as they come. No product
 * keeps its lanes together: one that was left behind at a stage would miss its phase. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_pass(int stages, uint32_t full, uint32_t empty,
                                                struct lwg_cursor &at, int lane)
{
    for (int step = 0; step < stages; step++) {
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        __syncwarp();
        lwg_give_back<CONFIG>(empty, at.stage, lane);
        lwg_advance<CONFIG>(at);
    }
}

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

/* A warpgroup's sums to y, from `row` on. */
template <typename CONFIG>
static __device__ __forceinline__ void lwg_store(
    const struct lwg_plan &plan, float (&sum)[CONFIG::HALVES][CONFIG::COLUMNS / 2],
    const typename CONFIG::type (&bias)[CONFIG::COLUMNS / 32], int row, int column,
    unsigned char *out, int lane)
{
    using T = typename CONFIG::type;
#pragma unroll
    for (int half = 0; half < CONFIG::HALVES; half++) {
        if (lane == 0) hopper_store_wait<0>(); /* the half before, or the last tile's */
        __syncwarp();
        linear_sums_finish<T, CONFIG::COLUMNS>(
            plan.operands, CONFIG::PLAIN ? LINEAR_PLAIN : plan.finish, sum[half], bias, out, lane);
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
        typename CONFIG::type bias[CONFIG::COLUMNS / 32];
        linear_bias_load<typename CONFIG::type, CONFIG::COLUMNS>(plan.operands, bias, tile.column,
                                                                 lane);
        if (CONFIG::TURNS && index > 0) hopper_turn_wait(own, LWG_CONSUMERS * WGMMA_THREADS);
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
