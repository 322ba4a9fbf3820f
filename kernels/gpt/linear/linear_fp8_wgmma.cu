/*
 * linear_fp8_wgmma.cu - `linear_fp8` on Hopper's tensor cores: tiles of 128 x 256 outputs, operands
 * by TMA, products of e4m3 by wgmma, scales of either kind.
 *
 * Ring, clusters and order of tiles are those of linear_wgmma.cuh. A stage is 128 bytes of k, which
 * is 128 e4m3 and one group of scales. wgmma's sums have 14 bits for e4m3, so the products of a
 * stage begin with zero, and what they add up to is added to fp32 sums, with its scale where scales
 * are of blocks.
 *
 * A warpgroup's 64 x 256 sums are 128 registers, so a stage's are made in parts of 64 columns: two
 * parts of 32 registers, of which one is added while the other's products run. x is loaded once per
 * stage into registers, as products that took it from shared memory would read it once per part:
 * with what TMA writes, more than the 128 bytes per cycle that shared memory has.
 *
 * Operations: 2 m n k. Bytes per tile and stage of 1024 cycles: 32 KiB from L2; 48 KiB written to
 * shared memory and 80 KiB read.
 */
#include <stdlib.h>
#include <string.h>
#include <type_traits>

#include "kernels/gpt/mma.cuh"
#include "linear_fp8.h"
#include "linear_wgmma_launch.cuh"

/* Registers of each producer and consumer; 24 + 2 x 240 = 3 x 168. */
enum { PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240, STEPS = 4 /* of k, per stage */ };
static_assert((int)LFP8_GROUP == WGMMA_ROW_BYTES, "a stage is a group");

struct plan {
    struct lwg_plan product;
    const float *x_scales, *w_scales;
};

template <int COLUMNS_, int PARTS_, bool LOADED_, int CLUSTER_, bool STAGGERED_, bool BY_BLOCK_,
          int FEWER_>
struct config : lwg_config<uint8_t, COLUMNS_, CLUSTER_, false> {
    static constexpr int PARTS = PARTS_, WIDTH = COLUMNS_ / PARTS;
    static constexpr bool LOADED = LOADED_, STAGGERED = STAGGERED_, BY_BLOCK = BY_BLOCK_;
    static constexpr int BUFFERED = PARTS == 4 ? 2 : 1; /* parts in registers */
    using base = lwg_config<uint8_t, COLUMNS_, CLUSTER_, false>;
    static constexpr int STAGES = base::STAGES - FEWER_;
    static constexpr int BUFFERS =
        (base::ROOM_BYTES - STAGES * base::STAGE_BYTES) / base::BUFFER_BYTES;
    static constexpr int SHARED_BYTES =
        LWG_ALIGN + STAGES * base::STAGE_BYTES + BUFFERS * base::BUFFER_BYTES;
    /* Columns that surely have one scale. */
    static constexpr int SCALED = COLUMNS_ % LFP8_GROUP ? LFP8_GROUP / 2 : LFP8_GROUP;
};

#ifdef HOPPER_CODE

/* Scales of the thread's two rows and of the tile's columns, of one group. */
template <typename CONFIG> struct scale_set {
    float x[2], w[CONFIG::COLUMNS / CONFIG::SCALED];
};

/* Where those of a tile are, from a stage on. */
template <typename CONFIG> struct scale_source {
    const float *x, *w;
    int further, groups, last, column;

    __device__ __forceinline__ scale_source(const struct plan &plan, int row, int column_,
                                            int stage)
    {
        int bottom = (int)plan.product.operands.m - 1, first = min(row, bottom);
        groups = plan.product.division.depth;
        further = (min(row + 8, bottom) - first) * groups;
        x = plan.x_scales + (int64_t)first * groups + stage;
        w = plan.w_scales + stage;
        last = (int)plan.product.operands.n - 1;
        column = column_;
    }
    __device__ __forceinline__ void load(struct scale_set<CONFIG> &to, int group) const
    {
        to.x[0] = __ldg(x + group);
        to.x[1] = __ldg(x + further + group);
#pragma unroll
        for (int i = 0; i < CONFIG::COLUMNS / CONFIG::SCALED; i++)
            to.w[i] =
                __ldg(w + min(column + i * CONFIG::SCALED, last) / LFP8_GROUP * groups + group);
    }
};

/* Begin the sums of a part in a stage, from zero. */
template <typename CONFIG>
static __device__ __forceinline__ void begin(float (&part)[CONFIG::WIDTH / 2],
                                             const uint32_t (&loaded)[STEPS][4], uint64_t a,
                                             uint64_t b)
{
    wgmma_pin(part);
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        if constexpr (CONFIG::LOADED)
            wgmma_loaded(wgmma_e4m3(), part, loaded[i], wgmma_ahead(b, i), i > 0);
        else
            wgmma_step(wgmma_e4m3(), part, wgmma_ahead(a, i), wgmma_ahead(b, i), i > 0);
    wgmma_commit();
}

/* Two sums in each 4 belong to the first row and two to the second. */
template <typename CONFIG>
static __device__ __forceinline__ void add(float (&sum)[CONFIG::PARTS][CONFIG::WIDTH / 2],
                                           float (&part)[CONFIG::WIDTH / 2], int number,
                                           const struct scale_set<CONFIG> &scales)
{
    wgmma_pin(part);
#pragma unroll
    for (int i = 0; i < CONFIG::WIDTH / 2; i++) {
        int column = number * CONFIG::WIDTH + i / 4 * 8;
        if (CONFIG::BY_BLOCK)
            sum[number][i] += part[i] * (scales.x[i % 4 / 2] * scales.w[column / CONFIG::SCALED]);
        else
            sum[number][i] += part[i];
    }
}

/* The last tile of a warp, whose outputs are in registers. */
struct outputs {
    float scale;
    unsigned char *out;
    int row, column;
    bool pending;
};

/* Store a part by TMA. */
template <typename CONFIG>
static __device__ __forceinline__ void store(float (&sum)[CONFIG::WIDTH / 2],
                                             const struct plan &plan, const struct outputs &of,
                                             int part, int lane)
{
    constexpr int boxes = CONFIG::WIDTH / LINEAR_STORE_WIDTH<uint16_t>;
    if (!CONFIG::BY_BLOCK) {
#pragma unroll
        for (int i = 0; i < CONFIG::WIDTH / 2; i++)
            sum[i] *= of.scale;
    }
    if (part == 0 && lane == 0) hopper_store_wait<0>(); /* the tile's before */
    __syncwarp();
    linear_store_boxes<uint16_t, CONFIG::WIDTH, CONFIG::BUFFERS>(
        plan.product.y, sum, of.row, of.column + part * CONFIG::WIDTH,
        of.out + part * boxes % CONFIG::BUFFERS * LINEAR_STORE_BYTES, lane);
}

/* The warpgroup's 64 rows of a stage of x, as a lane takes them to its registers. */
static __device__ __forceinline__ void load_rows(uint32_t (&to)[STEPS][4], uint32_t x, int lane)
{
    const struct mma_place place = mma_place_a(lane);
    const int row = threadIdx.x / 32 % 4 * 16 + place.row;
    const uint32_t first = x + row * WGMMA_ROW_BYTES + mma_swizzle(row, place.chunk) * 16;
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        mma_load(to[i], first ^ i * WGMMA_STEP_BYTES);
}

/* A warpgroup's sums over so many stages; while its first products run, the outputs of the last
 * tile are stored. It passes the turn once it is ahead of the other. */
template <typename CONFIG>
static __device__ __forceinline__ void multiply(float (&sum)[CONFIG::PARTS][CONFIG::WIDTH / 2],
                                                const struct plan &plan, const struct outputs &done,
                                                const struct scale_source<CONFIG> &source,
                                                int stages, uint32_t ring, int row, uint32_t full,
                                                uint32_t empty, struct lwg_cursor at, bool passes,
                                                int lane)
{
    constexpr int last = CONFIG::PARTS - 1, buffers = CONFIG::BUFFERED;
    float part[buffers][CONFIG::WIDTH / 2] = {};
    uint32_t loaded[STEPS][4] = {};
    struct scale_set<CONFIG> scales = {
    };
    int before = 0;
    int group = 0;
    auto stage = [&](auto first) __attribute__((always_inline))
    {
        constexpr bool FIRST = decltype(first)::value;
        const uint32_t x = ring + at.stage * CONFIG::STAGE_BYTES + row * WGMMA_ROW_BYTES;
        const uint64_t a = wgmma_tile(x);
        const uint64_t b = wgmma_tile(ring + at.stage * CONFIG::STAGE_BYTES + CONFIG::X_BYTES);
        struct scale_set<CONFIG> next = {
        };
        if (CONFIG::BY_BLOCK) source.load(next, group++);
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        wgmma_wait<0>();
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            wgmma_pin(loaded[i]);
        if (buffers > 1 && !FIRST) lwg_give_back<CONFIG>(empty, before, lane);
        if (CONFIG::LOADED) load_rows(loaded, x, lane);
#pragma unroll
        for (int i = 0; i < CONFIG::PARTS; i++) {
            begin<CONFIG>(part[i % buffers], loaded, a,
                          b + i * CONFIG::WIDTH * WGMMA_ROW_BYTES / 16);
            if (FIRST) {
                if (done.pending) store<CONFIG>(sum[i], plan, done, i, lane);
#pragma unroll
                for (int j = 0; j < CONFIG::WIDTH / 2; j++)
                    sum[i][j] = 0;
            }
            if (buffers > 1) { /* the part before */
                if (i > 0) wgmma_wait<1>();
                if (!FIRST || i > 0)
                    add<CONFIG>(sum, part[(i + 1) % buffers], i > 0 ? i - 1 : last, scales);
                if (i == 0) scales = next;
            } else {
                if (i == 0) scales = next;
                wgmma_wait<0>();
                if (i == last) lwg_give_back<CONFIG>(empty, at.stage, lane);
                add<CONFIG>(sum, part[0], i, scales);
            }
            if (CONFIG::STAGGERED && FIRST && i == last / 2 && passes)
                hopper_turn_pass(1, LWG_CONSUMERS * WGMMA_THREADS);
        }
        before = at.stage;
        lwg_advance<CONFIG>(at);
    };
    stage(std::true_type());
    for (int step = 1; step < stages; step++)
        stage(std::false_type());
    if (buffers > 1) {
        wgmma_wait<0>();
        lwg_give_back<CONFIG>(empty, before, lane);
        add<CONFIG>(sum, part[last % buffers], last, scales);
    }
}

template <typename CONFIG>
static __device__ void consume(const struct plan &plan, uint32_t ring, unsigned char *out,
                               uint32_t full, uint32_t empty, int group)
{
    const int rank = CONFIG::CLUSTER > 1 ? (int)hopper_cluster_rank() : 0;
    const int warp = threadIdx.x / 32 - 4;
    const int lane = threadIdx.x % 32, half = group * WGMMA_ROWS;
    struct lwg_cursor next = {0, 0};
    struct linear_walk walk = lwg_walk_of<CONFIG>(plan.product);
    struct linear_unit unit;
    float sum[CONFIG::PARTS][CONFIG::WIDTH / 2];
    struct outputs done = {1, out + warp * CONFIG::BUFFERS * LINEAR_STORE_BYTES, 0, 0, false};
    if (!CONFIG::BY_BLOCK) done.scale = __ldg(plan.x_scales) * __ldg(plan.w_scales);
    for (bool first = true; linear_walk_next(&walk, &unit); first = false) {
        const struct lwg_corner tile = lwg_corner_of<CONFIG>(plan.product, unit.tile, rank);
        const int stages = unit.end - unit.begin;
        struct lwg_cursor at = next; /* in each branch the same, as the compiler must know */
        lwg_skip<CONFIG>(next, stages);
        if (tile.row + half >= plan.product.operands.m) {
            lwg_pass<CONFIG>(stages, full, empty, at, lane);
            continue;
        }
        const int row = tile.row + half + warp % 4 * LINEAR_STORE_ROWS;
        const scale_source<CONFIG> source(plan, row + mma_row(lane, 0), tile.column, unit.begin);
        const bool passes = first && group == 0 && tile.row + WGMMA_ROWS < plan.product.operands.m;
        if (CONFIG::STAGGERED && first && group == 1)
            hopper_turn_wait(1, LWG_CONSUMERS * WGMMA_THREADS);
        multiply<CONFIG>(sum, plan, done, source, stages, ring, half, full, empty, at, passes,
                         lane);
        done.row = row;
        done.column = tile.column;
        done.pending = row < plan.product.operands.m &&
                       (stages == plan.product.division.depth ||
                        lwg_join<CONFIG>(plan.product, walk, unit, sum, warp, lane));
        if (!done.pending || plan.product.y.by_engine) continue;
        done.pending = false;
#pragma unroll
        for (int i = 0; i < CONFIG::PARTS; i++) {
#pragma unroll
            for (int j = 0; j < CONFIG::WIDTH / 2 && !CONFIG::BY_BLOCK; j++)
                sum[i][j] *= done.scale;
            linear_store_runs<uint16_t, CONFIG::WIDTH, CONFIG::BUFFERS>(
                plan.product.y, sum[i], row, tile.column + i * CONFIG::WIDTH, done.out, lane);
        }
    }
#pragma unroll
    for (int i = 0; i < CONFIG::PARTS && done.pending; i++)
        store<CONFIG>(sum[i], plan, done, i, lane);
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(LWG_THREADS, 1)
    linear_fp8_wgmma(const __grid_constant__ struct plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t barriers[2 * CONFIG::STAGES];
    unsigned char *memory = dynamic + (LWG_ALIGN - hopper_shared(dynamic) % LWG_ALIGN) % LWG_ALIGN;
    const uint32_t ring = hopper_shared(memory);
    const uint32_t full = hopper_shared(barriers), empty = full + 8 * CONFIG::STAGES;
    lwg_begin<CONFIG>(plan.product, full, empty);
    /* The compiler knows that this is the same in all lanes, and so are addresses and branches. */
    const int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WGMMA_THREADS, 0);
    if (group == 0) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) lwg_produce<CONFIG>(plan.product, ring, full, empty);
    } else {
        hopper_registers_take<CONSUMER_REGISTERS>();
        consume<CONFIG>(plan, ring, memory + CONFIG::STAGES * CONFIG::STAGE_BYTES, full, empty,
                        group - 1);
    }
    if (CONFIG::CLUSTER > 1) hopper_cluster_sync();
#else
    __trap();
#endif
}

/* ------------------------------------------------------------------ launch -- */

struct product {
    struct plan plan;
    struct linear_parts parts;
    int (*enqueue)(const struct plan *plan, cudaStream_t stream);
};

template <typename CONFIG> static int enqueue(const struct plan *plan, cudaStream_t stream)
{
    struct cluster_launch launch(CONFIG::CLUSTER, dim3(plan->product.blocks), LWG_THREADS,
                                 CONFIG::SHARED_BYTES, stream);
    if (CONFIG::CLUSTER == 1) launch.config.numAttrs = 0; /* plain launches start sooner */
    return assay_cuda(cudaLaunchKernelEx(&launch.config, linear_fp8_wgmma<CONFIG>, *plan),
                      "launch");
}

/* Tiles are divided along k where whole ones would leave more than this share of the device idle.
 */
static const double IDLE = 0.06;

template <typename CONFIG>
static int prepare(struct product *product, const struct linear_operands *operands,
                   struct assay_call *call)
{
    const int fit = assay_card()->multiprocessors / CONFIG::CLUSTER;
    const int tiles = (int)(gpt_blocks(operands->m, LWG_ROWS * CONFIG::CLUSTER) *
                            gpt_blocks(operands->n, CONFIG::COLUMNS));
    struct lwg_how how = {LINEAR_WHOLE, &product->parts};
    if (tiles < (1 - IDLE) * gpt_blocks(tiles, fit) * fit) how.divide = LINEAR_EVENLY;
    product->enqueue = enqueue<CONFIG>;
    int status = how.divide == LINEAR_WHOLE ? 0 : linear_wgmma_parts(&product->parts, call);
    if (status) return status;
    return lwg_prepare_for<CONFIG, uint16_t>((const void *)linear_fp8_wgmma<CONFIG>,
                                             &product->plan.product, operands, LINEAR_PLAIN, &how);
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LFP8_K] % 16 ? "k is no multiple of 16" : NULL;
}

template <int COLUMNS, int PARTS, bool LOADED, int CLUSTER, bool STAGGERED, int FEWER>
static int setup(struct assay_call *call)
{
    struct product *product =
        (struct product *)aligned_alloc(alignof(struct product), sizeof *product);
    struct linear_operands operands = {};
    call->state = product;
    if (!product) return assay_error("out of memory");
    memset(product, 0, sizeof *product); /* a gate compares arguments whole, gaps too */
    operands.x = call->buffer[LFP8_X];
    operands.w = call->buffer[LFP8_W];
    operands.y = call->buffer[LFP8_Y];
    operands.m = call->shape->value[LFP8_M];
    operands.n = call->shape->value[LFP8_N];
    operands.k = call->shape->value[LFP8_K];
    product->plan.x_scales = (const float *)call->buffer[LFP8_X_SCALES];
    product->plan.w_scales = (const float *)call->buffer[LFP8_W_SCALES];
    if (call->shape->value[LFP8_SCALE] == LFP8_BLOCK)
        return prepare<config<COLUMNS, PARTS, LOADED, CLUSTER, STAGGERED, true, FEWER>>(
            product, &operands, call);
    return prepare<config<COLUMNS, PARTS, LOADED, CLUSTER, STAGGERED, false, FEWER>>(
        product, &operands, call);
}

static int launch(struct assay_call *call)
{
    const struct product *product = (const struct product *)call->state;
    return product->enqueue(&product->plan, (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    struct product *product = (struct product *)call->state;
    if (product) (void)cudaFree(product->parts.sums);
    free(product);
}

#define VARIANT(NAME, SUMMARY, ...)                                                                \
    static const struct assay_variant variant_##NAME = {                                           \
        .operation = "linear_fp8",                                                                 \
        .name = #NAME,                                                                             \
        .summary = SUMMARY,                                                                        \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 90,                                                                              \
        .max_sm = 90,                                                                              \
        .arch_specific = true,                                                                     \
        .supports = supports,                                                                      \
        .setup = setup<__VA_ARGS__>,                                                               \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_##NAME)

VARIANT(wgmma, "Hopper's tensor cores, TMA, tiles of 128 x 256, groups added in fp32", 256, 4, true,
        2, false, 0);
VARIANT(wgmma_halves, "as wgmma, two parts, x from shared memory, staggered", 256, 2, false, 2,
        true, 0);
VARIANT(wgmma_halves_even, "as wgmma, two parts, x from shared memory", 256, 2, false, 2, false, 0);
VARIANT(wgmma_192, "as wgmma, tiles of 128 x 192, one part, x from shared memory, staggered", 192,
        1, false, 2, true, 0);
VARIANT(wgmma_192_even, "as wgmma, tiles of 128 x 192, one part, x from shared memory", 192, 1,
        false, 2, false, 0);
