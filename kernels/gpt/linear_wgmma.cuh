/*
 * linear_wgmma.cuh - the tensor-core product for Hopper: tiles of 128 x COLUMNS outputs,
 * operands by the copy engine, products by wgmma.
 *
 * A block is three warpgroups on one multiprocessor. One thread of the first keeps a ring of
 * stages filled: 128 bytes of k (64 bf16 or 32 tf32) of 128 rows of x and COLUMNS rows of
 * w. The other two warpgroups have 64 rows of outputs each and its sums in registers, and
 * give a stage back as soon as their products have read it. CLUSTER blocks, one above the
 * other, share the rows of w: each fetches its part and the engine writes it to all,
 * which is what brings the traffic from L2 below what L2 can give.
 *
 * The grid is as many blocks as fit, and each goes through tiles in the order of
 * linear_order.h: while the sums are written out, the next tile's operands arrive.
 * Outputs leave by linear_store.cuh.
 *
 * Producer and consumers in warpgroups of their own, persistent tiles: as NVIDIA's CUTLASS 3
 * describes (documentation, "Efficient GEMM in CUDA", Hopper warp specialization).
 */
#ifndef LINEAR_WGMMA_CUH
#define LINEAR_WGMMA_CUH

#include "linear.cuh"
#include "linear_order.h"
#include "linear_products.h"
#include "linear_store.cuh"
#include "wgmma.cuh"

enum {
    LWG_ROWS = 128,
    LWG_CONSUMERS = LWG_ROWS / WGMMA_ROWS,
    LWG_THREADS = (1 + LWG_CONSUMERS) * WGMMA_THREADS,
    LWG_WARPS = LWG_CONSUMERS * WGMMA_THREADS / 32, /* that consume */
    LWG_GROUP = 8,
    LWG_ALIGN = 1024,
    LWG_BLOCK_BYTES = 227 * 1024, /* what a block may have on sm_90 */
    LWG_BARRIER_BYTES = 256,
    LWG_PRODUCER_REGISTERS = 40,
    LWG_CONSUMER_REGISTERS = 232, /* 40 + 2 x 232 = 3 x 168, all there are */
};

/* Bytes and stages of a kernel. */
template <typename T, int COLUMNS> struct lwg_ring {
    static constexpr int DEPTH = WGMMA_ROW_BYTES / sizeof(T); /* of k, a stage */
    static constexpr int X_BYTES = LWG_ROWS * WGMMA_ROW_BYTES;
    static constexpr int W_BYTES = COLUMNS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + W_BYTES;
    static constexpr int OUT_BYTES = LWG_WARPS * LINEAR_STORE_BYTES;
    static constexpr int STAGES =
        (LWG_BLOCK_BYTES - LWG_ALIGN - LWG_BARRIER_BYTES - OUT_BYTES) / STAGE_BYTES;
    static constexpr int SHARED_BYTES = LWG_ALIGN + STAGES * STAGE_BYTES + OUT_BYTES;
    static_assert(2 * STAGES * 8 <= LWG_BARRIER_BYTES, "barriers");
};

/* What a launch needs; made in setup. */
struct lwg_plan {
    CUtensorMap x, w;
    struct linear_store y;
    struct linear_operands operands;
    enum linear_finish finish;
    int bands;   /* tiles of CLUSTER x 128 rows */
    int columns; /* tiles of columns */
    int group;   /* bands before the next tile of columns */
    int depth;   /* stages of k */
    unsigned blocks;
};

#ifdef HOPPER_CODE

/* Where a thread is in the ring. */
struct lwg_cursor {
    int stage;
    uint32_t parity;
};

template <int STAGES> static __device__ __forceinline__ void lwg_advance(struct lwg_cursor &at)
{
    if (++at.stage == STAGES) {
        at.stage = 0;
        at.parity ^= 1;
    }
}

/* First output of a tile. */
struct lwg_corner {
    int row, column;
};

/* Tile `index` of this block; the blocks of a cluster have neighbouring bands. */
template <int COLUMNS, int CLUSTER>
static __device__ __forceinline__ struct lwg_corner lwg_corner_of(const struct lwg_plan &plan,
                                                                  int index, int rank)
{
    struct linear_tile tile = linear_order(index, plan.bands, plan.columns, plan.group);
    return {(tile.band * CLUSTER + rank) * LWG_ROWS, tile.column * COLUMNS};
}

/* One thread: fill the ring with the operands of every tile of this block. */
template <typename T, int COLUMNS, int CLUSTER>
static __device__ void lwg_produce(const struct lwg_plan &plan, uint32_t ring, uint32_t full,
                                   uint32_t empty)
{
    using sizes = lwg_ring<T, COLUMNS>;
    const int part = COLUMNS / CLUSTER, rank = CLUSTER > 1 ? (int)hopper_cluster_rank() : 0;
    struct lwg_cursor at = {0, 1}; /* the first round finds every stage free */
    for (int index = blockIdx.x / CLUSTER; index < plan.bands * plan.columns;
         index += gridDim.x / CLUSTER) {
        struct lwg_corner tile = lwg_corner_of<COLUMNS, CLUSTER>(plan, index, rank);
        for (int step = 0; step < plan.depth; step++) {
            uint32_t x = ring + at.stage * sizes::STAGE_BYTES, w = x + sizes::X_BYTES;
            uint32_t arrived = full + 8 * at.stage;
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
            hopper_barrier_expect(arrived, sizes::STAGE_BYTES);
            hopper_load(x, &plan.x, step * sizes::DEPTH, tile.row, arrived);
            if (CLUSTER == 1)
                hopper_load(w, &plan.w, step * sizes::DEPTH, tile.column, arrived);
            else
                hopper_load_to(w + rank * part * WGMMA_ROW_BYTES, &plan.w, step * sizes::DEPTH,
                               tile.column + rank * part, arrived, (1 << CLUSTER) - 1);
            lwg_advance<sizes::STAGES>(at);
        }
    }
}

/* A warp has read a stage: say so to every block that writes to it. */
template <int CLUSTER>
static __device__ __forceinline__ void lwg_give_back(uint32_t empty, int stage, int lane)
{
    if (lane < CLUSTER) hopper_barrier_arrive(empty + 8 * stage, lane);
}

/* The sums of one tile. One batch of products is always under way, so a stage is given back
 * when the next one's batch has been started. */
template <typename T, int COLUMNS, int CLUSTER>
static __device__ __forceinline__ void lwg_multiply(float (&sum)[COLUMNS / 2], int depth,
                                                    uint32_t ring, int group, uint32_t full,
                                                    uint32_t empty, struct lwg_cursor &at, int lane)
{
    using sizes = lwg_ring<T, COLUMNS>;
    int before = 0;
    for (int step = 0; step < depth; step++) {
        uint32_t x = ring + at.stage * sizes::STAGE_BYTES;
        uint64_t a = wgmma_tile(x + group * WGMMA_ROWS * WGMMA_ROW_BYTES);
        uint64_t b = wgmma_tile(x + sizes::X_BYTES);
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
            wgmma_step(T(), sum, wgmma_ahead(a, i), wgmma_ahead(b, i), step > 0 || i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0) lwg_give_back<CLUSTER>(empty, before, lane);
        before = at.stage;
        lwg_advance<sizes::STAGES>(at);
    }
    wgmma_wait<0>();
    lwg_give_back<CLUSTER>(empty, before, lane);
}

/* A warpgroup: the products and outputs of every tile of this block. */
template <typename T, int COLUMNS, int CLUSTER>
static __device__ void lwg_consume(const struct lwg_plan &plan, uint32_t ring, unsigned char *out,
                                   uint32_t full, uint32_t empty)
{
    const int rank = CLUSTER > 1 ? (int)hopper_cluster_rank() : 0;
    const int group = threadIdx.x / WGMMA_THREADS - 1, warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    struct lwg_cursor at = {0, 0};
    out += (group * 4 + warp) * LINEAR_STORE_BYTES;
    for (int index = blockIdx.x / CLUSTER; index < plan.bands * plan.columns;
         index += gridDim.x / CLUSTER) {
        struct lwg_corner tile = lwg_corner_of<COLUMNS, CLUSTER>(plan, index, rank);
        float sum[COLUMNS / 2];
        T bias[COLUMNS / 32];
        linear_bias_load<T, COLUMNS>(plan.operands, bias, tile.column, lane);
        lwg_multiply<T, COLUMNS, CLUSTER>(sum, plan.depth, ring, group, full, empty, at, lane);
        if (lane == 0) hopper_store_wait<0>(); /* the last tile's */
        __syncwarp();
        linear_sums_finish<T, COLUMNS>(plan.operands, plan.finish, sum, bias, out, lane);
        linear_store_rows<T, COLUMNS>(plan.y, sum,
                                      tile.row + group * WGMMA_ROWS + warp * LINEAR_STORE_ROWS,
                                      tile.column, out, lane);
    }
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* setup refuses machine code without the body, so the trap is never met. */
template <typename T, int COLUMNS, int CLUSTER>
static __global__ void __launch_bounds__(LWG_THREADS, 1)
    linear_wgmma(const __grid_constant__ struct lwg_plan plan)
{
#ifdef HOPPER_CODE
    using sizes = lwg_ring<T, COLUMNS>;
    extern __shared__ unsigned char lwg_memory[];
    __shared__ uint64_t barriers[2 * sizes::STAGES];
    unsigned char *memory =
        lwg_memory + (LWG_ALIGN - hopper_shared(lwg_memory) % LWG_ALIGN) % LWG_ALIGN;
    const uint32_t ring = hopper_shared(memory);
    const uint32_t full = hopper_shared(barriers), empty = full + 8 * sizes::STAGES;
    if (threadIdx.x == 0) {
        hopper_prefetch(&plan.x);
        hopper_prefetch(&plan.w);
        for (int stage = 0; stage < sizes::STAGES; stage++) {
            hopper_barrier_init(full + 8 * stage, 1);
            hopper_barrier_init(empty + 8 * stage, LWG_WARPS * CLUSTER);
        }
        hopper_barrier_publish();
    }
    if (CLUSTER > 1)
        hopper_cluster_sync();
    else
        __syncthreads();
    if (threadIdx.x < WGMMA_THREADS) {
        hopper_registers_give<LWG_PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) lwg_produce<T, COLUMNS, CLUSTER>(plan, ring, full, empty);
    } else {
        hopper_registers_take<LWG_CONSUMER_REGISTERS>();
        lwg_consume<T, COLUMNS, CLUSTER>(plan, ring, memory + sizes::STAGES * sizes::STAGE_BYTES,
                                         full, empty);
    }
    /* No block ends while another may still write to it. */
    if (CLUSTER > 1) hopper_cluster_sync();
#else
    __trap();
#endif
}

#endif
