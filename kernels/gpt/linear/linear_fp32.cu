/*
 * linear_fp32.cu - the product in fp32 on the CUDA cores: tiles of 32 x 64 to 128 x 128 outputs, 8
 * x 8 per thread.
 *
 * A stage is 16 of k. Each thread loads its share of the next stage into registers while it
 * multiplies this one, and then writes it to the other half of shared memory, transposed: there,
 * rows are k, so that a thread reads four rows of x or w at a time, and so that the operands of a
 * multiply-add lie in registers that the compiler may place freely. A warp's reads are of 128
 * bytes of one operand and of 64 of the other; its writes go to 32 different banks.
 *
 * The tiles' stages are shared evenly by the blocks that fit on the device (linear_parts.h): 1536^3
 * has 144 tiles of 128 x 128 for 264 blocks. `best` also tries shares that are alike, since blocks
 * at different places of k share nothing in L2: of 1067 x 816 x 10880 the even ones read 443 MB.
 *
 * Operations: 2 m n k in fp32. Bytes from L2: x n / 128 times and w m / 32 to m / 128 times.
 */
#include <stdio.h>
#include <stdlib.h>

#include "linear.cuh"
#include "linear_fp32.h"
#include "linear_order.h"

enum {
    FP32_DEPTH = 16, /* of k, a stage */
    FP32_EACH = 8,   /* rows and columns of outputs, a thread */
    FP32_GROUP = 8,
    FP32_WARPS = 16, /* on a multiprocessor, at most */
    FP32_SUMS = FP32_EACH * FP32_EACH,
};

/* Tiles of ROWS x COLUMNS, the lanes of a warp LANES deep. */
template <int ROWS_, int COLUMNS_, int LANES_> struct fp32_tile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, LANES = LANES_;
    static_assert(LANES == 4 || LANES == 8, "lanes");
    static constexpr int WARP_ROWS = LANES * FP32_EACH, WARP_COLUMNS = 32 / LANES * FP32_EACH;
    static constexpr int WARPS_DOWN = ROWS / WARP_ROWS, WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
    static constexpr int WARPS = WARPS_DOWN * WARPS_ACROSS, THREADS = 32 * WARPS;
    /* On a multiprocessor: 128 registers per thread, or 168 where a share has more chunks. */
    static constexpr int BLOCKS = WARPS == 8 ? 2 : 12 / WARPS;
};

/* A stage of one operand in shared memory, k by k; rows start on 16 bytes. */
template <int ROWS> struct fp32_stage {
    float at[FP32_DEPTH][ROWS + 4];
};

/* A thread's share of a stage of one operand, in chunks of four of k: successive threads have
 * successive rows. */
template <int ROWS, int THREADS> struct fp32_share {
    static constexpr int CHUNKS = ROWS * FP32_DEPTH / 4 / THREADS;
    static constexpr int WHOLE = FP32_DEPTH / 4;
    static constexpr int OWN = THREADS >= ROWS ? 1 : ROWS / THREADS; /* rows of a thread */
    const float *from[OWN];
    float4 chunk[CHUNKS];

    static __device__ __forceinline__ int row(int i)
    {
        return THREADS >= ROWS ? threadIdx.x % ROWS : threadIdx.x + i / WHOLE * THREADS;
    }
    /* Rows outside are loaded as the last one: their outputs are not stored. */
    __device__ __forceinline__ void start(const void *matrix, int64_t row0, int64_t rows, int64_t k)
    {
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            from[i] = (const float *)matrix + min(row0 + row(i * WHOLE), rows - 1) * k;
            asm volatile("" : "+l"(from[i])); /* or it is computed again at every stage */
        }
    }
    static __device__ __forceinline__ int step(int i)
    {
        return THREADS >= ROWS ? threadIdx.x / ROWS * CHUNKS + i : i % WHOLE;
    }
};

/* Four numbers of a row from k0 on; zeros outside. */
template <bool ALIGNED>
static __device__ __forceinline__ float4 fp32_chunk(const float *row, int k0, int k)
{
    float4 chunk = make_float4(0, 0, 0, 0);
    if (ALIGNED) {
        if (k0 < k) chunk = __ldg((const float4 *)(row + k0));
    } else {
        if (k0 < k) chunk.x = __ldg(row + k0);
        if (k0 + 1 < k) chunk.y = __ldg(row + k0 + 1);
        if (k0 + 2 < k) chunk.z = __ldg(row + k0 + 2);
        if (k0 + 3 < k) chunk.w = __ldg(row + k0 + 3);
    }
    return chunk;
}

template <bool ALIGNED, int ROWS, int THREADS>
static __device__ __forceinline__ void fp32_load(fp32_share<ROWS, THREADS> &share, int k0, int k)
{
#pragma unroll
    for (int i = 0; i < share.CHUNKS; i++)
        share.chunk[i] = fp32_chunk<ALIGNED>(share.from[share.OWN == 1 ? 0 : i / share.WHOLE],
                                             k0 + 4 * share.step(i), k);
}

template <int ROWS, int THREADS>
static __device__ __forceinline__ void fp32_keep(fp32_stage<ROWS> &stage,
                                                 const fp32_share<ROWS, THREADS> &share)
{
#pragma unroll
    for (int i = 0; i < share.CHUNKS; i++) {
        int k = 4 * share.step(i), row = share.row(i);
        stage.at[k][row] = share.chunk[i].x;
        stage.at[k + 1][row] = share.chunk[i].y;
        stage.at[k + 2][row] = share.chunk[i].z;
        stage.at[k + 3][row] = share.chunk[i].w;
    }
}

/* A thread's eight of a row of a stage: four, and four more `next` behind. */
static __device__ __forceinline__ void fp32_read(float (&to)[FP32_EACH], const float *from,
                                                 int next)
{
    *(float4 *)to = *(const float4 *)from;
    *(float4 *)(to + 4) = *(const float4 *)(from + next);
}

/* A lane's place among those of its warp, LANES deep. Lanes that differ in bit 1 read the same
 * rows, in bit 0 the same columns: reads of 16 bytes then take half as long, because shared memory
 * serves such pairs together. */
template <int LANES> static __device__ __forceinline__ int fp32_lane_row(int lane)
{
    return (lane & 1) | (lane >> 1 & (LANES == 8 ? 6 : 2));
}

template <int LANES> static __device__ __forceinline__ int fp32_lane_column(int lane)
{
    return (lane >> 1 & 1) | (LANES == 8 ? lane >> 3 & 2 : lane >> 2 & 6);
}

/* Where a thread's outputs begin in the tile; four more are `LANES * 4` below, or beside. */
template <typename TILE> static __device__ __forceinline__ int fp32_row(void)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / TILE::WARPS_ACROSS * TILE::WARP_ROWS + fp32_lane_row<TILE::LANES>(lane) * 4;
}

template <typename TILE> static __device__ __forceinline__ int fp32_column(void)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % TILE::WARPS_ACROSS * TILE::WARP_COLUMNS + fp32_lane_column<TILE::LANES>(lane) * 4;
}

template <typename TILE>
static __device__ __forceinline__ void fp32_multiply(float (&sum)[FP32_SUMS],
                                                     const fp32_stage<TILE::ROWS> &x,
                                                     const fp32_stage<TILE::COLUMNS> &w)
{
    const int row = fp32_row<TILE>(), column = fp32_column<TILE>();
#pragma unroll
    for (int k = 0; k < FP32_DEPTH; k++) {
        float a[FP32_EACH], b[FP32_EACH];
        fp32_read(a, &x.at[k][row], TILE::WARP_ROWS / 2);
        fp32_read(b, &w.at[k][column], TILE::WARP_COLUMNS / 2);
#pragma unroll
        for (int i = 0; i < FP32_EACH; i++)
#pragma unroll
            for (int j = 0; j < FP32_EACH; j++)
                sum[i * FP32_EACH + j] += a[i] * b[j];
    }
}

template <typename TILE> struct fp32_memory {
    fp32_stage<TILE::ROWS> x[2];
    fp32_stage<TILE::COLUMNS> w[2];
};

/* A thread's sums over stages [begin, end) of the tile at (row0, column0). `half` is the half of
 * shared memory that is written first, and then the one that is next. */
template <typename TILE, bool ALIGNED>
static __device__ __forceinline__ void fp32_sum(float (&sum)[FP32_SUMS],
                                                const struct linear_operands &operands,
                                                int64_t row0, int64_t column0, int begin, int end,
                                                fp32_memory<TILE> &memory, int &half)
{
    const int k = (int)operands.k;
    fp32_share<TILE::ROWS, TILE::THREADS> of_x;
    fp32_share<TILE::COLUMNS, TILE::THREADS> of_w;
    auto load = [&](int step) {
        fp32_load<ALIGNED>(of_x, step * FP32_DEPTH, k);
        fp32_load<ALIGNED>(of_w, step * FP32_DEPTH, k);
    };
    auto keep = [&](int where) {
        fp32_keep(memory.x[where], of_x);
        fp32_keep(memory.w[where], of_w);
    };
#pragma unroll
    for (int i = 0; i < FP32_SUMS; i++)
        sum[i] = 0;
    of_x.start(operands.x, row0, operands.m, k);
    of_w.start(operands.w, column0, operands.n, k);
    load(begin);
    keep(half);
    __syncthreads();
    for (int step = begin; step < end; step++) {
        if (step + 1 < end) load(step + 1);
        fp32_multiply<TILE>(sum, memory.x[half], memory.w[half]);
        half ^= 1;
        if (step + 1 < end) keep(half);
        __syncthreads(); /* this stage is read by all, and the next is there */
    }
}

/* Four neighbouring outputs of a row. */
static __device__ __forceinline__ void fp32_put(const struct linear_operands &operands, int64_t row,
                                                int column, const float *sum)
{
    const float *bias = (const float *)operands.bias;
    if (operands.n % 4 != 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            linear_put<float>(operands, row, column + i, sum[i]);
    } else if (row < operands.m && column < operands.n) {
        float4 b = bias ? __ldg((const float4 *)(bias + column)) : make_float4(0, 0, 0, 0);
        *(float4 *)((float *)operands.y + row * operands.n + column) =
            make_float4(sum[0] + b.x, sum[1] + b.y, sum[2] + b.z, sum[3] + b.w);
    }
}

template <typename TILE>
static __device__ __forceinline__ void fp32_store(const struct linear_operands &operands,
                                                  const float (&sum)[FP32_SUMS], int64_t row0,
                                                  int64_t column0)
{
    row0 += fp32_row<TILE>();
    column0 += fp32_column<TILE>();
#pragma unroll
    for (int i = 0; i < FP32_EACH; i++)
#pragma unroll
        for (int j = 0; j < FP32_EACH; j += 4)
            fp32_put(operands, row0 + i / 4 * (TILE::WARP_ROWS / 2) + i % 4,
                     (int)column0 + j / 4 * (TILE::WARP_COLUMNS / 2), sum + i * FP32_EACH + j);
}

/* Blocks that were launched last have the first shares: linear_parts.h. */
template <typename TILE, bool ALIGNED>
static __global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS)
    linear_fp32_kernel(const __grid_constant__ struct linear_fp32 plan)
{
    __shared__ fp32_memory<TILE> memory;
    const int shares = (int)gridDim.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    struct linear_walk walk = linear_walk_of(shares - 1 - (int)blockIdx.x, &plan.division);
    struct linear_unit unit;
    int half = 0;
    auto writer = [&](int share) { return (shares - 1 - share) * TILE::WARPS + warp; };
    while (linear_walk_next(&walk, &unit)) {
        struct linear_tile at = linear_order(unit.tile, plan.bands, plan.columns, FP32_GROUP);
        int64_t row0 = (int64_t)at.band * TILE::ROWS, column0 = (int64_t)at.column * TILE::COLUMNS;
        float sum[1][FP32_SUMS];
        fp32_sum<TILE, ALIGNED>(sum[0], plan.operands, row0, column0, unit.begin, unit.end, memory,
                                half);
        if (unit.begin > 0) {
            linear_part_put(plan.parts, writer(walk.share), sum, lane);
            continue;
        }
        int other;
        for (int i = 0; unit.end < plan.division.depth &&
                        (other = linear_walk_other(&walk, unit.tile, i)) >= 0;
             i++)
            linear_part_add(plan.parts, writer(other), sum, lane);
        fp32_store<TILE>(plan.operands, sum[0], row0, column0);
    }
}

/* ------------------------------------------------------------------ launch -- */

typedef void fp32_kernel(const struct linear_fp32);

struct tiling {
    const char *name;
    int rows, columns, threads;
    double rate; /* of its multiply-adds, beside the first: more is read from shared memory */
    fp32_kernel *kernel[2]; /* k not a multiple of 4, or one */
};

template <int ROWS, int COLUMNS, int LANES>
static constexpr struct tiling tiling_of(const char *name, double rate)
{
    using tile = fp32_tile<ROWS, COLUMNS, LANES>;
    return {name,          ROWS, COLUMNS,
            tile::THREADS, rate, {linear_fp32_kernel<tile, false>, linear_fp32_kernel<tile, true>}};
}

static const struct tiling tilings[LINEAR_FP32_TILINGS] = {
    tiling_of<128, 128, 8>("128 x 128", 1.0), tiling_of<64, 128, 8>("64 x 128", 0.9),
    tiling_of<32, 128, 4>("32 x 128", 0.8),   tiling_of<64, 32, 8>("64 x 32", 0.7),
    tiling_of<32, 64, 4>("32 x 64", 0.7),
};

static fp32_kernel *kernel_of(int tiling, const struct linear_operands *operands)
{
    return tilings[tiling].kernel[operands->k % 4 == 0];
}

const char *linear_fp32_name(int tiling)
{
    return tilings[tiling].name;
}

int linear_fp32_parts(struct linear_parts *parts, struct assay_call *call)
{
    return linear_parts_init(parts, (int64_t)assay_card()->multiprocessors * FP32_WARPS, FP32_SUMS,
                             call);
}

int linear_fp32_init(struct linear_fp32 *product, int tiling, enum linear_parts_how how,
                     const struct linear_operands *operands, const struct linear_parts *parts)
{
    const struct tiling *of = &tilings[tiling];
    int fit;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel_of(tiling, operands),
                                                                 of->threads, 0),
                   "blocks of a multiprocessor") < 0)
        return -1;
    const int most = FP32_WARPS * 32 / of->threads; /* the parts have room for so many */
    fit = (fit < most ? fit : most) * assay_card()->multiprocessors;
    if (fit <= 0) return assay_error("no block fits");
    *product = {*operands, *parts, tiling, 0, 0, {}, fit};
    product->bands = (int)gpt_blocks(operands->m, of->rows);
    product->columns = (int)gpt_blocks(operands->n, of->columns);
    const int depth = (int)gpt_blocks(operands->k, FP32_DEPTH);
    const int tiles = product->bands * product->columns;
    product->division = linear_division_of(how, tiles, depth, fit);
    product->blocks = product->division.shares;
    return 0;
}

int linear_fp32_enqueue(const struct linear_fp32 *product, cudaStream_t stream)
{
    kernel_of(product->tiling,
              &product->operands)<<<(unsigned)product->blocks, tilings[product->tiling].threads, 0,
                                    stream>>>(*product);
    return assay_launched();
}

/* ----------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return linear_only<GPT_FP32>(shape);
}

/* The tiling with the fewest multiply-adds, those outside included, for its rate. */
static int choose(const struct linear_operands *operands)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < LINEAR_FP32_TILINGS; i++) {
        const struct tiling *of = &tilings[i];
        double rows = (double)gpt_blocks(operands->m, of->rows) * of->rows;
        double columns = (double)gpt_blocks(operands->n, of->columns) * of->columns;
        double time = rows * columns / of->rate;
        if (time < least) least = time, best = i;
    }
    return best;
}

static int setup(struct assay_call *call)
{
    struct linear_fp32 *product = (struct linear_fp32 *)calloc(1, sizeof *product);
    struct linear_operands operands;
    struct linear_parts parts;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = linear_fp32_parts(&parts, call);
    product->parts = parts;
    if (status) return status;
    (void)snprintf(call->note, sizeof call->note, "%s", linear_fp32_name(choose(&operands)));
    return linear_fp32_init(product, choose(&operands), LINEAR_EVENLY, &operands, &parts);
}

static int launch(struct assay_call *call)
{
    if (linear_fp32_enqueue((struct linear_fp32 *)call->state, (cudaStream_t)call->stream) < 0)
        return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct linear_fp32 *product = (struct linear_fp32 *)call->state;
    if (product) cudaFree(product->parts.sums);
    free(product);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "fp32_tiles",
    .summary = "fp32, tiles of 32 x 64 to 128 x 128, 8 x 8 outputs per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
