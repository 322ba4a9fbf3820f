/*
 * imma_ring.cuh - an int8 product of two decoded operands in device memory, which Hopper's TMA
 * fetches: C = (A B^T >> shift) unit.
 *
 * Warp specialization: a block of three warpgroups runs on each multiprocessor. One thread of the
 * first warpgroup keeps a ring of stages full, each with 128 bytes of K of 128 rows of A and of
 * 256 rows of B. The other two warpgroups compute 64 rows of C each, in 128 accumulators per
 * thread, and release a stage when their products have read it. Two blocks of a cluster, one above
 * the other, share B: each fetches half of its rows, and TMA writes them to both.
 *
 * Blocks are persistent: while the sums of one tile are written, the operands of the next arrive.
 * C is written by TMA too, 16 rows of 128 bytes per warp at a time. Where its rows do not start on
 * 16 bytes, the lanes write it.
 *
 * Where tiles are too few for the device, K is divided into parts (imma_parts), each of which has
 * blocks of its own. Warps with the same 16 rows of C write their sums to memory, wait for each
 * other, and add and store a slice each (tile_parts.cuh). Sums are whole numbers: their order
 * does not matter.
 *
 * The design is that of kernels/gpt/linear/linear_wgmma.cuh, which names its sources.
 */
#pragma once

#include "imma.cuh"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/dependent_launch.cuh"
#include "kernels/cuda/tensor_map.h"
#include "kernels/cuda/tile_parts.cuh"

enum {
    RING_CLUSTER = 2,
    RING_ROWS = RING_CLUSTER * IMMA_ROWS, /* rows of C per cluster */
    RING_SHARE = IMMA_COLUMNS / RING_CLUSTER,
    RING_STAGES = 4,
    RING_OUT_ROWS = 16, /* rows that a warp writes at a time */
    RING_OUT_COLUMNS = 32,
    RING_OUT_BYTES = RING_OUT_ROWS * RING_OUT_COLUMNS * 4,
    RING_OUT_BUFFERS = 2, /* per warp */
    RING_BYTES = RING_STAGES * IMMA_STAGE_BYTES,
    RING_SHARED_BYTES = IMMA_ALIGN + RING_BYTES + IMMA_WARPS * RING_OUT_BUFFERS * RING_OUT_BYTES,
    RING_PRODUCER_REGISTERS = 40,
    RING_CONSUMER_REGISTERS = 232, /* 40 + 2 x 232 = 3 x 168, all there are */
};

/* What a launch needs; made in setup, at an address that is a multiple of 64. */
struct ring_plan {
    CUtensorMap a, b, c;
    struct imma_output out;
    int tiles, parts;   /* of a cluster; of K */
    bool engine_stores; /* C's rows start on 16 bytes */
    unsigned blocks;
    struct tile_parts meeting; /* where there are parts */
};

#ifdef HOPPER_CODE

/* What a cluster computes at a time: this block's tile, and from which stage of K to which. */
struct ring_item {
    struct imma_tile tile;
    int first, end;
};

/* The cluster's number `index`: the parts of a tile are neighbours. */
static __device__ __forceinline__ struct ring_item ring_item(const struct ring_plan &plan,
                                                             int index, int rank)
{
    const int part = index % plan.parts, stages = plan.out.stages_of_k;
    struct ring_item item;
    item.tile = imma_tile_of(index / plan.parts, plan.out.rows, plan.out.columns, RING_ROWS);
    item.tile.row += rank * IMMA_ROWS;
    item.first = stages * part / plan.parts, item.end = stages * (part + 1) / plan.parts;
    return item;
}

/* One thread: fill the ring with the operands of every tile of this block. */
static __device__ void ring_produce(const struct ring_plan &plan, uint32_t ring, uint32_t full,
                                    uint32_t empty)
{
    const int rank = (int)hopper_cluster_rank();
    struct imma_cursor at = {0, 1}; /* the first round finds every stage free */
    for (int index = blockIdx.x / RING_CLUSTER; index < plan.tiles * plan.parts;
         index += gridDim.x / RING_CLUSTER) {
        const struct ring_item item = ring_item(plan, index, rank);
        int row = (int)item.tile.row, column = (int)item.tile.column + rank * RING_SHARE;
        for (int step = item.first; step < item.end; step++) {
            uint32_t a = ring + at.stage * IMMA_STAGE_BYTES, arrived = full + 8 * at.stage;
            uint32_t b = a + (IMMA_ROWS + rank * RING_SHARE) * IMMA_K;
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
            hopper_barrier_expect(arrived, IMMA_STAGE_BYTES);
            hopper_load(a, &plan.a, step * (IMMA_K / 2), row, arrived);
            hopper_load_to(b, &plan.b, step * (IMMA_K / 2), column, arrived,
                           (1 << RING_CLUSTER) - 1);
            imma_advance<RING_STAGES>(at);
        }
    }
}

/* Write a warp's 16 rows to C: one buffer is filled while TMA reads the other. */
static __device__ __forceinline__ void ring_store(const struct ring_plan &plan,
                                                  const int32_t (&sum)[128], int row, int column,
                                                  char *out, int lane)
{
    if (row >= plan.out.rows) return;
#pragma unroll
    for (int part = 0; part < IMMA_COLUMNS / RING_OUT_COLUMNS; part++) {
        int first = column + part * RING_OUT_COLUMNS;
        if (first >= plan.out.columns) break;
        char *buffer = out + part % RING_OUT_BUFFERS * RING_OUT_BYTES;
        if (lane == 0) hopper_store_wait<RING_OUT_BUFFERS - 1>();
        __syncwarp();
#pragma unroll
        for (int i = 0; i < RING_OUT_COLUMNS / 4; i++) {
            const int32_t *two = sum + part * (RING_OUT_COLUMNS / 2) + 2 * i;
            int high = lane / 4 + i % 2 * 8, piece = i / 2 * 2 + lane % 4 / 2;
            *(float2 *)(buffer + imma_offset(high, piece) + lane % 2 * 8) =
                imma_pair(plan.out, two[0], two[1]);
        }
        hopper_store_fence();
        __syncwarp();
        if (lane == 0) hopper_store(&plan.c, hopper_shared(buffer), first, row);
    }
}

/* The same where K is divided, of number `index`: meet the warps that have other parts, and store
 * every parts-th eight columns. */
static __device__ __forceinline__ void ring_meet(const struct ring_plan &plan,
                                                 const int32_t (&sum)[128], int index, int rank,
                                                 int warp, struct imma_tile tile, int lane)
{
    enum { QUADS = 32, WRITER = QUADS * 32 }; /* quads of sums: of a lane, of a warp */
    const int parts = plan.parts, own = index % parts, strip = rank * IMMA_WARPS + warp;
    const int word = index / parts * RING_CLUSTER * IMMA_WARPS + strip;
    const int64_t apart = (int64_t)RING_CLUSTER * IMMA_WARPS * WRITER;
    int4 *first = (int4 *)plan.meeting.sums + (index - own) * apart + strip * WRITER + lane;
    if (tile.row >= plan.out.rows) return;
#pragma unroll
    for (int i = 0; i < QUADS; i++)
        __stcg(first + own * apart + i * 32,
               make_int4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]));
    tile_part_arrive(plan.meeting, word, false, lane);
    tile_part_await(plan.meeting, word, parts, lane);
    for (int i = own; i < QUADS; i += parts) {
        int4 all = make_int4(0, 0, 0, 0);
#pragma unroll 8
        for (int part = 0; part < parts; part++) {
            const int4 v = __ldcg(first + part * apart + i * 32);
            all.x += v.x, all.y += v.y, all.z += v.z, all.w += v.w;
        }
        imma_store_quad(plan.out, tile, i, all.x, all.y, all.z, all.w);
    }
    tile_part_leave(plan.meeting, word, parts, lane);
}

/* A warpgroup that multiplies: the sums of every tile of this block. */
static __device__ void ring_consume(const struct ring_plan &plan, char *memory, uint32_t full,
                                    uint32_t empty)
{
    const int rank = (int)hopper_cluster_rank(), group = threadIdx.x / IMMA_GROUP - 1;
    const int warp = threadIdx.x / 32 - IMMA_GROUP / 32, lane = threadIdx.x % 32;
    char *out = memory + RING_BYTES + warp * RING_OUT_BUFFERS * RING_OUT_BYTES;
    struct imma_cursor at = {0, 0};
    for (int index = blockIdx.x / RING_CLUSTER; index < plan.tiles * plan.parts;
         index += gridDim.x / RING_CLUSTER) {
        struct ring_item item = ring_item(plan, index, rank);
        int32_t sum[128];
        imma_tile_sums<RING_STAGES, RING_CLUSTER>(sum, item.end - item.first, memory, group, full,
                                                  empty, at, lane);
        item.tile.row += warp * RING_OUT_ROWS;
        if (plan.parts > 1) {
            ring_meet(plan, sum, index, rank, warp, item.tile, lane);
        } else if (!plan.engine_stores) {
            imma_finish(plan.out, item.tile, sum);
        } else {
            if (lane == 0) hopper_store_wait<0>(); /* the last tile's */
            ring_store(plan, sum, (int)item.tile.row, (int)item.tile.column, out, lane);
        }
    }
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* Skipped where there is no code for sm_90a, so the trap is never reached. */
static __global__ void __launch_bounds__(IMMA_THREADS, 1)
    imma_ring(const __grid_constant__ struct ring_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ char ring_memory[];
    __shared__ uint64_t barriers[2 * RING_STAGES];
    char *memory =
        ring_memory + (IMMA_ALIGN - hopper_shared(ring_memory) % IMMA_ALIGN) % IMMA_ALIGN;
    const uint32_t full = hopper_shared(barriers), empty = full + 8 * RING_STAGES;
    if (threadIdx.x == 0) {
        hopper_prefetch(&plan.a);
        hopper_prefetch(&plan.b);
        for (int stage = 0; stage < RING_STAGES; stage++) {
            hopper_barrier_init(full + 8 * stage, 1);
            hopper_barrier_init(empty + 8 * stage, IMMA_WARPS * RING_CLUSTER);
        }
        hopper_barrier_publish();
    }
    hopper_cluster_sync();
    dependent_wait();
    if (threadIdx.x < IMMA_GROUP) {
        hopper_registers_give<RING_PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) ring_produce(plan, hopper_shared(memory), full, empty);
    } else {
        hopper_registers_take<RING_CONSUMER_REGISTERS>();
        ring_consume(plan, memory, full, empty);
    }
    hopper_cluster_sync(); /* no block ends while the other may still write to it */
#else
    __trap();
#endif
}

/* -------------------------------------------------------------- launching -- */

/* In setup: the plan of a product of `a`, out.rows of `stride` bytes, and `b`, out.columns. Adds to
 * call->workspace_bytes. 0, -1 or ASSAY_SKIP; what it leaves in *plan, which was zeros, is to be
 * released. The tensor maps describe elements of two bytes, which copies the same bytes. */
static int ring_prepare(struct ring_plan *plan, const int8_t *a, const int8_t *b, int64_t stride,
                        const struct imma_output *out, struct assay_call *call)
{
    struct tensor_map_matrix left = {(void *)a, out->rows, stride / 2, 2};
    struct tensor_map_matrix right = {(void *)b, out->columns, stride / 2, 2};
    struct tensor_map_matrix result = {out->c, out->rows, out->columns, 4};
    plan->out = *out;
    plan->engine_stores = out->columns % 4 == 0;
    plan->tiles = (int)imma_tiles(out->rows, out->columns, RING_ROWS);
    if (cluster_fit((const void *)imma_ring, RING_CLUSTER, IMMA_THREADS, RING_SHARED_BYTES,
                    &plan->blocks) < 0)
        return -1;
    plan->parts = imma_parts(plan->tiles, out->stages_of_k, (int)plan->blocks / RING_CLUSTER);
    const int64_t items = (int64_t)plan->tiles * plan->parts;
    if (plan->blocks > items * RING_CLUSTER) plan->blocks = (unsigned)(items * RING_CLUSTER);
    if (tensor_map_init(&plan->a, &left, IMMA_ROWS) < 0) return -1;
    if (tensor_map_init(&plan->b, &right, RING_SHARE) < 0) return -1;
    if (plan->parts > 1) return tile_parts_init(&plan->meeting, call);
    return plan->engine_stores ? tensor_map_init(&plan->c, &result, RING_OUT_ROWS) : 0;
}

static void ring_release(struct ring_plan *plan)
{
    cudaFree(plan->meeting.sums);
    plan->meeting.sums = NULL;
}

/* Blocks may start while the kernel before, which makes the operands, is still running. */
static int ring_enqueue(const struct ring_plan *plan, cudaStream_t stream)
{
    struct cluster_launch launch(RING_CLUSTER, dim3(plan->blocks), IMMA_THREADS, RING_SHARED_BYTES,
                                 stream);
    cudaLaunchAttribute attributes[] = {launch.attribute, dependent_attribute()};
    launch.config.attrs = attributes;
    launch.config.numAttrs = 2;
    return assay_cuda(cudaLaunchKernelEx(&launch.config, imma_ring, *plan), "launch");
}
