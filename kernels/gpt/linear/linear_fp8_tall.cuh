/*
 * linear_fp8_tall.cuh - `linear_fp8` on Hopper's tensor cores in tiles of 192 x 128 outputs, for
 * products that fill the device with them.
 *
 * The structure is that of linear_wgmma.cuh: a warpgroup of which one thread fills a ring of
 * stages, and warpgroups that multiply, each 64 rows of the tile. A stage is 128 bytes of k, which
 * is 128 e4m3 and one group of scales. wgmma's sums have 14 bits for e4m3, so the products of a
 * stage begin with zero, and what they add up to is added to fp32 sums, with its scale where scales
 * are of blocks.
 *
 * From the end of a stage's products to the beginning of the next stage's a warpgroup waits, adds
 * and begins. That takes as long as the products of two stages. So it hides behind the products of
 * two other warpgroups: three, with 64 sums of a stage and 64 of the tile in each thread, are what
 * registers allow.
 *
 * The two blocks of a cluster are beside each other and share rows of x: each fetches half, and TMA
 * writes it to both. Blocks go through whole tiles; the outputs of one are stored while the first
 * products of the next run.
 *
 * Operations: 2 m n k. Bytes from L2 per tile and stage of 768 cycles: 28 KiB.
 */
#pragma once

#include "linear_fp8.h"
#include "linear_wgmma.cuh"

/* A block on each multiprocessor. Registers: 32 + 3 x 160 of 512. */
template <bool BY_BLOCK_> struct lfp8_tall {
    static constexpr bool BY_BLOCK = BY_BLOCK_, TURNS = true; /* only whole tiles */
    static constexpr int CONSUMERS = 3, CLUSTER = 2;
    static constexpr int ROWS = CONSUMERS * WGMMA_ROWS, COLUMNS = LFP8_GROUP;
    static constexpr int SUMS = COLUMNS / 2; /* of a thread */
    static constexpr int THREADS = (1 + CONSUMERS) * WGMMA_THREADS;
    static constexpr int READERS = CONSUMERS * WGMMA_THREADS / 32; /* warps, of a stage */
    static constexpr int PRODUCER_REGISTERS = 32, CONSUMER_REGISTERS = 160;
    static constexpr int X_BYTES = ROWS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + COLUMNS * WGMMA_ROW_BYTES;
    static constexpr int PART = ROWS / CLUSTER; /* rows of x that a block fetches */
    static constexpr int BUFFERS = LINEAR_STORE_BUFFERS, STAGES = 4;
    static constexpr int SHARED_BYTES =
        LWG_ALIGN + STAGES * STAGE_BYTES + READERS * BUFFERS * LINEAR_STORE_BYTES;
    static_assert(SHARED_BYTES + LWG_BARRIER_BYTES <= LWG_BLOCK_BYTES, "room");
    static_assert((int)LFP8_GROUP == WGMMA_ROW_BYTES, "a stage is a group");
};

struct lfp8_plan {
    struct lwg_plan product;
    const float *x_scales, *w_scales;
};

#ifdef HOPPER_CODE

/* Tile `index` of this block. */
template <typename CONFIG>
static __device__ __forceinline__ struct lwg_corner lfp8_corner_of(const struct lfp8_plan &plan,
                                                                   int index, int rank)
{
    struct linear_tile tile = linear_order_by(&plan.product.order, index);
    return {tile.band * CONFIG::ROWS, (tile.column * CONFIG::CLUSTER + rank) * CONFIG::COLUMNS};
}

/* One thread: fill the ring with the operands of every tile of this block. */
template <typename CONFIG>
static __device__ void lfp8_produce(const struct lfp8_plan &plan, uint32_t ring, uint32_t full,
                                    uint32_t empty)
{
    const int rank = (int)hopper_cluster_rank(), part = rank * CONFIG::PART;
    struct lwg_cursor at = {0, 1}; /* the first round finds every stage free */
    struct linear_walk walk = lwg_walk_of<CONFIG>(plan.product);
    struct linear_unit unit;
    while (linear_walk_next(&walk, &unit)) {
        const struct lwg_corner tile = lfp8_corner_of<CONFIG>(plan, unit.tile, rank);
        for (int k = 0; k < unit.end * LFP8_GROUP; k += LFP8_GROUP) {
            const uint32_t x = ring + at.stage * CONFIG::STAGE_BYTES, w = x + CONFIG::X_BYTES;
            const uint32_t arrived = full + 8 * at.stage;
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
            hopper_barrier_expect(arrived, CONFIG::STAGE_BYTES);
            hopper_load_to(x + part * WGMMA_ROW_BYTES, &plan.product.x, k, tile.row + part, arrived,
                           (1 << CONFIG::CLUSTER) - 1);
            hopper_load(w, &plan.product.w, k, tile.column, arrived);
            lwg_advance<CONFIG>(at);
        }
    }
}

/* What the sums of a thread's two rows are multiplied by. Four lanes have the same rows: each loads
 * the scales of one stage in four, and does so four stages before. Addresses are computed anew each
 * time, for there is no register to keep them in. */
struct lfp8_factors {
    enum { AHEAD = 4 };
    int row, column, begin; /* `row` and `row` + 8, from stage `begin` of k on */
    float next[3], now[2];

    __device__ __forceinline__ void load(const struct lfp8_plan &plan, int stage)
    {
        const int m = (int)plan.product.operands.m, n = (int)plan.product.operands.n;
        const int groups = plan.product.division.depth;
        const int at = min(begin + stage + (int)threadIdx.x % AHEAD, groups - 1);
        next[0] = __ldg(plan.x_scales + (int64_t)min(row, m - 1) * groups + at);
        next[1] = __ldg(plan.x_scales + (int64_t)min(row + 8, m - 1) * groups + at);
        next[2] = __ldg(plan.w_scales + (int64_t)(min(column, n - 1) / LFP8_GROUP) * groups + at);
    }
    /* Those of a stage of the unit; to be asked for stage after stage. */
    __device__ __forceinline__ float2 of(const struct lfp8_plan &plan, int stage)
    {
        if (stage % AHEAD == 0) {
            now[0] = next[0] * next[2];
            now[1] = next[1] * next[2];
            load(plan, stage + AHEAD);
        }
        return make_float2(__shfl_sync(0xffffffffu, now[0], stage % AHEAD, AHEAD),
                           __shfl_sync(0xffffffffu, now[1], stage % AHEAD, AHEAD));
    }
};

/* The last tile of a warp, whose outputs are in registers. */
struct lfp8_outputs {
    float scale;
    unsigned char *out;
    int row, column;
    bool pending;
};

/* A warpgroup: where it is in the ring, and what it has. */
template <typename CONFIG> struct lfp8_group {
    using sums = float[CONFIG::SUMS];
    const struct lfp8_plan &plan;
    uint64_t x, w; /* its tiles in the first stage */
    uint32_t full, empty;
    int half, lane; /* its first row in a tile */
    struct lwg_cursor at;
    struct lfp8_factors factors;
    struct lfp8_outputs done;

    /* Begin the products of the next stage when its operands are there, with sums from zero. */
    __device__ __forceinline__ void begin(sums &part)
    {
        const uint32_t ahead = at.stage * (CONFIG::STAGE_BYTES / 16); /* of a tile's descriptor */
        const uint64_t a = x + ahead, b = w + ahead;
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_pin(part);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
            wgmma_step(wgmma_e4m3(), part, wgmma_ahead(a, i), wgmma_ahead(b, i), i > 0);
        wgmma_commit();
        lwg_advance<CONFIG>(at);
    }

    /* The stage before the next has been read. */
    __device__ __forceinline__ void give_back(void)
    {
        const int stage = at.stage - 1;
        lwg_give_back<CONFIG>(empty, stage < 0 ? stage + CONFIG::STAGES : stage, lane);
    }

    /* Add the sums of a stage to those of the tile, or let them be the first. Two in each 4 belong
     * to the first row and two to the second. */
    template <bool FIRST> __device__ __forceinline__ void add(sums &sum, sums &part, float2 by)
    {
        wgmma_pin(part);
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS; i++) {
            const float scale = i % 4 < 2 ? by.x : by.y;
            if (FIRST)
                sum[i] = CONFIG::BY_BLOCK ? part[i] * scale : part[i];
            else
                sum[i] = CONFIG::BY_BLOCK ? fmaf(part[i], scale, sum[i]) : sum[i] + part[i];
        }
    }

    __device__ __forceinline__ float2 factor(int stage)
    {
        return CONFIG::BY_BLOCK ? factors.of(plan, stage) : make_float2(1, 1);
    }

    /* Store the last tile by TMA. */
    __device__ __forceinline__ void store(sums &sum)
    {
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS && !CONFIG::BY_BLOCK; i++)
            sum[i] *= done.scale;
        if (lane == 0) hopper_store_wait<0>(); /* the tile before */
        __syncwarp();
        linear_store_boxes<uint16_t, CONFIG::COLUMNS, CONFIG::BUFFERS>(
            plan.product.y, sum, done.row, done.column, done.out, lane);
    }

    /* While the first products of a tile run: what is left of the last one, and where this is. */
    __device__ __forceinline__ void turn_to(sums &sum, const struct linear_unit &unit)
    {
        if (done.pending) store(sum);
        const struct lwg_corner tile =
            lfp8_corner_of<CONFIG>(plan, unit.tile, (int)hopper_cluster_rank());
        done.row = tile.row + half + hopper_warp() % 4 * LINEAR_STORE_ROWS;
        done.column = tile.column;
        if (!CONFIG::BY_BLOCK) return;
        factors.row = done.row + mma_row(lane, 0);
        factors.column = done.column;
        factors.begin = unit.begin;
        factors.load(plan, 0);
    }

    /* A stage of a tile, from its products to its sums. */
    template <bool FIRST>
    __device__ __forceinline__ void stage_of(sums &sum, const struct linear_unit &unit, int stage)
    {
        sums part;
        float2 by = {};
        if (!FIRST) by = factor(stage);
        begin(part);
        if (FIRST) {
            turn_to(sum, unit);
            by = factor(stage);
        }
        wgmma_wait<0>();
        give_back();
        add<FIRST>(sum, part, by);
    }

    /* The sums of a tile. */
    __device__ __forceinline__ void multiply(sums &sum, const struct linear_unit &unit)
    {
        const int stages = unit.end - unit.begin;
        stage_of<true>(sum, unit, 0);
        for (int stage = 1; stage < stages; stage++)
            stage_of<false>(sum, unit, stage);
    }

    /* All tiles of the block. Rows below x are multiplied too, and not stored. */
    __device__ __forceinline__ void consume(void)
    {
        const int warp = hopper_warp() - 4;
        sums sum;
        struct linear_walk walk = lwg_walk_of<CONFIG>(plan.product);
        struct linear_unit unit;
        done.scale = CONFIG::BY_BLOCK ? 1.0f : __ldg(plan.x_scales) * __ldg(plan.w_scales);
        done.out += warp * CONFIG::BUFFERS * LINEAR_STORE_BYTES;
        while (linear_walk_next(&walk, &unit)) {
            multiply(sum, unit);
            done.pending = done.row < plan.product.operands.m;
        }
        if (done.pending) store(sum);
        if (lane == 0) hopper_store_wait<0>();
    }
};

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS, 1)
    linear_fp8_tall(const __grid_constant__ struct lfp8_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char lfp8_memory[];
    __shared__ uint64_t barriers[2 * CONFIG::STAGES];
    unsigned char *memory =
        lfp8_memory + (LWG_ALIGN - hopper_shared(lfp8_memory) % LWG_ALIGN) % LWG_ALIGN;
    const uint32_t ring = hopper_kept(hopper_shared(memory));
    const uint32_t full = hopper_kept(hopper_shared(barriers)), empty = full + 8 * CONFIG::STAGES;
    lwg_begin<CONFIG>(plan.product, ring, full, empty);
    const int group = hopper_warp() / (WGMMA_THREADS / 32);
    if (group == 0) {
        hopper_registers_give<CONFIG::PRODUCER_REGISTERS>();
        if (hopper_warp() == 0 && hopper_elect()) lfp8_produce<CONFIG>(plan, ring, full, empty);
    } else {
        hopper_registers_take<CONFIG::CONSUMER_REGISTERS>();
        const int half = (group - 1) * WGMMA_ROWS, lane = threadIdx.x % 32;
        struct lfp8_group<CONFIG> own = {
            plan, wgmma_tile(ring + half * WGMMA_ROW_BYTES),
                wgmma_tile(ring + CONFIG::X_BYTES), full, empty, half, lane
        };
        own.done.out = memory + CONFIG::STAGES * CONFIG::STAGE_BYTES;
        own.consume();
    }
    /* No block ends while another may still write to it. */
    hopper_cluster_sync();
#else
    __trap();
#endif
}
