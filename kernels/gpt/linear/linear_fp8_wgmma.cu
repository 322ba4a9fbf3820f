/*
 * linear_fp8_wgmma.cu - `linear_fp8` on Hopper's tensor cores: operands by TMA, products of e4m3 by
 * wgmma, scales of either kind; in tiles of 128 x 128 outputs, or in those of linear_fp8_tall.cuh
 * where these fill the device.
 *
 * Ring, clusters, order and division of tiles are those of linear_wgmma.cuh. A stage is 128 bytes
 * of k, which is 128 e4m3 and one group of scales. wgmma's sums have 14 bits for e4m3, so the
 * products of a stage begin with zero, and what they add up to is added to fp32 sums, with its
 * scale where scales are of blocks. Sums of two stages are in registers: while those of one are
 * added, the products of the next run. With the fp32 sums these are 192 registers, hence tiles of
 * 128 columns. The outputs of a tile are stored while the first products of the next one run.
 *
 * Operations: 2 m n k. Bytes from L2 per tile and stage of 512 cycles: 24 KiB.
 *
 * Measured on an H200, 8192^3 and 8192 x 4096 x 4096, one scale, in microseconds: 807 and 208, in
 * tall tiles 737 and 196, cublasLt 744 and 196; with the sums of one stage and tiles of 192 columns
 * 784 and 208. From the end of a stage's products to the next a warpgroup takes as long as the
 * products of two stages, and there is but one other to hide it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear_fp8_tall.cuh"
#include "linear_wgmma_launch.cuh"

/* Registers of each producer and consumer; 24 + 2 x 240 = 3 x 168. */
enum { PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240, COLUMNS = 128, CLUSTER = 2 };
static_assert((int)LFP8_GROUP == WGMMA_ROW_BYTES && (int)LFP8_GROUP == COLUMNS, "groups");

using config = lwg_config<uint8_t, COLUMNS, CLUSTER, false>;
using sums = float[COLUMNS / 2];

#ifdef HOPPER_CODE

/* Where the scales of the thread's two rows and of the tile's columns are, from a stage on. */
struct scale_source {
    const float *x, *w;
    int further;

    __device__ __forceinline__ scale_source(const struct lfp8_plan &plan, int row, int column,
                                            int stage)
    {
        const int last = (int)plan.product.operands.m - 1, first = min(row, last);
        const int groups = plan.product.division.depth;
        further = (min(row + 8, last) - first) * groups;
        x = plan.x_scales + (int64_t)first * groups + stage;
        w = plan.w_scales + (int64_t)(column / LFP8_GROUP) * groups + stage;
    }
    __device__ __forceinline__ float2 of(int group) const
    {
        float of_w = __ldg(w + group);
        return make_float2(__ldg(x + group) * of_w, __ldg(x + further + group) * of_w);
    }
};

/* Begin the sums of a stage, from zero. */
static __device__ __forceinline__ void begin(sums &part, uint64_t a, uint64_t b)
{
    wgmma_pin(part);
    wgmma_begin();
#pragma unroll
    for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_STEP_BYTES; i++)
        wgmma_step(wgmma_e4m3(), part, wgmma_ahead(a, i), wgmma_ahead(b, i), i > 0);
    wgmma_commit();
}

/* Two sums in each 4 belong to the first row and two to the second. */
template <bool BY_BLOCK>
static __device__ __forceinline__ void add(sums &sum, sums &part, float2 scale)
{
    wgmma_pin(part);
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
        sum[i] += BY_BLOCK ? part[i] * (i % 4 < 2 ? scale.x : scale.y) : part[i];
}

/* Store it by TMA. */
static __device__ __forceinline__ void store(sums &sum, const struct lfp8_plan &plan,
                                             const struct lfp8_outputs &of, int lane)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
        sum[i] *= of.scale;
    if (lane == 0) hopper_store_wait<0>(); /* the tile before */
    __syncwarp();
    linear_store_boxes<uint16_t, COLUMNS, config::BUFFERS>(plan.product.y, sum, of.row, of.column,
                                                           of.out, lane);
}

/* Where a warpgroup is in the ring, whose first stage has tiles `x` and `w`: the stage whose
 * products begin next, and the oldest whose products are not known to be done. */
struct place {
    uint64_t x, w;
    uint32_t full, empty;
    int lane;
    struct lwg_cursor at;
    int oldest;
};

/* Begin the products of a stage. */
static __device__ __forceinline__ void next(sums &part, struct place &in)
{
    hopper_barrier_wait(in.full + 8 * in.at.stage, in.at.parity);
    const uint32_t ahead = in.at.stage * config::STRIDE;
    begin(part, in.x + ahead, in.w + ahead);
    lwg_advance<config>(in.at);
}

/* Wait until all but the last PENDING stages' products are done, and add the oldest. */
template <bool BY_BLOCK, int PENDING>
static __device__ __forceinline__ void end(sums &sum, sums &part, struct place &in, float2 scale)
{
    wgmma_wait<PENDING>();
    lwg_give_back<config>(in.empty, in.oldest, in.lane);
    if (++in.oldest == config::STAGES) in.oldest = 0;
    add<BY_BLOCK>(sum, part, scale);
}

/* The sums of COUNT stages from `group` on. The FIRST of a tile begin anew, and while their
 * products run, the outputs of the last tile are stored. */
template <bool BY_BLOCK, int COUNT, bool FIRST>
static __device__ __forceinline__ void round(sums &sum, const struct lfp8_plan &plan,
                                             const struct lfp8_outputs &done,
                                             const struct scale_source &source, int group,
                                             struct place &in)
{
    sums part[2] = {};
    float2 scale[COUNT] = {};
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (BY_BLOCK) scale[i] = source.of(group + i);
    next(part[0], in);
    if (FIRST) {
        if (done.pending) store(sum, plan, done, in.lane);
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            sum[i] = 0;
    }
#pragma unroll
    for (int i = 1; i < COUNT; i++) {
        next(part[i % 2], in);
        end<BY_BLOCK, 1>(sum, part[(i + 1) % 2], in, scale[i - 1]);
    }
    end<BY_BLOCK, 0>(sum, part[(COUNT + 1) % 2], in, scale[COUNT - 1]);
}

/* A warpgroup's sums over so many stages. The compiler lets no products whose sums are added in a
 * loop run from one round of it to the next: so a round is several stages. */
template <bool BY_BLOCK>
static __device__ __forceinline__ void multiply(sums &sum, const struct lfp8_plan &plan,
                                                const struct lfp8_outputs &done,
                                                const struct scale_source &source, int stages,
                                                struct place in)
{
    enum { TOGETHER = 4 };
    int group = TOGETHER;
    if (stages >= TOGETHER) {
        round<BY_BLOCK, TOGETHER, true>(sum, plan, done, source, 0, in);
    } else {
        round<BY_BLOCK, 1, true>(sum, plan, done, source, 0, in);
        group = 1;
    }
    for (; group + TOGETHER <= stages; group += TOGETHER)
        round<BY_BLOCK, TOGETHER, false>(sum, plan, done, source, group, in);
    for (; group < stages; group++)
        round<BY_BLOCK, 1, false>(sum, plan, done, source, group, in);
}

template <bool BY_BLOCK>
static __device__ void consume(const struct lfp8_plan &plan, uint32_t ring, unsigned char *out,
                               uint32_t full, uint32_t empty, int group)
{
    const int warp = hopper_warp() - 4, lane = threadIdx.x % 32, half = group * WGMMA_ROWS;
    const int m = (int)plan.product.operands.m;
    struct lwg_cursor at = {0, 0};
    struct linear_walk walk = lwg_walk_of<config>(plan.product);
    struct linear_unit unit;
    const uint64_t x = wgmma_tile(ring + half * WGMMA_ROW_BYTES);
    const uint64_t w = wgmma_tile(ring + config::X_BYTES);
    float sum[1][COLUMNS / 2];
    struct lfp8_outputs done = {1, out + warp * config::BUFFERS * LINEAR_STORE_BYTES, 0, 0, false};
    if (!BY_BLOCK) done.scale = __ldg(plan.x_scales) * __ldg(plan.w_scales);
    while (linear_walk_next(&walk, &unit)) {
        const struct lwg_corner tile =
            lwg_corner_of<config>(plan.product, unit.tile, (int)hopper_cluster_rank());
        const int stages = unit.end - unit.begin;
        struct place in = {x, w, full, empty, lane, at, at.stage};
        lwg_skip<config>(at, stages);
        if (tile.row + half >= m) {
            lwg_pass<config>(stages, full, empty, in.at, lane);
            continue;
        }
        const int row = tile.row + half + warp % 4 * LINEAR_STORE_ROWS;
        const scale_source source(plan, row + mma_row(lane, 0), tile.column, unit.begin);
        multiply<BY_BLOCK>(sum[0], plan, done, source, stages, in);
        done.row = row;
        done.column = tile.column;
        done.pending = row < m && (stages == plan.product.division.depth ||
                                   lwg_join<config>(plan.product, walk, unit, sum, warp, lane));
        if (!done.pending || plan.product.y.by_engine) continue;
        done.pending = false;
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            sum[0][i] *= done.scale;
        linear_store_runs<uint16_t, COLUMNS, config::BUFFERS>(plan.product.y, sum[0], row,
                                                              tile.column, done.out, lane);
    }
    if (done.pending) store(sum[0], plan, done, lane);
    if (lane == 0) hopper_store_wait<0>();
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <bool BY_BLOCK>
static __global__ void __launch_bounds__(LWG_THREADS, 1)
    linear_fp8_wgmma(const __grid_constant__ struct lfp8_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t barriers[2 * config::STAGES];
    unsigned char *memory = dynamic + (LWG_ALIGN - hopper_shared(dynamic) % LWG_ALIGN) % LWG_ALIGN;
    const uint32_t ring = hopper_kept(hopper_shared(memory));
    const uint32_t full = hopper_kept(hopper_shared(barriers)), empty = full + 8 * config::STAGES;
    lwg_begin<config>(plan.product, ring, full, empty);
    const int group = hopper_warp() / (WGMMA_THREADS / 32);
    if (group == 0) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (hopper_warp() == 0 && hopper_elect())
            lwg_produce<config>(plan.product, ring, full, empty);
    } else {
        hopper_registers_take<CONSUMER_REGISTERS>();
        consume<BY_BLOCK>(plan, ring, memory + config::STAGES * config::STAGE_BYTES, full, empty,
                          group - 1);
    }
    /* No block ends while another may still write to it. */
    hopper_cluster_sync();
#else
    __trap();
#endif
}

/* ------------------------------------------------------------------ launch -- */

struct product {
    struct lfp8_plan plan;
    struct tile_parts parts;
    const void *kernel;
    int threads, shared_bytes;
};

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LFP8_K] % 16 ? "k is no multiple of 16" : NULL;
}

/* Tiles of so many outputs by a cluster: how often each cluster is to compute one. */
static double rounds_of(const struct linear_operands *operands, int rows, int columns)
{
    const int64_t tiles = (int64_t)gpt_blocks(operands->m, rows) * gpt_blocks(operands->n, columns);
    return (double)tiles / (assay_card()->multiprocessors / CLUSTER);
}

/* Square tiles are divided along k where whole ones would leave more than this share of the device
 * idle. */
static const double IDLE = 0.06;

static int prepare_square(struct product *product, const struct linear_operands *operands,
                          struct assay_call *call, bool divide)
{
    struct lwg_how how = {LINEAR_WHOLE, NULL};
    product->kernel = call->shape->value[LFP8_SCALE] == LFP8_BLOCK
                          ? (const void *)linear_fp8_wgmma<true>
                          : (const void *)linear_fp8_wgmma<false>;
    product->threads = LWG_THREADS;
    product->shared_bytes = config::SHARED_BYTES;
    if (divide) {
        how = {LINEAR_EVENLY, &product->parts};
        int status = tile_parts_init(&product->parts, call);
        if (status) return status;
    }
    return lwg_prepare_for<config>(product->kernel, &product->plan.product, operands, &how);
}

template <bool BY_BLOCK>
static int prepare_tall(struct product *product, const struct linear_operands *operands)
{
    using tall = lfp8_tall<BY_BLOCK>;
    struct lwg_plan *plan = &product->plan.product;
    const struct lwg_how how = {LINEAR_WHOLE, NULL};
    const struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, 1};
    const struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, 1};
    product->kernel = (const void *)linear_fp8_tall<tall>;
    product->threads = tall::THREADS;
    product->shared_bytes = tall::SHARED_BYTES;
    plan->operands = *operands;
    plan->order = linear_order_plan_of((int)gpt_blocks(operands->m, tall::ROWS),
                                       (int)gpt_blocks(operands->n, tall::COLUMNS * tall::CLUSTER),
                                       LWG_GROUP);
    if (cluster_fit(product->kernel, tall::CLUSTER, tall::THREADS, tall::SHARED_BYTES,
                    &plan->blocks) < 0)
        return -1;
    lwg_divide<tall>(plan, (int)gpt_blocks(operands->k, LFP8_GROUP), &how);
    if (tensor_map_init(&plan->x, &x, tall::PART) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, tall::COLUMNS) < 0) return -1;
    return linear_store_init<uint16_t>(&plan->y, operands);
}

/* Rows of either tile, one round after the other. Tall tiles take a share of the time of others for
 * a row, on an H200; they are not divided, and stored by TMA alone. */
template <bool BY_BLOCK>
static int choose(struct product *product, const struct linear_operands *operands,
                  struct assay_call *call)
{
    static const double SHARE = BY_BLOCK ? 0.87 : 0.91;
    using tall = lfp8_tall<BY_BLOCK>;
    const double square = rounds_of(operands, LWG_ROWS * CLUSTER, COLUMNS);
    const double rounds = ceil(rounds_of(operands, tall::ROWS, tall::COLUMNS * tall::CLUSTER));
    const bool divide = square < (1 - IDLE) * ceil(square);
    if (linear_store_by_engine(operands, sizeof(uint16_t)) &&
        SHARE * rounds * tall::ROWS < (divide ? square : ceil(square)) * LWG_ROWS)
        return prepare_tall<BY_BLOCK>(product, operands);
    return prepare_square(product, operands, call, divide);
}

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
    return call->shape->value[LFP8_SCALE] == LFP8_BLOCK ? choose<true>(product, &operands, call)
                                                        : choose<false>(product, &operands, call);
}

static int launch(struct assay_call *call)
{
    struct product *product = (struct product *)call->state;
    void *pointers[] = {&product->plan};
    struct cluster_launch launch(CLUSTER, dim3(product->plan.product.blocks), product->threads,
                                 (size_t)product->shared_bytes, (cudaStream_t)call->stream);
    return assay_cuda(cudaLaunchKernelExC(&launch.config, product->kernel, pointers), "launch");
}

static void teardown(struct assay_call *call)
{
    struct product *product = (struct product *)call->state;
    if (product) (void)cudaFree(product->parts.sums);
    free(product);
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "wgmma",
    .summary = "Hopper's tensor cores, TMA, tiles of 192 or 128 x 128, groups added in fp32",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
