/*
 * linear_swapped.cu - the tiles of linear_swapped.cuh, which of them a shape gets, and the variant.
 *
 * Operations: 2 m n k. Bytes from L2: w m / ROWS times, half of that where blocks share it; x n /
 * COLUMNS times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/tensor_map.h"
#include "linear_swapped.cuh"

enum {
    SWAPPED_MOST = 32,               /* offers that are kept */
    SWAPPED_LEAST = 2,               /* stages of a part */
    SWAPPED_WAYS = 6,                /* 1, 2, 4 or 8 parts, */
    SWAPPED_SHARED = 4,              /* one whose blocks share w, and */
    SWAPPED_APART = 5,               /* as many as fill the device, apart */
    SWAPPED_PAIR_BYTES = 111 * 1024, /* of stages, of two blocks on a multiprocessor */
    SWAPPED_PROCESSOR_BYTES = 228 * 1024,
    SWAPPED_OTHER_BYTES = 2048,       /* barriers, and what the system keeps */
    SWAPPED_PROCESSOR_THREADS = 1024, /* as their registers allow */
    SWAPPED_LOWEST = 6,               /* bands of a group */
    SWAPPED_HIGHEST = 12,
    SWAPPED_GRID_MOST = 65535, /* blocks along y or z */
};

typedef void swapped_kernel(const struct linear_swapped_plan plan);

struct swapped_tile {
    swapped_kernel *kernel;
    int rows, columns, depth, threads;
    int stage_bytes, stages; /* of the ring, at most */
    int sums_bytes;          /* that take the place of the ring */
    bool by_tma;
};

template <typename T, int ROWS, int GROUPS, bool BY_TMA>
static constexpr struct swapped_tile tile(void)
{
    using config = swapped_config<T, ROWS, GROUPS, BY_TMA>;
    return {linear_swapped_kernel<config>,
            ROWS,
            config::W_ROWS,
            config::DEPTH,
            config::THREADS,
            config::STAGE_BYTES,
            BY_TMA ? config::MOST : config::COPIED_STAGES,
            config::SUMS * (int)sizeof(float),
            BY_TMA};
}

template <typename T>
static constexpr struct swapped_tile swapped_tiles[LINEAR_SWAPPED_TILES] = {
    tile<T, 16, 1, true>(),  tile<T, 32, 1, true>(),  tile<T, 48, 1, true>(),
    tile<T, 96, 1, true>(),  tile<T, 128, 1, true>(), tile<T, 16, 2, true>(),
    tile<T, 64, 2, true>(),  tile<T, 112, 2, true>(), tile<T, 192, 2, true>(),
    tile<T, 224, 2, true>(), tile<T, 256, 2, true>(), tile<T, 176, 3, true>(),
    tile<T, 192, 3, true>(), tile<T, 8, 1, false>(),  tile<T, 16, 1, false>(),
    tile<T, 32, 1, false>(), tile<T, 48, 1, false>(), tile<T, 128, 2, true>(),
    tile<T, 144, 3, true>(), tile<T, 160, 3, true>(), tile<T, 160, 1, true>(),
    tile<T, 192, 1, true>(), tile<T, 224, 1, true>(), tile<T, 160, 2, true>(),
    tile<T, 176, 2, true>(), tile<T, 272, 2, true>(),
};

static const struct swapped_tile *tile_of(int tile, enum gpt_precision precision)
{
    return precision == GPT_BF16   ? &swapped_tiles<uint16_t>[tile]
           : precision == GPT_FP16 ? &swapped_tiles<fp16_t>[tile]
                                   : &swapped_tiles<float>[tile];
}

/* How outputs get to y. */
static int finish_of(const struct swapped_tile *of, const struct linear_swapped_how *how,
                     const struct linear_operands *operands)
{
    const int64_t bytes = operands->n * (WGMMA_ROW_BYTES / of->depth);
    if (how->apart) return LINEAR_SWAPPED_APART;
    if (how->parts > 1) return LINEAR_SWAPPED_SUMS;
    if (of->rows <= SWAPPED_DIRECT && bytes % 4 == 0) return LINEAR_SWAPPED_DIRECT;
    return of->rows > SWAPPED_DIRECT && bytes % 16 == 0 ? LINEAR_SWAPPED_PANELS
                                                        : LINEAR_SWAPPED_SUMS;
}

static int wide_of(const struct swapped_tile *of, const struct linear_swapped_how *how)
{
    return of->columns - how->narrow;
}

/* Rows of x of a band, all but the last alike. Those that TMA moves in two boxes are whole swizzles
 * each. */
static int rows_of(const struct swapped_tile *of, const struct linear_operands *operands)
{
    const int rows = (int)gpt_blocks(operands->m, gpt_blocks(operands->m, of->rows));
    return of->rows > SWAPPED_BOX ? (int)gpt_blocks(rows, 16) * 16 : rows;
}

static int bands_of(const struct swapped_tile *of, const struct linear_operands *operands)
{
    return (int)gpt_blocks(operands->m, rows_of(of, operands));
}

static int64_t tiles_of(const struct swapped_tile *of, const struct linear_swapped_how *how,
                        const struct linear_operands *operands)
{
    return (int64_t)bands_of(of, operands) * gpt_blocks(operands->n, wide_of(of, how));
}

/* As many parts of a tile as give each multiprocessor a block. */
static int parts_apart(const struct swapped_tile *of, const struct linear_swapped_how *how,
                       const struct linear_operands *operands)
{
    const int64_t fit = assay_card()->multiprocessors / tiles_of(of, how, operands);
    return fit < LINEAR_SWAPPED_PARTS ? (int)fit : LINEAR_SWAPPED_PARTS;
}

/* Whether there is memory for the sums of all parts. */
static bool has_room(const struct swapped_tile *of, const struct linear_swapped_how *how,
                     const struct linear_operands *operands)
{
    const int64_t blocks = tiles_of(of, how, operands) * how->parts;
    const int64_t sums = blocks * of->rows * of->columns;
    return how->parts <= LINEAR_SWAPPED_PARTS && blocks <= assay_card()->multiprocessors &&
           sums <= (int64_t)assay_card()->multiprocessors * LINEAR_PARTS_SUMS;
}

/* Whether k has stages for the parts, the grid room for the columns, and each block another to
 * share with. */
static bool suits(const struct swapped_tile *of, const struct linear_swapped_how *how,
                  const struct linear_operands *operands)
{
    if (how->parts > 1 && (int)gpt_blocks(operands->k, of->depth) < SWAPPED_LEAST * how->parts)
        return false;
    if (how->shares && (!of->by_tma || how->parts > 1 || bands_of(of, operands) % 2)) return false;
    if (how->apart && !has_room(of, how, operands)) return false;
    return gpt_blocks(operands->n, wide_of(of, how)) <= SWAPPED_GRID_MOST;
}

/* A tile's stages in shared memory, and how many blocks then are on a multiprocessor: two where
 * there are enough blocks and three stages fit, or one with as many as it has room for. */
struct swapped_room {
    int stages, bytes, together;
};

static struct swapped_room room_of(const struct swapped_tile *of,
                                   const struct linear_swapped_how *how,
                                   const struct linear_operands *operands)
{
    const int64_t blocks = tiles_of(of, how, operands) * how->parts;
    const int needed = (int)gpt_blocks(gpt_blocks(operands->k, of->depth), how->parts);
    const int pair = SWAPPED_PAIR_BYTES / of->stage_bytes;
    int stages = blocks > assay_card()->multiprocessors && pair >= 3 ? pair : of->stages;
    if (stages > of->stages) stages = of->stages;
    if (of->by_tma && stages > needed) stages = needed;
    const int ring = stages * of->stage_bytes;
    const int bytes = SWAPPED_ALIGN + (ring > of->sums_bytes ? ring : of->sums_bytes);
    const int fit = SWAPPED_PROCESSOR_BYTES / (bytes + SWAPPED_OTHER_BYTES);
    const int most = SWAPPED_PROCESSOR_THREADS / of->threads;
    return {stages, bytes, fit < most ? fit : most};
}

/* About how many cycles a product takes. Of one multiprocessor: its blocks' stages, each as long as
 * its products, as what these read and write of shared memory at 128 bytes per cycle, as its rows
 * get to it, or as those of all multiprocessors come out of L2 or get to them, but no sooner than
 * the operands come from memory; what each round of blocks that fit takes besides; and what parts
 * of k take to meet. The numbers fit 2534 times of 54 shapes on an H200 (9 % off in the middle):
 * the fastest was within 2.3 % of one of the first twelve, on average 0.2 %. Of equal ones two
 * bands that share w come first: they were up to 19 % faster, and where there are more bands up to
 * 3 % slower. */
static double expected_cycles(const struct swapped_tile *of, const struct linear_swapped_how *how,
                              const struct linear_operands *operands)
{
    const int parts = how->parts, wide = wide_of(of, how),
              processors = assay_card()->multiprocessors;
    const double bands = bands_of(of, operands), rows = rows_of(of, operands);
    const double tiles = (double)tiles_of(of, how, operands) * parts, outputs = rows * wide;
    const double active = fmin(tiles, processors), blocks = ceil(tiles / processors);
    const double rounds = ceil(blocks / room_of(of, how, operands).together);
    const double stages = ceil((double)gpt_blocks(operands->k, of->depth) / parts);
    const double groups = of->columns / WGMMA_ROWS, row_bytes = active * WGMMA_ROW_BYTES;
    const double products = 2 * groups * of->rows, from_l2 = rows + wide / (how->shares ? 2.0 : 1);
    const double shared = groups * of->rows + of->columns + rows + wide;
    const double fetched =
        fmax(1.83 * (rows + wide), row_bytes * fmax(from_l2 / 6300, (rows + wide) / 8260));
    const double operand_rows = (double)operands->m + (double)operands->n;
    const double memory = operand_rows * operands->k / of->depth * WGMMA_ROW_BYTES / 2290;
    const double storing = how->apart ? outputs / 3.4 : outputs / (parts > 1 ? 2.7 : 11);
    const double sums_bytes = active * outputs * 2 * sizeof(float); /* written and read */
    const double meeting = how->apart ? 4770 + sums_bytes / 8600 : parts > 1 ? 4100 : 0;
    return fmax(blocks * stages * fmax(fmax(products, shared), fetched), memory) +
           rounds * (4930 + storing) + meeting + of->rows / 4.0 -
           (how->shares && bands == 2 ? 1 : 0);
}

/* Whether a tile of fewer rows does the same: then this one multiplies more for nothing. */
static bool is_outdone(const struct swapped_tile *of, const struct linear_operands *operands,
                       enum gpt_precision precision)
{
    const int rows = rows_of(of, operands);
    for (int i = 0; i < LINEAR_SWAPPED_TILES; i++) {
        const struct swapped_tile *other = tile_of(i, precision);
        if (other->by_tma == of->by_tma && other->columns == of->columns &&
            other->rows < of->rows && rows_of(other, operands) == rows)
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

/* Bands of a group: so many, or a few less or more, that the last group has few too few; an even
 * number of them where two share. */
static int height_of(int bands, bool shares)
{
    int best = bands;
    if (bands <= SWAPPED_HIGHEST) return bands;
    for (int height = SWAPPED_LOWEST; height <= SWAPPED_HIGHEST; height += shares ? 2 : 1) {
        const int missing = (int)gpt_blocks(bands, height) * height - bands;
        if (best == bands || missing <= (int)gpt_blocks(bands, best) * best - bands) best = height;
    }
    return gpt_blocks(bands, best) > SWAPPED_GRID_MOST ? bands : best;
}

static int make_maps(struct linear_swapped_plan *plan, const struct swapped_tile *of,
                     const struct linear_operands *operands, int bytes)
{
    const struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, bytes};
    const struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, bytes};
    const struct tensor_map_matrix y = {operands->y, operands->m, operands->n, bytes};
    const int rows = of->rows > SWAPPED_BOX ? plan->rows / 2 : plan->rows;
    if (of->by_tma && (tensor_map_init(&plan->x, &x, rows) < 0 ||
                       tensor_map_init(&plan->w, &w, plan->wide >> plan->shares) < 0))
        return -1;
    return plan->finish == LINEAR_SWAPPED_PANELS ? tensor_map_init(&plan->y, &y, rows) : 0;
}

int linear_swapped_make(struct linear_swapped *product, const struct linear_swapped_how *how,
                        const struct linear_operands *operands, enum gpt_precision precision,
                        const struct linear_parts *sums)
{
    const struct swapped_tile *of = tile_of(how->tile, precision);
    const struct swapped_room room = room_of(of, how, operands);
    struct linear_swapped_plan *plan = &product->plan;
    if (!suits(of, how, operands)) return assay_error("no tile for this shape");
    memset(product, 0, sizeof *product); /* a gate compares arguments whole, gaps too */
    product->tile = of;
    plan->operands = *operands;
    plan->bands = bands_of(of, operands);
    plan->height = how->apart ? 1 : height_of(plan->bands, how->shares);
    plan->rows = rows_of(of, operands);
    plan->wide = wide_of(of, how);
    while (1 << plan->log_parts < how->parts)
        plan->log_parts++;
    const int steps = (int)gpt_blocks(operands->k, of->depth);
    plan->parts = how->parts;
    plan->each = steps / how->parts;
    plan->more = steps % how->parts;
    if (how->apart) plan->sums = *sums;
    plan->finish = finish_of(of, how, operands);
    plan->stages = room.stages;
    plan->shares = how->shares;
    product->shared_bytes = room.bytes;
    if (cuda_allow_shared((const void *)of->kernel, SWAPPED_ALIGN + SWAPPED_ALONE_BYTES) < 0)
        return -1;
    return make_maps(plan, of, operands, (int)gpt_bytes(precision));
}

int linear_swapped_choose(struct linear_swapped *products, int most,
                          const struct linear_operands *operands, enum gpt_precision precision,
                          const struct linear_parts *sums)
{
    struct swapped_offer offers[SWAPPED_MOST];
    int count = 0;
    if (most > SWAPPED_MOST) most = SWAPPED_MOST;
    for (int i = 0; i < LINEAR_SWAPPED_TILES * SWAPPED_WAYS; i++) {
        const int way = i % SWAPPED_WAYS, parts = way < SWAPPED_SHARED ? 1 << way : 1;
        struct swapped_offer offer = {
            {i / SWAPPED_WAYS, 0, parts, way == SWAPPED_SHARED, way == SWAPPED_APART}, 0};
        const struct swapped_tile *of = tile_of(offer.how.tile, precision);
        if (is_outdone(of, operands, precision)) continue;
        for (; offer.how.narrow < of->columns; offer.how.narrow += LINEAR_SWAPPED_NARROW) {
            if (offer.how.apart) offer.how.parts = parts_apart(of, &offer.how, operands);
            if (offer.how.apart && is_cluster(offer.how.parts)) continue;
            if (!suits(of, &offer.how, operands)) continue;
            offer.cycles = expected_cycles(of, &offer.how, operands);
            count = keep(offers, count, most, offer);
        }
    }
    for (int i = 0; i < count; i++)
        if (linear_swapped_make(&products[i], &offers[i].how, operands, precision, sums) < 0)
            return -1;
    return count;
}

bool linear_swapped_cut(const struct linear_swapped *product)
{
    return product->plan.wide < product->tile->columns;
}

int linear_swapped_enqueue(const struct linear_swapped *product, cudaStream_t stream)
{
    const struct swapped_tile *of = product->tile;
    const struct linear_swapped_plan *plan = &product->plan;
    void *pointers[] = {(void *)plan};
    const bool apart = plan->finish == LINEAR_SWAPPED_APART;
    const dim3 grid((unsigned)(plan->height * plan->parts),
                    gpt_blocks(plan->operands.n, plan->wide),
                    gpt_blocks(plan->bands, plan->height));
    const int cluster = plan->shares ? 2 : apart ? 1 : plan->parts;
    struct cluster_launch launch(cluster, grid, of->threads, (size_t)product->shared_bytes, stream);
    if (cluster == 1) launch.config.numAttrs = 0; /* plain launches start sooner */
    return assay_cuda(cudaLaunchKernelExC(&launch.config, (const void *)of->kernel, pointers),
                      "launch");
}

void linear_swapped_name(const struct linear_swapped *product, char *out, size_t size)
{
    const struct linear_swapped_plan *plan = &product->plan;
    (void)snprintf(out, size, "swapped %d x %d%s, k in %d%s", product->tile->rows, plan->wide,
                   plan->shares            ? ", w shared"
                   : product->tile->by_tma ? ""
                                           : " copied",
                   plan->parts, plan->finish == LINEAR_SWAPPED_APART ? " apart" : "");
}

/* ----------------------------------------------------------------- variant -- */

struct state {
    struct linear_swapped product;
    struct linear_parts sums;
};

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)aligned_alloc(alignof(struct state), sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = linear_parts_init(&state->sums, call);
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
