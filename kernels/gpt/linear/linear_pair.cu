/*
 * linear_pair.cu - the tiles of linear_pair.cuh, which of them a shape gets, and the variant.
 *
 * Operations: 2 m n k. Bytes from L2: x n / COLUMNS times and w m / ROWS times, divided by how many
 * blocks share them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"
#include "linear.cuh"
#include "linear_pair.cuh"

enum {
    PAIR_TWO_BYTES = 111 * 1024,  /* of stages, of two blocks on a multiprocessor */
    PAIR_STEP_BYTES = 180 * 1024, /* of stages, beside a block of the attention behind it */
    PAIR_LEAST = 3,               /* stages of a ring that is worth a second block */
    PAIR_ROUNDS = 4,              /* of a full device; more are for persistent blocks */
    PAIR_IDLE = 8,                /* one of so many rows or columns of tiles may be outside y */
    PAIR_GRID_MOST = 65535,       /* blocks along y */
};

typedef void pair_kernel(const struct linear_pair_plan plan);

struct pair_tile {
    pair_kernel *kernel;
    int rows, columns;
    int stage_bytes, stages; /* of the ring, at most */
    int held;                /* stages that hold a tile's outputs */
    int blocks;              /* on a multiprocessor, by their registers */
    int threads;
    int read;    /* rows of a stage that its warpgroups read */
    bool is_one; /* warpgroup: nothing is multiplied while it does anything else */
};

template <typename T, int DOWN, int ACROSS, int WIDTH> static constexpr struct pair_tile tile(void)
{
    using config = pair_config<T, DOWN, ACROSS, WIDTH>;
    return {linear_pair_kernel<config>,
            config::ROWS,
            config::COLUMNS,
            config::STAGE_BYTES,
            config::MOST,
            config::HELD,
            config::BLOCKS,
            config::THREADS,
            DOWN * ACROSS * (WGMMA_ROWS + WIDTH),
            DOWN * ACROSS == 1};
}

template <typename T>
static constexpr struct pair_tile pair_tiles[LINEAR_PAIR_TILES] = {
    tile<T, 2, 1, 128>(), tile<T, 2, 1, 144>(), tile<T, 2, 1, 192>(), tile<T, 1, 2, 64>(),
    tile<T, 2, 1, 224>(), tile<T, 1, 1, 64>(),  tile<T, 1, 1, 80>(),  tile<T, 1, 1, 96>(),
    tile<T, 1, 2, 80>(),  tile<T, 1, 2, 96>(),  tile<T, 2, 1, 96>(),  tile<T, 2, 1, 112>(),
    tile<T, 2, 1, 160>(), tile<T, 3, 1, 96>(),  tile<T, 3, 1, 112>(),
};

struct pair_sharing {
    int log_down, log_across;
    const char *text;
};

static const struct pair_sharing sharings[LINEAR_PAIR_SHARES] = {
    {0, 0, ""},         {1, 0, ", w shared"},       {0, 1, ", x shared"},       {2, 0, ", w by 4"},
    {0, 2, ", x by 4"}, {2, 1, ", w by 4, x by 2"}, {1, 2, ", w by 2, x by 4"},
};

static const struct pair_tile *tile_of(int tile, enum gpt_precision precision)
{
    return precision == GPT_BF16 ? &pair_tiles<uint16_t>[tile] : &pair_tiles<fp16_t>[tile];
}

static unsigned whole(int64_t count, int log)
{
    return (unsigned)(((count - 1) >> log) + 1) << log;
}

/* Blocks, in whole clusters. */
static dim3 grid_of(const struct pair_tile *of, enum linear_pair_share share,
                    const struct linear_operands *operands)
{
    return dim3(whole(gpt_blocks(operands->m, of->rows), sharings[share].log_down),
                whole(gpt_blocks(operands->n, of->columns), sharings[share].log_across));
}

static bool suits(const struct pair_tile *of, enum linear_pair_share share,
                  const struct linear_operands *operands)
{
    const dim3 grid = grid_of(of, share, operands);
    const int64_t bands = gpt_blocks(operands->m, of->rows);
    const int64_t columns = gpt_blocks(operands->n, of->columns);
    if (operands->transposed || operands->n % 8 || operands->k % 8) return false;
    if ((of->rows >> sharings[share].log_across) % 8 ||
        (of->columns >> sharings[share].log_down) % 8)
        return false;
    if ((grid.x - bands) * PAIR_IDLE > bands || (grid.y - columns) * PAIR_IDLE > columns)
        return false;
    return grid.y <= PAIR_GRID_MOST &&
           (int64_t)grid.x * grid.y <= (int64_t)PAIR_ROUNDS * assay_card()->multiprocessors;
}

/* How many blocks are on a multiprocessor: two where there are enough of them and the stages of
 * both fit. */
static int together_of(const struct pair_tile *of, dim3 grid)
{
    const bool room = of->blocks > 1 && PAIR_TWO_BYTES / of->stage_bytes >= PAIR_LEAST;
    return room && (int)(grid.x * grid.y) > assay_card()->multiprocessors ? 2 : 1;
}

/* About how many cycles a product takes: of one multiprocessor, its blocks' stages, each as long as
 * its products, as its rows are read from shared memory, or as those of all multiprocessors come
 * out of L2 or get to them; what each round of blocks takes besides, and a cluster. The numbers fit
 * 1035 times of 16 shapes and 112 tiles on an H200 (a tenth off in the middle): the fastest was
 * within 0.8 % of one of the first ten. */
static double expected_cycles(const struct pair_tile *of, enum linear_pair_share share,
                              const struct linear_operands *operands)
{
    const struct pair_sharing *by = &sharings[share];
    const dim3 grid = grid_of(of, share, operands);
    const double count = (double)grid.x * grid.y, processors = assay_card()->multiprocessors;
    const double blocks = ceil(count / processors), rounds = ceil(blocks / together_of(of, grid));
    const double stages = (double)gpt_blocks(operands->k, PAIR_DEPTH);
    const double rows = fmin(of->rows, (double)operands->m), active = fmin(count, processors);
    const double from_l2 = rows / (1 << by->log_across) + of->columns / (double)(1 << by->log_down);
    const double products = of->rows * of->columns / 32.0 + (of->is_one ? 67 : 0);
    const double read = 1.28 * of->read, row_bytes = active * WGMMA_ROW_BYTES;
    const double fetched = row_bytes * fmax(from_l2 / 5370, (rows + of->columns) / 9460);
    const double cluster = share ? 300 + 60 * (by->log_down + by->log_across) : 0;
    return blocks * (stages * fmax(fmax(products, read), fetched) + of->rows * of->columns / 12.0) +
           rounds * 3470 + cluster;
}

/* The stages of the ring, at most so many, and its bytes, which hold the outputs too. */
static void make_ring(struct linear_pair *product, int most)
{
    const struct pair_tile *of = product->tile;
    struct linear_pair_plan *plan = &product->plan;
    plan->stages = most < plan->steps ? most : plan->steps;
    const int held = plan->stages > of->held ? plan->stages : of->held;
    product->shared_bytes = PAIR_ALIGN + held * of->stage_bytes;
}

/* Boxes of what a block fetches at a time: of the operand that is shared, half. Rows of x that are
 * not there need not be fetched: they reach only outputs that are not stored. */
static int make_maps(struct linear_pair *product, const struct linear_operands *operands)
{
    const struct pair_tile *of = product->tile;
    struct linear_pair_plan *plan = &product->plan;
    const struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, 2};
    const struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, 2};
    const struct tensor_map_matrix y = {operands->y, operands->m, operands->n, 2};
    const int rows = plan->log_across || operands->m > of->rows ? of->rows : (int)operands->m;
    plan->stage_bytes = (rows + of->columns) * WGMMA_ROW_BYTES;
    if (tensor_map_init(&plan->x, &x, rows >> plan->log_across) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, of->columns >> plan->log_down) < 0) return -1;
    return tensor_map_init(&plan->y, &y, LINEAR_STORE_ROWS);
}

int linear_pair_make(struct linear_pair *product, const struct linear_pair_how *how,
                     const struct linear_operands *operands, enum gpt_precision precision)
{
    const struct pair_tile *of = tile_of(how->tile, precision);
    struct linear_pair_plan *plan = &product->plan;
    if (!suits(of, how->share, operands)) return assay_error("no tile for this shape");
    memset(product, 0, sizeof *product); /* a gate compares arguments whole, gaps too */
    const dim3 grid = grid_of(of, how->share, operands);
    product->tile = of;
    product->down = grid.x;
    product->across = grid.y;
    plan->across = how->share == LINEAR_PAIR_NONE && operands->m > operands->n;
    plan->log_down = sharings[how->share].log_down;
    plan->log_across = sharings[how->share].log_across;
    plan->below = (1 << (1 << plan->log_down)) - 1;
    for (int i = 0; i < 1 << plan->log_across; i++)
        plan->beside |= 1 << (i << plan->log_down);
    product->share = how->share;
    plan->steps = (int)gpt_blocks(operands->k, PAIR_DEPTH);
    plan->m = (int)operands->m;
    plan->n = (int)operands->n;
    plan->bias = operands->bias;
    plan->base = operands->y;
    plan->finish = operands->finish;
    make_ring(product, together_of(of, grid) > 1 ? PAIR_TWO_BYTES / of->stage_bytes : of->stages);
    if (cuda_allow_shared((const void *)of->kernel, PAIR_ALIGN + PAIR_ALONE_BYTES) < 0) return -1;
    return make_maps(product, operands);
}

struct pair_offer {
    struct linear_pair_how how;
    double cycles;
};

static int by_cycles(const void *a, const void *b)
{
    const double left = ((const struct pair_offer *)a)->cycles;
    const double right = ((const struct pair_offer *)b)->cycles;
    return (left > right) - (left < right);
}

int linear_pair_order(struct linear_pair_how *hows, int most,
                      const struct linear_operands *operands, enum gpt_precision precision)
{
    struct pair_offer offers[LINEAR_PAIR_TILES * LINEAR_PAIR_SHARES];
    int count = 0;
    for (int i = 0; i < LINEAR_PAIR_TILES * LINEAR_PAIR_SHARES; i++) {
        const struct linear_pair_how how = {i / LINEAR_PAIR_SHARES,
                                            (enum linear_pair_share)(i % LINEAR_PAIR_SHARES)};
        const struct pair_tile *of = tile_of(how.tile, precision);
        if (suits(of, how.share, operands))
            offers[count++] = {how, expected_cycles(of, how.share, operands)};
    }
    qsort(offers, (size_t)count, sizeof *offers, by_cycles);
    if (count > most) count = most;
    for (int i = 0; i < count; i++)
        hows[i] = offers[i].how;
    return count;
}

int linear_pair_choose(struct linear_pair *products, int most,
                       const struct linear_operands *operands, enum gpt_precision precision)
{
    struct linear_pair_how hows[LINEAR_PAIR_TILES * LINEAR_PAIR_SHARES];
    const int count = linear_pair_order(hows, most, operands, precision);
    for (int i = 0; i < count; i++)
        if (linear_pair_make(&products[i], &hows[i], operands, precision) < 0) return -1;
    return count;
}

void linear_pair_make_step(struct linear_pair *product, const void *residual)
{
    const int beside = PAIR_STEP_BYTES / product->tile->stage_bytes;
    if (beside < product->plan.stages) make_ring(product, beside);
    product->plan.residual = residual;
    product->plan.dependent = 1;
}

/* Without a cluster or a kernel before, a plain launch, which starts sooner. */
int linear_pair_enqueue(const struct linear_pair *product, cudaStream_t stream)
{
    void *pointers[] = {(void *)&product->plan};
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = product->plan.across ? dim3(product->across, product->down)
                                          : dim3(product->down, product->across);
    config.blockDim = dim3((unsigned)product->tile->threads);
    config.dynamicSmemBytes = (size_t)product->shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (product->share) {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim = {1u << product->plan.log_down,
                                        1u << product->plan.log_across, 1};
        config.numAttrs = 1;
    }
    if (product->plan.dependent) attributes[config.numAttrs++] = dependent_attribute();
    return assay_cuda(cudaLaunchKernelExC(&config, (const void *)product->tile->kernel, pointers),
                      "launch");
}

void linear_pair_tile(int tile, int *rows, int *columns)
{
    const struct pair_tile *of = tile_of(tile, GPT_BF16);
    *rows = of->rows;
    *columns = of->columns;
}

void linear_pair_name(const struct linear_pair *product, char *out, size_t size)
{
    (void)snprintf(out, size, "pair %d x %d%s", product->tile->rows, product->tile->columns,
                   sharings[product->share].text);
}

/* ----------------------------------------------------------------- variant -- */

static int setup(struct assay_call *call)
{
    struct linear_pair *product =
        (struct linear_pair *)aligned_alloc(alignof(struct linear_pair), sizeof *product);
    struct linear_operands operands;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    const int made = linear_pair_choose(product, 1, &operands,
                                        (enum gpt_precision)call->shape->value[LINEAR_PRECISION]);
    if (made < 0) return -1;
    if (made == 0) {
        (void)assay_error("more tiles than are worth a block each");
        return ASSAY_SKIP;
    }
    linear_pair_name(product, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    if (linear_pair_enqueue((const struct linear_pair *)call->state, (cudaStream_t)call->stream) <
        0)
        return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const char *supports(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[LINEAR_PRECISION]) != 2) return "bf16 and fp16 only";
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    if (shape->value[LINEAR_N] % 8) return "n must be a multiple of 8";
    return linear_unaligned(shape);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "pair",
    .summary = "Hopper's tensor cores, a tile per block, operands shared by up to eight blocks",
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
