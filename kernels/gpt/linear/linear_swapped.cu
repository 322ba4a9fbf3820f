/*
 * linear_swapped.cu - which of the tiles of linear_swapped_tiles.cuh a shape gets, and the variant.
 *
 * Operations: 2 m n k. Bytes from L2: w m / ROWS times, half of that where blocks share it; x n /
 * COLUMNS times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/tensor_map.h"
#include "linear_swapped_fit.cuh"

enum {
    SWAPPED_MOST = 32,  /* offers that are kept */
    SWAPPED_WAYS = 7,   /* 1, 2, 4 or 8 parts, */
    SWAPPED_SHARED = 4, /* one whose blocks share w, */
    SWAPPED_APART = 5,  /* as many as fill the device, apart, and */
    SWAPPED_TURNS = 6,  /* one whose blocks stay */
    SWAPPED_LOWEST = 6, /* bands of a group */
    SWAPPED_HIGHEST = 12,
};

static struct swapped_table table_of(const struct linear_operands *operands,
                                     enum gpt_precision precision)
{
    return operands->finish == LINEAR_GELU ? linear_swapped_gelu_tiles(precision)
                                           : swapped_table_of<LINEAR_PLAIN>(precision);
}

/* Whether a tile of fewer rows does the same: then this one multiplies more for nothing. */
static bool is_outdone(const struct swapped_tile *of, bool turns,
                       const struct linear_operands *operands, const struct swapped_table *tiles)
{
    const int rows = rows_of(of, operands);
    for (int i = 0; i < tiles->count; i++) {
        const struct swapped_tile *other = &tiles->tile[i];
        if ((turns ? other->turns : other->kernel) && other->by_tma == of->by_tma &&
            other->columns == of->columns && other->rows < of->rows &&
            rows_of(other, operands) == rows)
            return true;
    }
    return false;
}

/* Whether the blocks of a cluster do the same. */
static bool is_cluster(int parts)
{
    return parts <= 8 && (parts & (parts - 1)) == 0;
}

struct swapped_offer {
    struct linear_swapped_how how;
    double cycles;
};

/* Keep the best `most` in order. How many there are. */
static int keep(struct swapped_offer *offers, int count, int most, struct swapped_offer offer)
{
    int at = count;
    while (at > 0 && offers[at - 1].cycles > offer.cycles)
        at--;
    if (at == most) return count;
    if (count < most) count++;
    memmove(offers + at + 1, offers + at, (size_t)(count - at - 1) * sizeof *offers);
    offers[at] = offer;
    return count;
}

/* Bands of a group. In one round, so that neighbouring blocks read the same rows of the larger
 * operand: one where that is x (3384 x 712 x 20864 took 160 us with eleven, and 137). Of w: all, or
 * where they are many so many, or a few less or more, that the last group has few too few. An even
 * number of them where two share. */
static int height_of(int bands, int64_t blocks, bool shares, const struct linear_operands *operands)
{
    int best = bands;
    if (blocks <= assay_card()->multiprocessors && operands->m > operands->n) return 1 + shares;
    if (bands <= SWAPPED_HIGHEST) return bands;
    for (int height = SWAPPED_LOWEST; height <= SWAPPED_HIGHEST; height += shares ? 2 : 1) {
        const int missing = (int)gpt_blocks(bands, height) * height - bands;
        if (best == bands || missing <= (int)gpt_blocks(bands, best) * best - bands) best = height;
    }
    return gpt_blocks(bands, best) > SWAPPED_GRID_MOST ? bands : best;
}

static int make_maps(struct linear_swapped_plan *plan, const struct swapped_tile *of,
                     const struct linear_operands *operands)
{
    const int bytes = WGMMA_ROW_BYTES / of->depth;
    const struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, bytes};
    const struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, bytes};
    const struct tensor_map_matrix y = {operands->y, operands->m, operands->n, of->output_bytes};
    const int rows = of->rows > SWAPPED_BOX ? plan->rows / 2 : plan->rows;
    if (of->by_tma && (tensor_map_init(&plan->x, &x, rows) < 0 ||
                       tensor_map_init(&plan->w, &w, plan->wide >> plan->shares) < 0))
        return -1;
    return plan->finish == LINEAR_SWAPPED_PANELS ? tensor_map_init(&plan->y, &y, rows) : 0;
}

static void turns_init(struct linear_swapped_turns *turns, const struct linear_swapped_plan *plan)
{
    const int columns = (int)gpt_blocks(plan->operands.n, plan->wide);
    turns->tiles = plan->bands * columns;
    turns->group = plan->height * columns;
    turns->last = (plan->bands - 1) / plan->height;
    turns->last_height = plan->bands - turns->last * plan->height;
    turns->per_group = 1.0f / (float)turns->group;
    turns->per_height = 1.0f / (float)plan->height;
    turns->per_last = 1.0f / (float)turns->last_height;
}

static const void *kernel_of(const struct linear_swapped *product)
{
    const struct swapped_tile *of = product->tile;
    return (const void *)(product->plan.turns.tiles > 0 ? of->turns : of->kernel);
}

static int make(struct linear_swapped *product, const struct swapped_tile *of,
                const struct linear_swapped_how *how, const struct linear_operands *operands,
                const struct tile_parts *sums)
{
    const struct swapped_room room = room_of(of, how, operands);
    struct linear_swapped_plan *plan = &product->plan;
    if (!suits(of, how, operands)) return assay_error("no tile for this shape");
    memset(product, 0, sizeof *product); /* a gate compares arguments whole, gaps too */
    product->tile = of;
    plan->operands = *operands;
    plan->bands = bands_of(of, operands);
    plan->height =
        height_of(plan->bands, tiles_of(of, how, operands) * how->parts, how->shares, operands);
    plan->rows = rows_of(of, operands);
    plan->wide = wide_of(of, how);
    while (!how->apart && 1 << plan->log_parts < how->parts)
        plan->log_parts++;
    const int steps = (int)gpt_blocks(operands->k, of->depth);
    plan->parts = how->parts;
    plan->each = steps / how->parts;
    plan->more = steps % how->parts;
    if (how->apart) plan->sums = *sums;
    plan->finish = finish_of(of, how, operands);
    plan->stages = room.stages;
    plan->shares = how->shares;
    plan->across = how->apart && operands->m > operands->n;
    if (how->turns) turns_init(&plan->turns, plan);
    product->shared_bytes = room.bytes;
    if (cuda_allow_shared(kernel_of(product), SWAPPED_ALIGN + SWAPPED_ALONE_BYTES) < 0) return -1;
    return make_maps(plan, of, operands);
}

int linear_swapped_make(struct linear_swapped *product, const struct linear_swapped_how *how,
                        const struct linear_operands *operands, enum gpt_precision precision,
                        const struct tile_parts *sums)
{
    return make(product, table_of(operands, precision).tile + how->tile, how, operands, sums);
}

int linear_swapped_choose_of(struct linear_swapped *products, int most,
                             const struct swapped_table *tiles,
                             const struct linear_operands *operands, const struct tile_parts *sums)
{
    struct swapped_offer offers[SWAPPED_MOST];
    int count = 0;
    if (most > SWAPPED_MOST) most = SWAPPED_MOST;
    for (int i = 0; i < tiles->count * SWAPPED_WAYS; i++) {
        const int way = i % SWAPPED_WAYS, parts = way < SWAPPED_SHARED ? 1 << way : 1;
        struct swapped_offer offer = {{i / SWAPPED_WAYS, 0, parts, way == SWAPPED_SHARED,
                                       way == SWAPPED_APART, way == SWAPPED_TURNS},
                                      0};
        const struct swapped_tile *of = &tiles->tile[offer.how.tile];
        if (is_outdone(of, offer.how.turns, operands, tiles)) continue;
        for (; offer.how.narrow < of->columns; offer.how.narrow += LINEAR_SWAPPED_NARROW) {
            if (offer.how.apart) offer.how.parts = parts_apart(of, &offer.how, operands);
            if (offer.how.apart && is_cluster(offer.how.parts)) continue;
            if (!suits(of, &offer.how, operands)) continue;
            offer.cycles = expected_cycles(of, &offer.how, operands);
            count = keep(offers, count, most, offer);
        }
    }
    for (int i = 0; i < count; i++)
        if (make(&products[i], &tiles->tile[offers[i].how.tile], &offers[i].how, operands, sums) <
            0)
            return -1;
    return count;
}

int linear_swapped_choose(struct linear_swapped *products, int most,
                          const struct linear_operands *operands, enum gpt_precision precision,
                          const struct tile_parts *sums)
{
    const struct swapped_table tiles = table_of(operands, precision);
    return linear_swapped_choose_of(products, most, &tiles, operands, sums);
}

bool linear_swapped_cut(const struct linear_swapped *product)
{
    return product->plan.wide < product->tile->columns;
}

/* Blocks of one part of k that is apart are neighbours, as they read the same rows (321 x 216 x
 * 23808: 16.2 us where those of one tile were, and 12.8). */
static dim3 grid_of(const struct linear_swapped_plan *plan)
{
    const unsigned columns = gpt_blocks(plan->operands.n, plan->wide);
    if (plan->turns.tiles > 0)
        return dim3((unsigned)min(plan->turns.tiles, assay_card()->multiprocessors));
    if (plan->finish == LINEAR_SWAPPED_APART)
        return plan->across ? dim3(columns, (unsigned)plan->bands, (unsigned)plan->parts)
                            : dim3((unsigned)plan->bands, columns, (unsigned)plan->parts);
    return dim3((unsigned)(plan->height * plan->parts), columns,
                gpt_blocks(plan->bands, plan->height));
}

int linear_swapped_enqueue(const struct linear_swapped *product, cudaStream_t stream)
{
    const struct swapped_tile *of = product->tile;
    const struct linear_swapped_plan *plan = &product->plan;
    void *pointers[] = {(void *)plan};
    const bool apart = plan->finish == LINEAR_SWAPPED_APART;
    const int cluster = plan->shares ? 2 : apart ? 1 : plan->parts;
    struct cluster_launch launch(cluster, grid_of(plan), of->threads, (size_t)product->shared_bytes,
                                 stream);
    if (cluster == 1) launch.config.numAttrs = 0; /* plain launches start sooner */
    if (apart) {
        launch.attribute.id = cudaLaunchAttributeCooperative; /* all blocks are there, or none */
        launch.attribute.val.cooperative = 1;
        launch.config.numAttrs = 1;
    }
    return assay_cuda(cudaLaunchKernelExC(&launch.config, kernel_of(product), pointers), "launch");
}

void linear_swapped_name(const struct linear_swapped *product, char *out, size_t size)
{
    const struct linear_swapped_plan *plan = &product->plan;
    (void)snprintf(out, size, "%d x %d%s, k in %d%s", product->tile->rows, plan->wide,
                   plan->shares            ? ", w shared"
                   : plan->turns.tiles > 0 ? ", in turns"
                   : product->tile->by_tma ? ""
                                           : " copied",
                   plan->parts, plan->finish == LINEAR_SWAPPED_APART ? " apart" : "");
}

/* ----------------------------------------------------------------- variant -- */

struct state {
    struct linear_swapped product;
    struct tile_parts sums;
};

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)aligned_alloc(alignof(struct state), sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = tile_parts_init(&state->sums, call);
    if (status) return status;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    if (linear_swapped_choose(&state->product, 1, &operands,
                              (enum gpt_precision)call->shape->value[LINEAR_PRECISION],
                              &state->sums) != 1)
        return assay_error("no tile for this shape");
    linear_swapped_name(&state->product, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    if (linear_swapped_enqueue(&state->product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state) cudaFree(state->sums.sums);
    free(state);
}

static const char *supports(const struct assay_shape *shape)
{
    const int64_t precision = shape->value[LINEAR_PRECISION];
    if (precision == GPT_FP32) return "tf32, bf16 and fp16 only";
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return linear_unaligned(shape);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "swapped",
    .summary = "Hopper's tensor cores, rows of w as wgmma's rows, tiles of 8 x 64 to 272 x 128",
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
