/*
 * linear_fp8_wgmma.cu - `linear_fp8` on Hopper's tensor cores: tiles of 128 x 128 outputs, operands
 * by TMA, products of e4m3 by wgmma, scales of either kind.
 *
 * The parts are those of linear_wgmma.cuh: a block of three warpgroups on each multiprocessor; one
 * keeps a ring of stages full, the two others multiply 64 rows of the tile each; blocks go
 * through tiles in the order of linear_order.h. A stage is 128 bytes of k, which is 128 e4m3 and
 * one group of scales. wgmma's sums have 14 bits for e4m3, so the four products of a stage begin
 * with zero, and what they add up to is added to fp32 sums with its scale. That takes two sets of
 * 64 registers for a thread, hence tiles of 128 columns: with 256 they would be 256 registers.
 * While one warpgroup adds, the other's products run.
 *
 * scale=block: sx of a thread's two rows and sw of the tile's columns come from L1 and L2, asked
 * for while the products run. A tile's columns are those of one block of w.
 *
 * Operations: 2 m n k. Bytes from L2 per tile and stage: 32 KiB.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_limits.h"
#include "linear_fp8.h"
#include "linear_order.h"
#include "linear_store.cuh"

enum {
    ROWS = 128,
    COLUMNS = 128,
    CONSUMERS = ROWS / WGMMA_ROWS,
    THREADS = (1 + CONSUMERS) * WGMMA_THREADS,
    WARPS = CONSUMERS * WGMMA_THREADS / 32, /* that consume */
    BAND_GROUP = 8,
    STAGES = 6,
    BUFFERS = LINEAR_STORE_BUFFERS,
    X_BYTES = ROWS * WGMMA_ROW_BYTES,
    STAGE_BYTES = X_BYTES + COLUMNS * WGMMA_ROW_BYTES,
    ALIGN = 1024,
    SHARED_BYTES = ALIGN + STAGES * STAGE_BYTES + WARPS * BUFFERS * LINEAR_STORE_BYTES,
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};
static_assert((int)LFP8_GROUP == WGMMA_ROW_BYTES && (int)LFP8_GROUP == COLUMNS, "groups");
static_assert(SHARED_BYTES + 1024 <= 227 * 1024, "shared memory");

struct plan {
    CUtensorMap x, w;
    struct linear_store y;
    const float *x_scales, *w_scales;
    int m, stages, bands, columns; /* stages of a tile, tiles down and across */
    unsigned blocks;
};

#ifdef HOPPER_CODE

struct cursor {
    int stage;
    uint32_t parity;
};

static __device__ __forceinline__ void advance(struct cursor &at)
{
    if (++at.stage == STAGES) {
        at.stage = 0;
        at.parity ^= 1;
    }
}

/* One thread: fill the ring with the operands of every tile of this block. */
static __device__ void produce(const struct plan &plan, uint32_t ring, uint32_t full,
                               uint32_t empty)
{
    struct cursor at = {0, 1}; /* the first round finds every stage free */
    for (int index = blockIdx.x; index < plan.bands * plan.columns; index += gridDim.x) {
        struct linear_tile tile = linear_order(index, plan.bands, plan.columns, BAND_GROUP);
        for (int step = 0; step < plan.stages; step++) {
            uint32_t x = ring + at.stage * STAGE_BYTES, arrived = full + 8 * at.stage;
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
            hopper_barrier_expect(arrived, STAGE_BYTES);
            hopper_load(x, &plan.x, step * LFP8_GROUP, tile.band * ROWS, arrived);
            hopper_load(x + X_BYTES, &plan.w, step * LFP8_GROUP, tile.column * COLUMNS, arrived);
            advance(at);
        }
    }
}

/* The sums of a group, from zero: begun here, to be waited for. */
static __device__ __forceinline__ void multiply(float (&part)[COLUMNS / 2], uint32_t stage, int row)
{
    uint64_t a = wgmma_tile(stage + row * WGMMA_ROW_BYTES), b = wgmma_tile(stage + X_BYTES);
    wgmma_pin(part);
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
        wgmma_step(wgmma_e4m3(), part, wgmma_ahead(a, i), wgmma_ahead(b, i), i > 0);
    wgmma_commit();
}

/* Scales of the thread's two rows, times that of w. Those of group 0 are at `x` and `further`
 * behind it. */
template <bool BY_BLOCK> struct scale_source {
    const float *x, *w;
    int further;

    __device__ __forceinline__ scale_source(const struct plan &plan, int row, int column)
    {
        int last = plan.m - 1, first = min(row, last), second = min(row + 8, last);
        x = plan.x_scales + (BY_BLOCK ? (int64_t)first * plan.stages : 0);
        w = plan.w_scales + (BY_BLOCK ? (int64_t)(column / LFP8_GROUP) * plan.stages : 0);
        further = BY_BLOCK ? (second - first) * plan.stages : 0;
    }
    __device__ __forceinline__ float2 of(int group) const
    {
        int at = BY_BLOCK ? group : 0;
        float sw = __ldg(w + at);
        return make_float2(__ldg(x + at) * sw, __ldg(x + further + at) * sw);
    }
};

/* Two sums in each 4 belong to the first row and two to the second. */
static __device__ __forceinline__ void add_scaled(float (&sum)[COLUMNS / 2],
                                                  const float (&part)[COLUMNS / 2], float2 scale)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
        sum[i] += part[i] * (i % 4 < 2 ? scale.x : scale.y);
}

template <bool BY_BLOCK>
static __device__ void consume(const struct plan &plan, uint32_t ring, unsigned char *out,
                               uint32_t full, uint32_t empty)
{
    const int warp = threadIdx.x / 32 - WGMMA_THREADS / 32, lane = threadIdx.x % 32;
    const int half = (threadIdx.x / WGMMA_THREADS - 1) * WGMMA_ROWS;
    struct cursor at = {0, 0};
    out += warp * BUFFERS * LINEAR_STORE_BYTES;
    for (int index = blockIdx.x; index < plan.bands * plan.columns; index += gridDim.x) {
        struct linear_tile tile = linear_order(index, plan.bands, plan.columns, BAND_GROUP);
        const int row = tile.band * ROWS + half + warp % 4 * LINEAR_STORE_ROWS;
        const int column = tile.column * COLUMNS;
        const scale_source<BY_BLOCK> scales(plan, row + mma_row(lane, 0), column);
        float sum[COLUMNS / 2] = {}, part[COLUMNS / 2] = {};
        for (int step = 0; step < plan.stages; step++) {
            hopper_barrier_wait(full + 8 * at.stage, at.parity);
            multiply(part, ring + at.stage * STAGE_BYTES, half);
            float2 scale = scales.of(step);
            wgmma_wait<0>();
            wgmma_pin(part);
            if (lane == 0) hopper_barrier_arrive(empty + 8 * at.stage);
            add_scaled(sum, part, scale);
            advance(at);
        }
        if (lane == 0) hopper_store_wait<0>(); /* the last tile's */
        __syncwarp();
        linear_store_rows<uint16_t, COLUMNS, BUFFERS>(plan.y, sum, row, column, out, lane);
    }
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <bool BY_BLOCK>
static __global__ void __launch_bounds__(THREADS, 1)
    linear_fp8_wgmma(const __grid_constant__ struct plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t barriers[2 * STAGES];
    unsigned char *memory = dynamic + (ALIGN - hopper_shared(dynamic) % ALIGN) % ALIGN;
    const uint32_t ring = hopper_shared(memory);
    const uint32_t full = hopper_shared(barriers), empty = full + 8 * STAGES;
    if (threadIdx.x == 0) {
        hopper_prefetch(&plan.x);
        hopper_prefetch(&plan.w);
        for (int stage = 0; stage < STAGES; stage++) {
            hopper_barrier_init(full + 8 * stage, 1);
            hopper_barrier_init(empty + 8 * stage, WARPS);
        }
        hopper_barrier_publish();
    }
    __syncthreads();
    if (threadIdx.x < WGMMA_THREADS) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) produce(plan, ring, full, empty);
    } else {
        hopper_registers_take<CONSUMER_REGISTERS>();
        consume<BY_BLOCK>(plan, ring, memory + STAGES * STAGE_BYTES, full, empty);
    }
#else
    __trap();
#endif
}

typedef void kernel_type(const struct plan plan);

static kernel_type *kernel_of(const struct assay_shape *shape)
{
    return shape->value[LFP8_SCALE] == LFP8_BLOCK ? linear_fp8_wgmma<true>
                                                  : linear_fp8_wgmma<false>;
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LFP8_K] % 16 ? "k is no multiple of 16" : NULL;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return SHARED_BYTES;
}

static int fill_plan(struct plan *plan, const struct assay_call *call)
{
    const int64_t m = call->shape->value[LFP8_M], n = call->shape->value[LFP8_N];
    const int64_t k = call->shape->value[LFP8_K];
    const struct tensor_map_matrix x = {call->buffer[LFP8_X], m, k, 1};
    const struct tensor_map_matrix w = {call->buffer[LFP8_W], n, k, 1};
    struct linear_operands y = {};
    y.y = call->buffer[LFP8_Y];
    y.m = m;
    y.n = n;
    plan->x_scales = (const float *)call->buffer[LFP8_X_SCALES];
    plan->w_scales = (const float *)call->buffer[LFP8_W_SCALES];
    plan->m = (int)m;
    plan->stages = (int)gpt_blocks(k, LFP8_GROUP);
    plan->bands = (int)gpt_blocks(m, ROWS);
    plan->columns = (int)gpt_blocks(n, COLUMNS);
    int tiles = plan->bands * plan->columns, processors = assay_card()->multiprocessors;
    plan->blocks = (unsigned)(tiles < processors ? tiles : processors);
    if (tensor_map_init(&plan->x, &x, ROWS) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, COLUMNS) < 0) return -1;
    return linear_store_init<uint16_t>(&plan->y, &y);
}

static int setup(struct assay_call *call)
{
    struct plan *plan = (struct plan *)aligned_alloc(alignof(struct plan), sizeof(struct plan));
    call->state = plan;
    if (!plan) return assay_error("out of memory");
    memset(plan, 0, sizeof *plan); /* a gate compares arguments whole, gaps too */
    if (cuda_allow_shared((const void *)kernel_of(call->shape), SHARED_BYTES) < 0) return -1;
    return fill_plan(plan, call);
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    kernel_of(call->shape)<<<plan->blocks, THREADS, SHARED_BYTES, (cudaStream_t)call->stream>>>(
        *plan);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "wgmma",
    .summary = "Hopper's tensor cores, TMA, tiles of 128 x 128, groups added in fp32",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
