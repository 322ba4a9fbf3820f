/*
 * linear_best.cu - the fastest of our products for a shape, measured in setup, as the case will be
 * timed (cuda_trial.h). The note says which it was.
 *
 * Candidates: for any shape the products on the CUDA cores (few rows by one to eight warps; every
 * tile in fp32), tf32_32, and for up to 1024 rows every division of linear_skinny.h; for k whose
 * rows are aligned to 16 bytes those of linear_128.cu and, on Hopper, of linear_swapped.h and
 * linear_pair.h those that are expected to be the fastest and every kernel of linear_wgmma.cuh, in
 * whole tiles and with tiles divided along k. Where k is not aligned, all of these but
 * linear_swapped.h and linear_pair.h take copies of x and w with padded rows, which each launch
 * makes.
 *
 * Every candidate is timed once, those within CLOSE of the least again, those within CLOSEST of it
 * often: a time of a few microseconds differs by 2 % from one trial to the next, so that the least
 * of several would be that of the luckiest, and the first trial may be half a microsecond too long
 * (30 x 5712 x 344 got a kernel of 4.6 us once, where another takes 3.9). The means are compared;
 * among some hundred cut tiles there are lucky ones too, so that one must be faster by more than
 * that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_trial.h"
#include "linear.cuh"
#include "linear_fp32.h"
#include "linear_pad.h"
#include "linear_pair.h"
#include "linear_skinny.h"
#include "linear_swapped.h"
#include "linear_wgmma_kernels.h"

enum {
    WGMMA_MOST = 16,   /* kernels of a type, at most; each in WGMMA_WAYS */
    WGMMA_WAYS = 3,    /* whole, or divided in two ways */
    FP32_WAYS = 2,     /* tiles divided evenly, or alike */
    FP32_CLUSTERS = 3, /* or by clusters of 2, 4 and 8 blocks */
    SWAPPED = 24,      /* those with the least expected times */
    PAIRS = 12,        /* likewise */
    TILES = (FP32_WAYS + FP32_CLUSTERS) * LINEAR_FP32_TILINGS,
    CANDIDATES = 8 + LINEAR_ROWS_WAYS + TILES + LINEAR_SKINNY_DIVISIONS + SWAPPED + PAIRS +
                 WGMMA_WAYS * WGMMA_MOST,
    ROUNDS = 9,
    ROUGH = 3, /* of them */
};
static const double CLOSE = 1.2, CLOSEST = 1.03; /* times the least, and */
static const double CLOSE_US = 1, CLOSEST_US = 0.1;
static const double CUT = 1.02; /* what a cut tile's time is taken for */

/* A product that needs no plan. */
struct plain {
    const char *name;
    enum gpt_precision precision;
    int min_sm;
    bool aligned;   /* takes rows of 16 bytes only */
    bool transpose; /* takes a transposed weight too */
    int (*enqueue)(const struct linear_operands *operands, cudaStream_t stream);
};

static const struct plain plains[] = {
    {"bf16_128", GPT_BF16, 80, true, true, linear_bf16_128},
    {"fp16_128", GPT_FP16, 80, true, true, linear_fp16_128},
    {"tf32_128", GPT_TF32, 80, true, true, linear_tf32_128},
    {"tf32_32", GPT_TF32, 80, false, true, linear_tf32_32},
    {"smem32", GPT_FP32, 0, false, true, linear_smem32},
};

/* One of `plain`, `tiles`, `skinny`, `swapped`, `pair` and `product`, or none: linear_rows. */
struct candidate {
    const struct best *best;
    const struct plain *plain;
    int log_warps;
    struct linear_fp32 *tiles;
    struct linear_skinny *skinny;
    struct linear_swapped *swapped;
    struct linear_pair *pair;
    const struct lwg_kernel *kernel;
    struct linear_wgmma *product;
    struct lwg_how how;
    bool padded;
    double us, sum_us; /* the mean of its trials; of a cut tile, more */
    int trials;
};

struct best {
    void *copy; /* the transposed weight */
    struct linear_pad pad;
    struct linear_parts parts;
    struct linear_operands operands;
    struct linear_fp32 tiles[TILES];
    struct linear_skinny skinny[LINEAR_SKINNY_DIVISIONS];
    struct linear_swapped swapped[SWAPPED];
    struct linear_pair pair[PAIRS];
    enum gpt_precision precision;
    struct candidate list[CANDIDATES], *chosen;
    int count;
};

static int enqueue(const void *what, void *of)
{
    const struct candidate *candidate = (const struct candidate *)what;
    const struct best *best = candidate->best;
    cudaStream_t stream = (cudaStream_t)of;
    if (candidate->padded && linear_pad_enqueue(&best->pad, stream) < 0) return -1;
    if (candidate->product) return linear_wgmma_enqueue(candidate->product, stream);
    if (candidate->tiles) return linear_fp32_enqueue(candidate->tiles, stream);
    if (candidate->skinny) return linear_skinny_enqueue(candidate->skinny, stream);
    if (candidate->swapped) return linear_swapped_enqueue(candidate->swapped, stream);
    if (candidate->pair) return linear_pair_enqueue(candidate->pair, stream);
    if (!candidate->plain)
        return linear_rows(&best->operands, best->precision, candidate->log_warps, stream);
    return candidate->plain->enqueue(candidate->padded ? &best->pad.padded : &best->operands,
                                     stream);
}

/* -------------------------------------------------------------- candidates -- */

static bool aligned(const struct best *best)
{
    return best->operands.k * gpt_bytes(best->precision) % 16 == 0;
}

static struct candidate *add(struct best *best)
{
    struct candidate *added = &best->list[best->count++];
    *added = {};
    added->best = best;
    return added;
}

static int add_plains(struct best *best)
{
    for (const struct plain &plain : plains) {
        const struct linear_operands *operands = &best->operands;
        bool padded = plain.aligned && !aligned(best);
        if (plain.precision != best->precision || plain.min_sm > assay_card()->sm) continue;
        if (operands->transposed && (padded || !plain.transpose)) continue;
        if (plain.aligned && linear_128_allow() < 0) return -1;
        struct candidate *added = add(best);
        added->plain = &plain;
        added->padded = padded;
    }
    return 0;
}

static void add_rows(struct best *best)
{
    if (best->operands.transposed || best->operands.m > LINEAR_ROWS_MOST) return;
    const int ways = linear_rows_ways(&best->operands, best->precision);
    for (int log_warps = 0; log_warps < ways; log_warps++)
        add(best)->log_warps = log_warps;
}

static struct candidate *add_tiling(struct best *best, struct linear_fp32 *tiles)
{
    struct candidate *added = add(best);
    added->tiles = tiles;
    return added;
}

/* A tile that the card has no room for is left out, and so are clusters that do not fit. */
static void add_fp32(struct best *best)
{
    const struct linear_operands *operands = &best->operands;
    struct linear_fp32 *tiles = best->tiles;
    for (int i = 0; i < LINEAR_FP32_TILINGS; i++) {
        for (int way = LINEAR_EVENLY; way <= LINEAR_ALIKE; way++, tiles++) {
            const enum linear_parts_how how = (enum linear_parts_how)way;
            if (linear_fp32_init(tiles, i, how, operands, &best->parts) < 0) continue;
            if (how == LINEAR_ALIKE && tiles->division.ways == 0) continue;
            add_tiling(best, tiles)->how.divide = tiles->division.split > 0 ? how : LINEAR_WHOLE;
        }
        for (int log = 1; log <= FP32_CLUSTERS; log++, tiles++)
            if (linear_fp32_init_clusters(tiles, i, 1 << log, operands) == 0)
                add_tiling(best, tiles);
    }
}

/* A division that the card or the shape has no room for is left out. */
static void add_skinny(struct best *best)
{
    if (best->operands.m > LINEAR_SKINNY_MOST || assay_card()->sm < 80) return;
    for (int i = 0; i < LINEAR_SKINNY_DIVISIONS; i++)
        if (linear_skinny_init(&best->skinny[i], i, &best->operands, best->precision) == 0)
            add(best)->skinny = &best->skinny[i];
}

static int add_swapped(struct best *best)
{
    const int count = linear_swapped_choose(best->swapped, SWAPPED, &best->operands,
                                            best->precision, &best->parts);
    for (int i = 0; i < count; i++)
        add(best)->swapped = &best->swapped[i];
    return count < 0 ? -1 : 0;
}

static int add_pairs(struct best *best)
{
    if (gpt_bytes(best->precision) != 2) return 0;
    const int count = linear_pair_choose(best->pair, PAIRS, &best->operands, best->precision);
    for (int i = 0; i < count; i++)
        add(best)->pair = &best->pair[i];
    return count < 0 ? -1 : 0;
}

/* A kernel whose clusters do not fit the card is left out; so is one that has nothing to divide. */
static void add_kernel(struct best *best, const struct lwg_kernel *kernel,
                       const struct lwg_how *how)
{
    struct candidate *added = add(best);
    added->kernel = kernel;
    added->how = *how;
    added->padded = !aligned(best);
    if (linear_wgmma_make(&added->product, kernel,
                          added->padded ? &best->pad.padded : &best->operands, how) == 0 &&
        linear_wgmma_divided(added->product) == (how->divide != LINEAR_WHOLE))
        return;
    linear_wgmma_release(added->product);
    (void)cudaGetLastError(); /* or the next launch would report it */
    best->count--;
}

static void add_wgmma(struct best *best)
{
    const struct lwg_kernels kernels = lwg_kernels_of(best->precision);
    for (int i = 0; i < kernels.count && i < WGMMA_MOST; i++)
        for (int way = 0; way < WGMMA_WAYS; way++) {
            const struct lwg_how how = {(enum linear_parts_how)way, &best->parts};
            add_kernel(best, &kernels.kernel[i], &how);
        }
}

static int add_tiles(struct best *best, struct assay_call *call)
{
    if (best->operands.transposed) return 0;
    const bool is_fp32 = best->precision == GPT_FP32;
    if (!is_fp32) add_skinny(best);
    if (!is_fp32 && !assay_card()->arch_specific) return 0;
    int status = linear_parts_init(&best->parts, call);
    if (status) return status;
    if (is_fp32) {
        add_fp32(best);
        return 0;
    }
    if (aligned(best) && (add_swapped(best) < 0 || add_pairs(best) < 0)) return -1;
    add_wgmma(best);
    return 0;
}

static int list_candidates(struct best *best, struct assay_call *call)
{
    if (!best->operands.transposed && !aligned(best) && best->precision != GPT_FP32) {
        int status = linear_pad_init(&best->pad, &best->operands, best->precision, call);
        if (status) return status;
    }
    int status = add_tiles(best, call);
    if (status) return status;
    add_rows(best);
    return add_plains(best); /* the slowest last: they are timed once */
}

/* ------------------------------------------------------------------ choice -- */

static bool cut(const struct candidate *candidate)
{
    return candidate->swapped && linear_swapped_cut(candidate->swapped);
}

static bool is_close(const struct candidate *candidate, int round, double least)
{
    return candidate->us <=
           (round < ROUGH ? CLOSE * least + CLOSE_US : CLOSEST * least + CLOSEST_US);
}

static void time_candidates(struct best *best, const struct cuda_trial *trial)
{
    double least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < best->count; i++) {
            struct candidate *candidate = &best->list[i];
            if (round > 0 && !is_close(candidate, round, least)) continue;
            const struct cuda_work work = {enqueue, candidate};
            const double us = cuda_trial_us(trial, &work, round == 0 ? least : INFINITY);
            candidate->sum_us += cut(candidate) ? CUT * us : us;
            candidate->us = candidate->sum_us / ++candidate->trials;
            if (round == 0 && candidate->us < least) least = candidate->us;
        }
        least = INFINITY;
        for (int i = 0; i < best->count; i++)
            if (best->list[i].us < least) least = best->list[i].us, best->chosen = &best->list[i];
    }
}

static int choose(struct best *best, const struct assay_call *call)
{
    struct cuda_trial trial;
    int status = cuda_trial_open(&trial, call);
    if (!status) time_candidates(best, &trial);
    cuda_trial_close(&trial);
    if (status) return status;
    return best->chosen ? 0 : assay_error("none of the products ran");
}

static void describe(const struct candidate *chosen, char *note, size_t size)
{
    char name[ASSAY_MAX_NOTE];
    if (chosen->product)
        lwg_kernel_name(chosen->kernel, name, sizeof name);
    else if (chosen->skinny)
        linear_skinny_name(chosen->skinny, name, sizeof name);
    else if (chosen->swapped)
        linear_swapped_name(chosen->swapped, name, sizeof name);
    else if (chosen->pair)
        linear_pair_name(chosen->pair, name, sizeof name);
    else if (chosen->tiles)
        linear_fp32_name(chosen->tiles, name, sizeof name);
    else if (chosen->plain)
        (void)snprintf(name, sizeof name, "%s", chosen->plain->name);
    else
        (void)snprintf(name, sizeof name, "rows, k in %d", 1 << chosen->log_warps);
    static const char *const divided[] = {"", ", k divided", ", k divided alike"};
    (void)snprintf(note, size, "%s%s%s, of %d", name, divided[chosen->how.divide],
                   chosen->padded ? ", padded" : "", chosen->best->count);
}

static int setup(struct assay_call *call)
{
    struct best *best = (struct best *)aligned_alloc(alignof(struct best), sizeof *best);
    call->state = best;
    if (!best) return assay_error("out of memory");
    memset(best, 0, sizeof *best);
    best->precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    int status = linear_prepare(call, &best->copy);
    if (status) return status;
    if (linear_begin(call, best->copy, &best->operands) < 0) return -1;
    status = list_candidates(best, call);
    if (status) return status;
    if (best->count == 0) {
        (void)assay_error("this card has none of the products for this shape");
        return ASSAY_SKIP;
    }
    status = choose(best, call);
    if (status) return status;
    describe(best->chosen, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct best *best = (const struct best *)call->state;
    struct linear_operands operands;
    if (linear_begin(call, best->copy, &operands) < 0) return -1;
    if (enqueue(best->chosen, call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct best *best = (struct best *)call->state;
    if (!best) return;
    for (int i = 0; i < best->count; i++)
        linear_wgmma_release(best->list[i].product);
    linear_pad_release(&best->pad);
    cudaFree(best->parts.sums);
    cudaFree(best->copy);
    free(best);
}

static const char *supports(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[LINEAR_PRECISION]) == 4) return NULL;
    return shape->value[LINEAR_WEIGHT] == LINEAR_DIRECT ? NULL : linear_unaligned(shape);
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[LINEAR_PRECISION] == GPT_FP32 ? 0 : linear_128_shared_bytes(shape);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "best",
    .summary = "the fastest of our products for the shape, as timed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
