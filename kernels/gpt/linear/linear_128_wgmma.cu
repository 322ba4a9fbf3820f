/*
 * linear_128_wgmma.cu - the tensor-core product in tiles of 128 x 128 outputs for Hopper: operands
 * by TMA, products by wgmma, one tile per warpgroup.
 *
 * It is as plain as possible: no warp specialization, no cluster, and a block computes one tile,
 * or two, and ends. A ring of stages holds 128 bytes of k (64 bf16 or 32 tf32) of each row. One
 * thread requests a stage again as soon as all have read it, one batch of products ago, so the
 * tensor cores always have a batch to go on with. A warpgroup's 128 rows are two products of 64,
 * whose 128 sums per thread are most of the registers that it needs. Outputs are stored by
 * linear_store.cuh, through the memory of the ring.
 *
 * A block is one warpgroup, and two blocks fit on a multiprocessor, where each hides the beginning
 * and end of the other; or, where k is long, a block is two warpgroups, one above the other, that
 * share the rows of w. A block that has a multiprocessor to itself uses all its shared memory for
 * stages. Tiles are taken in the order of linear_order.h, eight bands per group.
 * STAGES is a template argument: as a value the loop in bf16 would have 104 instructions, not 93.
 *
 * A transposed weight in bf16 is multiplied without a copy, in panels of 64 columns; wgmma takes
 * tf32 along k only.
 *
 * Operations: 2 m n k. Bytes from L2: x n / 128 times and w m / 256 or m / 128 times. With rows of
 * 128 sums a product reads 96 bytes of shared memory per cycle, and TMA writes 48 or 64 more, of
 * the 128 that are possible; linear_wgmma.cuh's 256 columns need 80 and 48.
 */
#include "kernels/cuda/cuda_limits.h"
#include "linear.cuh"
#include "linear_128.h"
#include "linear_order.h"
#include "linear_store.cuh"
#include "kernels/cuda/wgmma.cuh"

enum {
    L128W_TILE = 128,
    L128W_HALVES = L128W_TILE / WGMMA_ROWS,
    L128W_PENDING = 1, /* batches of products under way while a stage is asked for */
    L128W_TILE_BYTES = L128W_TILE * WGMMA_ROW_BYTES,
    L128W_PANEL = 64, /* columns of a transposed w, and rows of k, that are one box */
    L128W_PANEL_BYTES = L128W_PANEL * WGMMA_ROW_BYTES,
    L128W_DEEP_BYTES = 4096, /* of k: 32 stages */
    L128W_ALIGN = 1024,
    L128W_PROCESSOR_BYTES = 228 * 1024,
    L128W_GROUP = 8,
};

/* Sizes of a block with so many tiles, one above the other. */
template <int TILES, int STAGES> struct l128w_sizes {
    static constexpr int THREADS = TILES * WGMMA_THREADS;
    static constexpr int ROWS = TILES * L128W_TILE;
    static constexpr int X_BYTES = TILES * L128W_TILE_BYTES;
    static constexpr int STAGE_BYTES = X_BYTES + L128W_TILE_BYTES;
    static constexpr int SHARED_BYTES = L128W_ALIGN + STAGES * STAGE_BYTES;
    static constexpr int BLOCKS =
        L128W_PROCESSOR_BYTES / (SHARED_BYTES + 1024); /* 1 KiB the system's */
};

/* What a launch needs. */
struct l128w_plan {
    CUtensorMap x, w;
    struct linear_store y;
    struct linear_operands operands;
    enum linear_finish finish;
};

#ifdef HOPPER_CODE

/* One thread: ask for the operands of stage `step` of k. */
template <typename T, int TILES, int STAGES, bool TRANSPOSED>
static __device__ __forceinline__ void l128w_fetch(const struct l128w_plan &plan, uint32_t ring,
                                                   uint32_t full, int step, int m0, int n0)
{
    using sizes = l128w_sizes<TILES, STAGES>;
    const int slot = step % STAGES, k0 = step * (WGMMA_ROW_BYTES / (int)sizeof(T));
    uint32_t x = ring + slot * sizes::STAGE_BYTES, w = x + sizes::X_BYTES;
    uint32_t arrived = full + 8 * slot;
    hopper_barrier_expect(arrived, sizes::STAGE_BYTES);
    hopper_load(x, &plan.x, k0, m0, arrived);
    if (TRANSPOSED) {
        hopper_load(w, &plan.w, n0, k0, arrived);
        hopper_load(w + L128W_PANEL_BYTES, &plan.w, n0 + L128W_PANEL, k0, arrived);
    } else {
        hopper_load(w, &plan.w, k0, n0, arrived);
    }
}

/* Start the products of a warpgroup's tile with one stage; they add to the sums but for the first
 * stage. */
template <typename T, bool TRANSPOSED>
static __device__ __forceinline__ void l128w_multiply(float (&sum)[L128W_HALVES][L128W_TILE / 2],
                                                      uint32_t x, uint32_t w, bool adds)
{
    uint64_t upper = wgmma_tile(x), lower = wgmma_tile(x + WGMMA_ROWS * WGMMA_ROW_BYTES);
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++) {
        if constexpr (TRANSPOSED) {
            uint64_t b = wgmma_down(wgmma_tile_across(w, L128W_PANEL_BYTES), i);
            wgmma_step(wgmma_bf16_across(), sum[0], wgmma_ahead(upper, i), b, adds || i > 0);
            wgmma_step(wgmma_bf16_across(), sum[1], wgmma_ahead(lower, i), b, adds || i > 0);
        } else {
            uint64_t b = wgmma_ahead(wgmma_tile(w), i);
            wgmma_step(T(), sum[0], wgmma_ahead(upper, i), b, adds || i > 0);
            wgmma_step(T(), sum[1], wgmma_ahead(lower, i), b, adds || i > 0);
        }
    }
    wgmma_commit();
}

/* The sums of a block's tiles, over all of k. */
template <typename T, int TILES, int STAGES, bool TRANSPOSED>
static __device__ __forceinline__ void l128w_sum(const struct l128w_plan &plan,
                                                 float (&sum)[L128W_HALVES][L128W_TILE / 2],
                                                 uint32_t ring, uint32_t full, int m0, int n0)
{
    using sizes = l128w_sizes<TILES, STAGES>;
    const int depth = WGMMA_ROW_BYTES / sizeof(T);
    const int steps = (int)((plan.operands.k + depth - 1) / depth);
    auto fetch = [&](int step) {
        if (threadIdx.x == 0 && step < steps)
            l128w_fetch<T, TILES, STAGES, TRANSPOSED>(plan, ring, full, step, m0, n0);
    };
    for (int step = 0; step < STAGES; step++)
        fetch(step);
    for (int step = 0; step < steps; step++) {
        const int slot = step % STAGES;
        uint32_t x = ring + slot * sizes::STAGE_BYTES;
        hopper_barrier_wait(full + 8 * slot, step / STAGES % 2);
        l128w_multiply<T, TRANSPOSED>(sum, x + threadIdx.x / WGMMA_THREADS * L128W_TILE_BYTES,
                                      x + sizes::X_BYTES, step > 0);
        wgmma_wait<L128W_PENDING>();
        __syncthreads(); /* the batch before this one is done, in all warps */
        if (step >= L128W_PENDING) fetch(step - L128W_PENDING + STAGES);
    }
    wgmma_wait<0>();
    wgmma_pin(sum[0]);
    wgmma_pin(sum[1]);
}

#endif

/* Never launched where machine code has no body, so the trap is never met. */
template <typename T, int TILES, int STAGES, bool TRANSPOSED>
static __global__ void __launch_bounds__(l128w_sizes<TILES, STAGES>::THREADS,
                                         l128w_sizes<TILES, STAGES>::BLOCKS)
    linear_128_wgmma(const __grid_constant__ struct l128w_plan plan)
{
#ifdef HOPPER_CODE
    using sizes = l128w_sizes<TILES, STAGES>;
    extern __shared__ unsigned char l128w_memory[];
    __shared__ uint64_t barriers[STAGES];
    const uint32_t start = hopper_shared(l128w_memory), full = hopper_shared(barriers);
    const uint32_t ring = start + (L128W_ALIGN - start % L128W_ALIGN) % L128W_ALIGN;
    const struct linear_operands &operands = plan.operands;
    int bands = (int)((operands.m + sizes::ROWS - 1) / sizes::ROWS);
    int columns = (int)((operands.n + L128W_TILE - 1) / L128W_TILE);
    struct linear_tile at = linear_order(blockIdx.x, bands, columns, L128W_GROUP);
    const int m0 = at.band * sizes::ROWS, n0 = at.column * L128W_TILE;

    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; slot++)
            hopper_barrier_init(full + 8 * slot, 1);
        hopper_barrier_publish();
    }
    __syncthreads();
    float sum[L128W_HALVES][L128W_TILE / 2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T bias[L128W_TILE / 32];
    linear_bias_load<T, L128W_TILE>(operands, bias, n0, lane);
    l128w_sum<T, TILES, STAGES, TRANSPOSED>(plan, sum, ring, full, m0, n0);
    __syncthreads(); /* all have read the ring, which the outputs now go through */
    unsigned char *out =
        l128w_memory + (ring - start) + warp * LINEAR_STORE_BUFFERS * LINEAR_STORE_BYTES;
    const int row0 = m0 + warp / 4 * L128W_TILE + warp % 4 * LINEAR_STORE_ROWS;
#pragma unroll
    for (int i = 0; i < L128W_HALVES; i++) {
        if (lane == 0) hopper_store_wait<0>(); /* the half before */
        __syncwarp();
        linear_sums_finish<T, L128W_TILE>(operands, plan.finish, sum[i], bias, out, lane);
        linear_store_rows<T, L128W_TILE, LINEAR_STORE_BUFFERS>(
            plan.y, sum[i], row0 + i * WGMMA_ROWS, n0, out, lane);
    }
    if (lane == 0) hopper_store_wait<0>();
#else
    __trap();
#endif
}

/* ------------------------------------------------------------------ launch -- */

template <typename T, int TILES, int STAGES, bool TRANSPOSED>
static int enqueue_blocks(const struct linear_operands *operands, cudaStream_t stream)
{
    using sizes = l128w_sizes<TILES, STAGES>;
    const int bytes = sizeof(T);
    struct l128w_plan plan = {.operands = *operands, .finish = operands->finish};
    struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, bytes};
    struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, bytes};
    if (TRANSPOSED) w = {(void *)operands->w, operands->k, operands->leading, bytes};
    if (tensor_map_init(&plan.x, &x, sizes::ROWS) < 0) return -1;
    if (tensor_map_init(&plan.w, &w, TRANSPOSED ? L128W_PANEL : L128W_TILE) < 0) return -1;
    if (linear_store_init<T>(&plan.y, operands) < 0) return -1;
    int64_t blocks =
        (int64_t)gpt_blocks(operands->m, sizes::ROWS) * gpt_blocks(operands->n, L128W_TILE);
    linear_128_wgmma<T, TILES, STAGES, TRANSPOSED>
        <<<(unsigned)blocks, sizes::THREADS, sizes::SHARED_BYTES, stream>>>(plan);
    return assay_launched();
}

/* One tile per block while each block has a multiprocessor; two where k is long and they still
 * fill the device. */
template <typename T, bool TRANSPOSED>
static int enqueue(const struct linear_operands *operands, cudaStream_t stream)
{
    int64_t columns = gpt_blocks(operands->n, L128W_TILE);
    int64_t single = gpt_blocks(operands->m, L128W_TILE) * columns;
    int64_t pairs = gpt_blocks(operands->m, 2 * L128W_TILE) * columns;
    int64_t processors = assay_card()->multiprocessors;
    bool deep = operands->k * (int64_t)sizeof(T) >= L128W_DEEP_BYTES;
    if (single <= processors) return enqueue_blocks<T, 1, 6, TRANSPOSED>(operands, stream);
    if (deep && pairs >= processors) return enqueue_blocks<T, 2, 4, TRANSPOSED>(operands, stream);
    return enqueue_blocks<T, 1, 3, TRANSPOSED>(operands, stream);
}

/* A block may have more than 48 KiB. */
template <typename T, int TILES, int STAGES, bool TRANSPOSED> static int allow_blocks(void)
{
    return cuda_allow_shared((const void *)linear_128_wgmma<T, TILES, STAGES, TRANSPOSED>,
                             l128w_sizes<TILES, STAGES>::SHARED_BYTES);
}

template <typename T, bool TRANSPOSED> static int allow(void)
{
    if (allow_blocks<T, 1, 3, TRANSPOSED>() < 0 || allow_blocks<T, 1, 6, TRANSPOSED>() < 0)
        return -1;
    return allow_blocks<T, 2, 4, TRANSPOSED>();
}

int linear_128_wgmma_allow(void)
{
    if (allow<uint16_t, false>() < 0 || allow<uint16_t, true>() < 0) return -1;
    return allow<fp16_t, false>() < 0 ? -1 : allow<float, false>();
}

int linear_128_wgmma_bf16(const struct linear_operands *operands, cudaStream_t stream)
{
    return operands->transposed ? enqueue<uint16_t, true>(operands, stream)
                                : enqueue<uint16_t, false>(operands, stream);
}

int linear_128_wgmma_fp16(const struct linear_operands *operands, cudaStream_t stream)
{
    return enqueue<fp16_t, false>(operands, stream);
}

int linear_128_wgmma_tf32(const struct linear_operands *operands, cudaStream_t stream)
{
    return enqueue<float, false>(operands, stream);
}
