/*
 * linear_wgmma_ring.cuh - the kernels' sizes and arguments, and the ring of stages that the
 * producer of linear_wgmma.cuh keeps full.
 */
#pragma once

#include <type_traits>

#include "linear.cuh"
#include "linear_order.h"
#include "linear_parts.cuh"
#include "linear_products.h"
#include "linear_split.h"
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

/* One kernel: operands of type T, and outputs too, but bf16 of e4m3. PLAIN: its only finish is
 * LINEAR_PLAIN. SPLIT: operands are the parts of fp32 (linear_split.h), and outputs fp32. */
template <typename T, int COLUMNS_, int CLUSTER_, bool TURNS_, bool PLAIN_ = false,
          bool SPLIT_ = false>
struct lwg_config {
    using type = T;
    using byte_output = typename std::conditional<sizeof(T) == 1, uint16_t, T>::type;
    using output = typename std::conditional<SPLIT_, float, byte_output>::type;
    static constexpr int COLUMNS = COLUMNS_, CLUSTER = CLUSTER_;
    static constexpr bool TURNS = TURNS_, PLAIN = PLAIN_, SPLIT = SPLIT_;
    static_assert(!SPLIT || !TURNS, "there are too few registers");
    static constexpr int HALVES = TURNS ? LWG_ROWS / WGMMA_ROWS : 1; /* a warpgroup's, of a tile */
    static constexpr int READERS = LWG_WARPS / (TURNS ? LWG_CONSUMERS : 1); /* warps, of a stage */
    /* Boxes of 128 bytes of k in a stage, or one of each part. What comes with a stage, its
     * barriers and the first of its products, takes longer than the products of one box of a
     * narrow tile.
     */
    static constexpr int BOXES = SPLIT                                      ? LINEAR_SPLIT_PARTS
                                 : COLUMNS <= 128 && CLUSTER == 1 && !TURNS ? 2
                                                                            : 1;
    static constexpr int BOX_DEPTH = WGMMA_ROW_BYTES / sizeof(T);
    static constexpr int DEPTH = (SPLIT ? 1 : BOXES) * BOX_DEPTH; /* of k, per stage */
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
    const float *residual; /* in fp32 alone, rows as y's, n even: added to y; NULL: none */
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
        const int k = step * CONFIG::DEPTH + (CONFIG::SPLIT ? 0 : box * CONFIG::BOX_DEPTH);
        /* A box that goes on with the rows of the next part has these below y, or right of it. */
        const int row = tile.row + (CONFIG::SPLIT ? box * (int)plan.operands.m : 0);
        const int column = tile.column + (CONFIG::SPLIT ? box * (int)plan.operands.n : 0);
        hopper_load(x + box * CONFIG::X_BOX_BYTES, &plan.x, k, row, arrived);
        if (CONFIG::CLUSTER == 1)
            hopper_load(w + box * CONFIG::W_BOX_BYTES, &plan.w, k, column, arrived);
        else
            hopper_load_to(w + box * CONFIG::W_BOX_BYTES + part * WGMMA_ROW_BYTES, &plan.w, k,
                           column + part, arrived, (1 << CONFIG::CLUSTER) - 1);
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

#endif
