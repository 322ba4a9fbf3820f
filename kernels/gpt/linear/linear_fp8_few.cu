/*
 * linear_fp8_few.cu - `linear_fp8` with few rows of x on Hopper's tensor cores: bound by the
 * reading of w.
 *
 * The rows of w are the 64 rows of wgmma and up to 128 rows of x its columns. A block has 64 rows
 * of w: one thread fetches stages of 128 bytes of k by TMA, as many at a time as there is room for,
 * and a warpgroup multiplies; a stage's sums are added in fp32, as in linear_fp8_wgmma.cu. A
 * cluster of up to 8 blocks divides k, and adds the sums of its blocks through its shared memory
 * (linear_skinny_finish.cuh).
 *
 * Operations: 2 m n k. Bytes from L2: w m / 128 times; x n / 64 times.
 *
 * Measured on an H200, one scale: 1 x 14336 x 5120 21.0 us, 3.5 TB/s (cublasLt 19.2); 1 x 5120 x
 * 5120, k in two, 10.9 (8.77); 16 x 4096 x 4096, k in four, 11.8 (6.82), and divided less, as it is
 * now, 8.00.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/tensor_map.h"
#include "kernels/cuda/wgmma.cuh"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/gpt/mma_layout.h"
#include "linear_fp8.h"
#include "linear_skinny_finish.cuh"

enum {
    FEW_ROWS = 128,  /* of x, of a block, at most */
    FEW_MOST = 1024, /* more are for larger tiles */
    ALIGN = 1024,
    RING_BYTES = 96 * 1024, /* two blocks on each multiprocessor */
    STEPS = WGMMA_ROW_BYTES / WGMMA_STEP_BYTES,
};

template <int ROWS_, bool BY_BLOCK_> struct config {
    using output = uint16_t;
    static constexpr enum linear_finish FINISH = LINEAR_PLAIN;
    static constexpr bool BY_BLOCK = BY_BLOCK_;
    static constexpr int ROWS = ROWS_ / 8, COLUMNS = WGMMA_ROWS / 16; /* tiles */
    static constexpr int THREADS = WGMMA_THREADS + 32, WARPS = 1;
    static constexpr int PITCH = WGMMA_ROWS + 4, SUMS = ROWS_ * PITCH, QUADS = WGMMA_ROWS / 4;
    static constexpr int W_BYTES = WGMMA_ROWS * WGMMA_ROW_BYTES;
    static constexpr int STAGE_BYTES = W_BYTES + ROWS_ * WGMMA_ROW_BYTES;
    static constexpr int STAGES = RING_BYTES / STAGE_BYTES;
    static_assert(SUMS * (int)sizeof(float) <= RING_BYTES, "the ring holds the sums at the end");
};

struct plan {
    CUtensorMap x, w;
    struct linear_operands operands;
    const float *x_scales, *w_scales;
    int row_blocks, parts;
};

#ifdef HOPPER_CODE

/* Stages [begin, end) of rows of w and of x, by one thread. */
template <typename CONFIG>
static __device__ void produce(const struct plan &plan, int column, int row, int begin, int end,
                               uint32_t ring, uint32_t full, uint32_t empty)
{
    for (int step = begin; step < end; step++) {
        const int turn = (step - begin) / CONFIG::STAGES, stage = (step - begin) % CONFIG::STAGES;
        const uint32_t w = ring + stage * CONFIG::STAGE_BYTES, arrived = full + 8 * stage;
        hopper_barrier_wait(empty + 8 * stage, (turn + 1) % 2);
        hopper_barrier_expect(arrived, CONFIG::STAGE_BYTES);
        hopper_load(w, &plan.w, step * LFP8_GROUP, column, arrived);
        hopper_load(w + CONFIG::W_BYTES, &plan.x, step * LFP8_GROUP, row, arrived);
    }
}

/* A warpgroup's sums over these stages; number 4 j + i of a lane is of row 8 j + mma_column(lane,
 * i) of x. */
template <typename CONFIG>
static __device__ void consume(float (&sum)[4 * CONFIG::ROWS], const struct plan &plan, int column,
                               int row, int begin, int end, uint32_t ring, uint32_t full,
                               uint32_t empty)
{
    const int lane = threadIdx.x % 32, last = (int)plan.operands.m - 1;
    const int groups = (int)((plan.operands.k + LFP8_GROUP - 1) / LFP8_GROUP);
    const float *of_w = plan.w_scales + (int64_t)(column / LFP8_GROUP) * groups;
    const uint64_t first_w = wgmma_tile(ring), first_x = wgmma_tile(ring + CONFIG::W_BYTES);
    for (int step = begin; step < end; step++) {
        const int turn = (step - begin) / CONFIG::STAGES, stage = (step - begin) % CONFIG::STAGES;
        const uint32_t ahead = stage * (CONFIG::STAGE_BYTES / 16); /* of a tile's descriptor */
        const uint64_t a = first_w + ahead, b = first_x + ahead;
        float part[4 * CONFIG::ROWS] = {}, scale[2 * CONFIG::ROWS];
#pragma unroll
        for (int i = 0; i < 2 * CONFIG::ROWS && CONFIG::BY_BLOCK; i++) {
            int at = min(row + i / 2 * 8 + mma_column(lane, i % 2), last);
            scale[i] = __ldg(plan.x_scales + (int64_t)at * groups + step) * __ldg(of_w + step);
        }
        hopper_barrier_wait(full + 8 * stage, turn % 2);
        wgmma_pin(part);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            wgmma_step(wgmma_e4m3(), part, wgmma_ahead(a, i), wgmma_ahead(b, i), i > 0);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_pin(part);
        if (lane == 0) hopper_barrier_arrive(empty + 8 * stage);
#pragma unroll
        for (int i = 0; i < 4 * CONFIG::ROWS; i++)
            sum[i] += CONFIG::BY_BLOCK ? part[i] * scale[i / 4 * 2 + i % 2] : part[i];
    }
}

#endif

/* The machine code without the body is refused before setup, so the trap is never met. */
template <typename CONFIG>
static __global__ void __launch_bounds__(CONFIG::THREADS)
    linear_fp8_few(const __grid_constant__ struct plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t barriers[2 * CONFIG::STAGES];
    unsigned char *memory = dynamic + (ALIGN - hopper_shared(dynamic) % ALIGN) % ALIGN;
    const uint32_t ring = hopper_kept(hopper_shared(memory));
    const uint32_t full = hopper_kept(hopper_shared(barriers)), empty = full + 8 * CONFIG::STAGES;
    const int parts = plan.parts, row_blocks = plan.row_blocks;
    const int rank = (int)blockIdx.x % parts, block = (int)blockIdx.x / parts;
    const int row = block % row_blocks * (8 * CONFIG::ROWS),
              column = block / row_blocks * WGMMA_ROWS;
    const int stages = (int)((plan.operands.k + LFP8_GROUP - 1) / LFP8_GROUP);
    const int begin = stages * rank / parts, end = stages * (rank + 1) / parts;
    const int warp = hopper_warp(), lane = threadIdx.x % 32;
    if (warp == 0 && hopper_elect()) {
        hopper_prefetch(&plan.x);
        hopper_prefetch(&plan.w);
        for (int stage = 0; stage < CONFIG::STAGES; stage++) {
            hopper_barrier_init(full + 8 * stage, 1);
            hopper_barrier_init(empty + 8 * stage, WGMMA_THREADS / 32);
        }
        hopper_barrier_publish();
    }
    __syncthreads();
    float *shared = (float *)memory;
    if (warp == WGMMA_THREADS / 32) {
        if (hopper_elect()) produce<CONFIG>(plan, column, row, begin, end, ring, full, empty);
        __syncwarp();
        __syncthreads(); /* with the one below */
    } else {
        float sum[4 * CONFIG::ROWS] = {};
        consume<CONFIG>(sum, plan, column, row, begin, end, ring, full, empty);
        __syncthreads(); /* every warp's products have read the ring */
#pragma unroll
        for (int i = 0; i < 4 * CONFIG::ROWS; i++)
            shared[(i / 4 * 8 + mma_column(lane, i % 4)) * CONFIG::PITCH + 16 * warp +
                   mma_row(lane, i % 4)] = sum[i];
    }
    const float scale = CONFIG::BY_BLOCK ? 1.0f : __ldg(plan.x_scales) * __ldg(plan.w_scales);
    skinny_finish<CONFIG>(plan.operands, parts, scale, shared, row, column, rank);
#else
    __trap();
#endif
}

/* ------------------------------------------------------------------ launch -- */

struct product {
    struct plan plan;
    const void *kernel;
    int rows, threads, shared_bytes; /* rows of x, of a block */
    unsigned blocks;
};

template <int ROWS, bool BY_BLOCK> static void choose(struct product *product)
{
    using CONFIG = config<ROWS, BY_BLOCK>;
    product->kernel = (const void *)linear_fp8_few<CONFIG>;
    product->rows = ROWS;
    product->threads = CONFIG::THREADS;
    product->shared_bytes = ALIGN + CONFIG::STAGES * CONFIG::STAGE_BYTES;
}

/* The fewest rows that are enough for so many. */
template <bool BY_BLOCK> static void choose(struct product *product, int64_t rows)
{
    if (rows <= 8) return choose<8, BY_BLOCK>(product);
    if (rows <= 16) return choose<16, BY_BLOCK>(product);
    if (rows <= 32) return choose<32, BY_BLOCK>(product);
    if (rows <= 64) return choose<64, BY_BLOCK>(product);
    return choose<FEW_ROWS, BY_BLOCK>(product);
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LFP8_K] % 16) return "k is no multiple of 16";
    return shape->value[LFP8_M] > FEW_MOST ? "more than 1024 rows" : NULL;
}

/* As many parts of k as make about a block for each multiprocessor, with four stages at least. */
static int parts_of(int64_t blocks, int64_t k)
{
    const int64_t enough = assay_card()->multiprocessors * 3 / 2;
    int parts = 1;
    while (parts < 8 && 2 * parts * blocks <= enough && (int)gpt_blocks(k, LFP8_GROUP) >= 8 * parts)
        parts *= 2;
    return parts;
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const int64_t m = value[LFP8_M], n = value[LFP8_N], k = value[LFP8_K];
    const struct tensor_map_matrix x = {call->buffer[LFP8_X], m, k, 1};
    const struct tensor_map_matrix w = {call->buffer[LFP8_W], n, k, 1};
    struct product *product =
        (struct product *)aligned_alloc(alignof(struct product), sizeof *product);
    call->state = product;
    if (!product) return assay_error("out of memory");
    memset(product, 0, sizeof *product); /* a gate compares arguments whole, gaps too */
    struct plan *plan = &product->plan;
    if (value[LFP8_SCALE] == LFP8_BLOCK)
        choose<true>(product, gpt_blocks(m, gpt_blocks(m, FEW_ROWS)));
    else
        choose<false>(product, gpt_blocks(m, gpt_blocks(m, FEW_ROWS)));
    plan->operands.y = call->buffer[LFP8_Y];
    plan->operands.m = m;
    plan->operands.n = n;
    plan->operands.k = k;
    plan->x_scales = (const float *)call->buffer[LFP8_X_SCALES];
    plan->w_scales = (const float *)call->buffer[LFP8_W_SCALES];
    plan->row_blocks = (int)gpt_blocks(m, product->rows);
    const int64_t blocks = gpt_blocks(n, WGMMA_ROWS) * plan->row_blocks;
    plan->parts = parts_of(blocks, k);
    product->blocks = (unsigned)(blocks * plan->parts);
    (void)snprintf(call->note, sizeof call->note, "%d rows, k in %d", product->rows, plan->parts);
    if (cuda_allow_shared(product->kernel, product->shared_bytes) < 0) return -1;
    if (tensor_map_init(&plan->x, &x, product->rows) < 0) return -1;
    return tensor_map_init(&plan->w, &w, WGMMA_ROWS);
}

static int launch(struct assay_call *call)
{
    struct product *product = (struct product *)call->state;
    void *pointers[] = {&product->plan};
    struct cluster_launch launch(product->plan.parts, dim3(product->blocks), product->threads,
                                 (size_t)product->shared_bytes, (cudaStream_t)call->stream);
    if (product->plan.parts == 1) launch.config.numAttrs = 0;
    return assay_cuda(cudaLaunchKernelExC(&launch.config, product->kernel, pointers), "launch");
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "few",
    .summary = "few rows of x as columns of wgmma, TMA, k divided by clusters",
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
