/*
 * linear_fp32.cu - the sizes of tile of linear_fp32.cuh, and a variant that chooses one.
 *
 * The tiles' stages are shared evenly by the blocks that fit on the device (linear_parts.h): 1536^3
 * has 72 tiles of 256 x 128 for 132 blocks. Few tiles are divided alike, each in as many parts as
 * fit: 104 x 318 x 18000 in tiles of 64 x 64 has 10, each of 52 parts. `best` tries both, and
 * clusters.
 *
 * Operations: 2 m n k in fp32. Bytes from L2: x n / 128 or n / 64 times, w m / 32 to m / 256 times.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "linear_fp32.cuh"

typedef void fp32_kernel(const struct linear_fp32);

struct tiling {
    int rows, columns, threads, sums, shared_bytes;
    double rate; /* of its multiply-adds, beside the first: more is read from shared memory */
    fp32_kernel *kernel;
};

template <enum linear_finish FINISH, int ROWS, int COLUMNS, int LANES, int DOWN, int ACROSS,
          int BLOCKS>
static constexpr struct tiling tiling_of(double rate)
{
    using tile = fp32_tile<ROWS, COLUMNS, LANES, DOWN, ACROSS, BLOCKS, FINISH>;
    return {
        tile::ROWS, tile::COLUMNS,           tile::THREADS, tile::SUMS, fp32_shared_bytes<tile>(),
        rate,       linear_fp32_kernel<tile>};
}

template <enum linear_finish FINISH>
static constexpr struct tiling tilings[LINEAR_FP32_TILINGS] = {
    tiling_of<FINISH, 16, 8, 8, 2, 4, 1>(1.0),  /* 256 x 128 */
    tiling_of<FINISH, 8, 8, 8, 1, 4, 3>(1.0),   /* 64 x 128 */
    tiling_of<FINISH, 8, 8, 8, 2, 2, 3>(1.0),   /* 128 x 64 */
    tiling_of<FINISH, 12, 8, 4, 1, 2, 4>(0.95), /* 48 x 128 */
    tiling_of<FINISH, 8, 4, 8, 1, 4, 4>(0.85),  /* 64 x 64 */
    tiling_of<FINISH, 8, 8, 4, 1, 2, 4>(0.85),  /* 32 x 128 */
};

static const struct tiling *tiling_of(int tiling, const struct linear_operands *operands)
{
    return operands->finish == LINEAR_GELU ? &tilings<LINEAR_GELU>[tiling]
                                           : &tilings<LINEAR_PLAIN>[tiling];
}

void linear_fp32_name(const struct linear_fp32 *product, char *out, size_t size)
{
    const struct tiling *of = tiling_of(product->tiling, &product->operands);
    if (product->cluster > 1)
        (void)snprintf(out, size, "fp32 %d x %d, k in %d", of->rows, of->columns, product->cluster);
    else
        (void)snprintf(out, size, "fp32 %d x %d", of->rows, of->columns);
}

/* Blocks on a multiprocessor, and no more than the parts have room for; -1. */
static int fit(const struct tiling *of)
{
    const int warps = TILE_PARTS_SUMS / 32 / of->sums;
    int blocks;
    if (cuda_allow_shared((const void *)of->kernel, of->shared_bytes) < 0) return -1;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, of->kernel, of->threads,
                                                                 (size_t)of->shared_bytes),
                   "blocks of a multiprocessor") < 0)
        return -1;
    if (blocks <= 0) return assay_error("no block fits");
    return blocks < warps * 32 / of->threads ? blocks : warps * 32 / of->threads;
}

/* A product in whole tiles. */
static void start(struct linear_fp32 *product, int tiling, const struct linear_operands *operands)
{
    const struct tiling *of = tiling_of(tiling, operands);
    *product = {*operands, {}, tiling, 0, 0, {}, 0, 1};
    product->bands = (int)gpt_blocks(operands->m, of->rows);
    product->columns = (int)gpt_blocks(operands->n, of->columns);
    product->division.tiles = product->bands * product->columns;
    product->division.depth = (int)gpt_blocks(operands->k, FP32_DEPTH);
}

int linear_fp32_init(struct linear_fp32 *product, int tiling, enum linear_parts_how how,
                     const struct linear_operands *operands, const struct tile_parts *parts)
{
    const int blocks = fit(tiling_of(tiling, operands));
    if (blocks < 0) return -1;
    start(product, tiling, operands);
    product->parts = *parts;
    product->division = linear_division_of(how, product->division.tiles, product->division.depth,
                                           blocks * assay_card()->multiprocessors, FP32_PARTS);
    product->blocks = product->division.shares;
    return 0;
}

int linear_fp32_init_clusters(struct linear_fp32 *product, int tiling, int cluster,
                              const struct linear_operands *operands)
{
    if (!assay_card()->arch_specific) return assay_error("no clusters");
    const int blocks = fit(tiling_of(tiling, operands));
    if (blocks < 0) return -1;
    start(product, tiling, operands);
    if (product->division.depth < cluster * LINEAR_PARTS_LEAST)
        return assay_error("k is too short for %d parts", cluster);
    if (product->division.tiles > blocks * assay_card()->multiprocessors / cluster)
        return assay_error("more tiles than clusters fit");
    product->cluster = cluster;
    product->blocks = product->division.tiles * cluster;
    return 0;
}

int linear_fp32_enqueue(const struct linear_fp32 *product, cudaStream_t stream)
{
    const struct tiling *of = tiling_of(product->tiling, &product->operands);
    struct cluster_launch launch(product->cluster, dim3((unsigned)product->blocks), of->threads,
                                 (size_t)of->shared_bytes, stream);
    if (product->cluster == 1) launch.config.numAttrs = 0; /* plain launches start sooner */
    return assay_cuda(cudaLaunchKernelEx(&launch.config, of->kernel, *product), "launch");
}

/* ----------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return linear_only<GPT_FP32>(shape);
}

/* The tiling with the fewest multiply-adds, those outside included, for its rate, of those that the
 * card has room for. */
static int choose(const struct linear_operands *operands)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < LINEAR_FP32_TILINGS; i++) {
        const struct tiling *of = tiling_of(i, operands);
        if (of->shared_bytes > assay_card()->shared_bytes) continue;
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
    struct tile_parts parts;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = tile_parts_init(&parts, call);
    product->parts = parts;
    if (status) return status;
    const int tiling = choose(&operands);
    if (linear_fp32_init(product, tiling, LINEAR_ALIKE, &operands, &parts) < 0) return -1;
    if (product->division.ways == 0 || product->division.split < product->division.tiles)
        if (linear_fp32_init(product, tiling, LINEAR_EVENLY, &operands, &parts) < 0) return -1;
    linear_fp32_name(product, call->note, sizeof call->note);
    return 0;
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
    .summary = "fp32, tiles of 32 x 128 to 256 x 128, 32 to 128 outputs per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
