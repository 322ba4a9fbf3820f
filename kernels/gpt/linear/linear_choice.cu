/*
 * linear_choice.cu - see linear_choice.h: which products are candidates for a shape, and how they
 * are timed.
 *
 * Candidates: for any shape the products on the CUDA cores (few rows by one to eight warps; every
 * tile in fp32), tf32_32, and for up to 1024 rows every division of linear_skinny.h; for k whose
 * rows are aligned to 16 bytes those of linear_128.cu and, on Hopper, of linear_swapped.h and
 * linear_pair.h those that are expected to be the fastest and every kernel of linear_wgmma.cuh, in
 * whole tiles and with tiles divided along k; in fp32 these take parts of x and w (linear_split.h),
 * which each launch makes. Where k is not aligned, all of these but
 * linear_swapped.h and linear_pair.h take copies of x and w with padded rows, which each launch
 * makes. With another finish than a plain one: those that have it in their epilogue, which leaves
 * out tf32_32, smem32 and some of linear_wgmma.cuh; with each there is another that is faster.
 *
 * The fastest is searched as cuda_trial.h says. Among some hundred cut tiles there are lucky ones,
 * so one of these must be faster by more than 2 %.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_trial.h"
#include "kernels/gpt/gpt.cuh"
#include "linear_choice.h"
#include "linear_fp32.h"
#include "linear_pad.h"
#include "linear_pair.h"
#include "linear_skinny.h"
#include "linear_split.h"
#include "linear_swapped.h"
#include "linear_wgmma_kernels.h"

enum {
    WGMMA_MOST = 16,   /* kernels of a type, at most; each in WGMMA_WAYS */
    WGMMA_WAYS = 3,    /* whole, or divided in two ways */
    FP32_WAYS = 2,     /* tiles divided evenly, or alike */
    FP32_CLUSTERS = 3, /* or by clusters of 2, 4 and 8 blocks */
    SWAPPED = 24,      /* those with the least expected times */
    PAIRS = 12,        /* likewise */
    SPLIT_LEAST = 64,  /* rows for which operands are split */
    TILES = (FP32_WAYS + FP32_CLUSTERS) * LINEAR_FP32_TILINGS,
    CANDIDATES = 8 + LINEAR_ROWS_WAYS + TILES + LINEAR_SKINNY_DIVISIONS + SWAPPED + PAIRS +
                 WGMMA_WAYS * WGMMA_MOST,
};
static const double CUT = 1.02; /* what a cut tile's time is taken for */

/* A product that needs no plan. */
struct plain {
    const char *name;
    enum gpt_precision precision;
    int min_sm;
    bool aligned; /* takes rows of 16 bytes only */
    bool plain;   /* has no other finish */
    int (*enqueue)(const struct linear_operands *operands, cudaStream_t stream);
};

static const struct plain plains[] = {
    {"bf16_128", GPT_BF16, 80, true, false, linear_bf16_128},
    {"fp16_128", GPT_FP16, 80, true, false, linear_fp16_128},
    {"tf32_128", GPT_TF32, 80, true, false, linear_tf32_128},
    {"tf32_32", GPT_TF32, 80, false, true, linear_tf32_32},
    {"smem32", GPT_FP32, 0, false, true, linear_smem32},
};

/* One of `plain`, `tiles`, `skinny`, `swapped`, `pair` and `product`, or none: linear_rows. */
struct candidate {
    const struct linear_choice *choice;
    const struct plain *plain;
    int log_warps;
    struct linear_fp32 *tiles;
    struct linear_skinny *skinny;
    struct linear_swapped *swapped;
    struct linear_pair *pair;
    const struct lwg_kernel *kernel;
    struct linear_wgmma *product;
    struct lwg_how how;
    bool padded, split; /* takes copies of the operands, or their parts */
};

struct linear_choice {
    struct linear_pad pad;
    struct linear_split split;
    struct tile_parts parts;
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
    const struct linear_choice *choice = candidate->choice;
    cudaStream_t stream = (cudaStream_t)of;
    if (candidate->padded && linear_pad_enqueue(&choice->pad, stream) < 0) return -1;
    if (candidate->split && linear_split_enqueue(&choice->split, stream) < 0) return -1;
    if (candidate->product) return linear_wgmma_enqueue(candidate->product, stream);
    if (candidate->tiles) return linear_fp32_enqueue(candidate->tiles, stream);
    if (candidate->skinny) return linear_skinny_enqueue(candidate->skinny, stream);
    if (candidate->swapped) return linear_swapped_enqueue(candidate->swapped, stream);
    if (candidate->pair) return linear_pair_enqueue(candidate->pair, stream);
    if (!candidate->plain)
        return linear_rows(&choice->operands, choice->precision, candidate->log_warps, stream);
    return candidate->plain->enqueue(candidate->padded ? &choice->pad.padded : &choice->operands,
                                     stream);
}

/* -------------------------------------------------------------- candidates -- */

static bool aligned(const struct linear_choice *choice)
{
    return choice->operands.k * gpt_bytes(choice->precision) % 16 == 0;
}

static struct candidate *add(struct linear_choice *choice)
{
    struct candidate *added = &choice->list[choice->count++];
    *added = {};
    added->choice = choice;
    return added;
}

static int add_plains(struct linear_choice *choice)
{
    for (const struct plain &plain : plains) {
        const struct linear_operands *operands = &choice->operands;
        bool padded = plain.aligned && !aligned(choice);
        if (plain.precision != choice->precision || plain.min_sm > assay_card()->sm) continue;
        if (operands->transposed && padded) continue;
        if (operands->finish != LINEAR_PLAIN && plain.plain) continue;
        if (plain.aligned && linear_128_allow() < 0) return -1;
        struct candidate *added = add(choice);
        added->plain = &plain;
        added->padded = padded;
    }
    return 0;
}

static void add_rows(struct linear_choice *choice)
{
    if (choice->operands.transposed || choice->operands.m > LINEAR_ROWS_MOST) return;
    const int ways = linear_rows_ways(&choice->operands, choice->precision);
    for (int log_warps = 0; log_warps < ways; log_warps++)
        add(choice)->log_warps = log_warps;
}

static struct candidate *add_tiling(struct linear_choice *choice, struct linear_fp32 *tiles)
{
    struct candidate *added = add(choice);
    added->tiles = tiles;
    return added;
}

/* A tile that the card has no room for is left out, and so are clusters that do not fit. */
static void add_fp32(struct linear_choice *choice)
{
    const struct linear_operands *operands = &choice->operands;
    struct linear_fp32 *tiles = choice->tiles;
    for (int i = 0; i < LINEAR_FP32_TILINGS; i++) {
        for (int way = LINEAR_EVENLY; way <= LINEAR_ALIKE; way++, tiles++) {
            const enum linear_parts_how how = (enum linear_parts_how)way;
            if (linear_fp32_init(tiles, i, how, operands, &choice->parts) < 0) continue;
            if (how == LINEAR_ALIKE && tiles->division.ways == 0) continue;
            add_tiling(choice, tiles)->how.divide = tiles->division.split > 0 ? how : LINEAR_WHOLE;
        }
        for (int log = 1; log <= FP32_CLUSTERS; log++, tiles++)
            if (linear_fp32_init_clusters(tiles, i, 1 << log, operands) == 0)
                add_tiling(choice, tiles);
    }
}

/* A division that the card or the shape has no room for is left out. */
static void add_skinny(struct linear_choice *choice)
{
    if (choice->operands.m > LINEAR_SKINNY_MOST || assay_card()->sm < 80) return;
    for (int i = 0; i < LINEAR_SKINNY_DIVISIONS; i++)
        if (linear_skinny_init(&choice->skinny[i], i, &choice->operands, choice->precision) == 0)
            add(choice)->skinny = &choice->skinny[i];
}

static int add_swapped(struct linear_choice *choice)
{
    const int count = linear_swapped_choose(choice->swapped, SWAPPED, &choice->operands,
                                            choice->precision, &choice->parts);
    for (int i = 0; i < count; i++)
        add(choice)->swapped = &choice->swapped[i];
    return count < 0 ? -1 : 0;
}

static int add_pairs(struct linear_choice *choice)
{
    if (gpt_bytes(choice->precision) != 2) return 0;
    const int count = linear_pair_choose(choice->pair, PAIRS, &choice->operands, choice->precision);
    for (int i = 0; i < count; i++)
        add(choice)->pair = &choice->pair[i];
    return count < 0 ? -1 : 0;
}

/* A kernel whose clusters do not fit the card is left out; so is one that has nothing to divide. */
static void add_kernel(struct linear_choice *choice, const struct lwg_kernel *kernel,
                       const struct lwg_how *how)
{
    struct candidate *added = add(choice);
    added->kernel = kernel;
    added->how = *how;
    added->split = choice->precision == GPT_FP32;
    added->padded = !added->split && !aligned(choice);
    if (linear_wgmma_make(&added->product, kernel,
                          added->split    ? &choice->split.parts
                          : added->padded ? &choice->pad.padded
                                          : &choice->operands,
                          how) == 0 &&
        linear_wgmma_divided(added->product) == (how->divide != LINEAR_WHOLE))
        return;
    linear_wgmma_release(added->product);
    (void)cudaGetLastError(); /* or the next launch would report it */
    choice->count--;
}

static void add_wgmma(struct linear_choice *choice)
{
    const struct lwg_kernels kernels = lwg_kernels_of(choice->precision);
    for (int i = 0; i < kernels.count && i < WGMMA_MOST; i++)
        for (int way = 0; way < WGMMA_WAYS; way++) {
            const struct lwg_how how = {(enum linear_parts_how)way, &choice->parts};
            add_kernel(choice, &kernels.kernel[i], &how);
        }
}

/* Without memory for the parts of the operands the others are left. */
static int add_split(struct linear_choice *choice, struct assay_call *call)
{
    const struct linear_operands *operands = &choice->operands;
    if (!assay_card()->arch_specific || operands->m < SPLIT_LEAST) return 0;
    if (operands->k < LINEAR_SPLIT_LEAST) return 0;
    int status = linear_split_init(&choice->split, operands, call);
    if (status == 0) add_wgmma(choice);
    return status < 0 ? -1 : 0;
}

static int add_tiles(struct linear_choice *choice, struct assay_call *call)
{
    if (choice->operands.transposed) return 0;
    const bool is_fp32 = choice->precision == GPT_FP32;
    if (!is_fp32) add_skinny(choice);
    if (!is_fp32 && !assay_card()->arch_specific) return 0;
    int status = tile_parts_init(&choice->parts, call);
    if (status) return status;
    if (is_fp32) {
        add_fp32(choice);
        return add_split(choice, call);
    }
    if (aligned(choice) && (add_swapped(choice) < 0 || add_pairs(choice) < 0)) return -1;
    add_wgmma(choice);
    return 0;
}

static int list_candidates(struct linear_choice *choice, struct assay_call *call)
{
    if (!choice->operands.transposed && !aligned(choice) && choice->precision != GPT_FP32) {
        int status = linear_pad_init(&choice->pad, &choice->operands, choice->precision, call);
        if (status) return status;
    }
    int status = add_tiles(choice, call);
    if (status) return status;
    add_rows(choice);
    return add_plains(choice); /* the slowest last: they are timed once */
}

/* ------------------------------------------------------------------ choice -- */

static bool cut(const struct candidate *candidate)
{
    return candidate->swapped && linear_swapped_cut(candidate->swapped);
}

static int choose(struct linear_choice *choice, const struct cuda_work *before,
                  const struct assay_call *call)
{
    struct cuda_rival rivals[CANDIDATES] = {};
    int fastest = 0;
    for (int i = 0; i < choice->count; i++) {
        rivals[i].work = {enqueue, &choice->list[i]};
        if (cut(&choice->list[i])) rivals[i].handicap = CUT;
    }
    int status = cuda_trial_fastest(call, before, rivals, choice->count, &fastest);
    choice->chosen = &choice->list[fastest];
    return status;
}

int linear_choice_make(struct linear_choice **made, const struct linear_operands *operands,
                       enum gpt_precision precision, const struct cuda_work *before,
                       struct assay_call *call)
{
    struct linear_choice *choice =
        (struct linear_choice *)aligned_alloc(alignof(struct linear_choice), sizeof *choice);
    *made = choice;
    if (!choice) return assay_error("out of memory");
    memset(choice, 0, sizeof *choice);
    choice->precision = precision;
    choice->operands = *operands;
    int status = list_candidates(choice, call);
    if (status) return status;
    if (choice->count > 0) return choose(choice, before, call);
    (void)assay_error("this card has none of the products for this shape");
    return ASSAY_SKIP;
}

int linear_choice_enqueue(const struct linear_choice *choice, cudaStream_t stream)
{
    return enqueue(choice->chosen, stream);
}

void linear_choice_name(const struct linear_choice *choice, char *out, size_t size)
{
    const struct candidate *chosen = choice->chosen;
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
    (void)snprintf(out, size, "%s%s%s%s, of %d",
                   chosen->swapped ? "swapped "
                   : chosen->split ? "bf16x6 "
                                   : "",
                   name, divided[chosen->how.divide], chosen->padded ? ", padded" : "",
                   choice->count);
}

void linear_choice_release(struct linear_choice *choice)
{
    if (!choice) return;
    for (int i = 0; i < choice->count; i++)
        linear_wgmma_release(choice->list[i].product);
    linear_pad_release(&choice->pad);
    linear_split_release(&choice->split);
    cudaFree(choice->parts.sums);
    free(choice);
}
