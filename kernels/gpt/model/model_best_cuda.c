/*
 * model_best_cuda.c - `best`: setup measures the implementations of each product of a layer and of
 * the attention, and keeps the fastest of each; a launch replays all layers as one CUDA graph.
 *
 * Each candidate is timed on the step itself, twenty times in a CUDA graph. Those that come close
 * to the fastest are timed once more in the whole model. Candidates for a product:
 *
 *   the fused tiles             model_tile.cuh
 *   the tiles fed by TMA        model_ring.cuh; fp32
 *   tiles whole in shared       model_whole.cuh; bf16, fp16
 *   memory
 *   pairs of blocks             linear_pair.cuh, with a layernorm kernel in front where one is due;
 *                               bf16, fp16
 *   one warp per output         few rows
 *   parts in bf16               model_split.cu, with a layernorm kernel in front where one is due;
 *                               fp32
 *   Hopper's wgmma              model_wgmma.cu
 *   cublasLt                    bias, gelu (tanh form) and residual in its epilogue, with a
 *                               layernorm kernel in front where one is due
 *
 * Candidates for the attention: the configurations of attention_configs.cuh, or one block per
 * query.
 *
 * In tf32 the tiles, rings and attention of fp32 are candidates too: numbers are fp32 in memory, so
 * they may be faster, and are more exact.
 *
 * Every candidate is checked, by other variants or in test_family_gpt_choices_gpu.c; the chosen
 * ones are checked together as this variant's output. The note says what was chosen, in the order
 * qkv, proj, fc, fc2, head: the size of a tile, with `r` before one of model_ring.cuh, `w` before
 * one of model_whole.cuh, `p` before one of linear_pair.cuh and `s` before one of model_split.cu
 * (of a tf32 model `fp32:` before one of fp32), `lt`, `wgmma` or `warp`; then the attention. Or all
 * layers are by one launch: `persistent` of those that decode (model_persistent.cu), `clusters` of
 * the others (model_clusters.cu). docs/kernels-gpt.md explains the notes, and compares the times
 * with what was predicted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_graph.h"
#include "kernels/cuda/device_memory.h"
#include "model_clusters.h"
#include "model_cuda.h"
#include "model_library.h"
#include "model_numbered.h"
#include "model_persistent.h"
#include "model_ranking.h"
#include "model_ring.h"
#include "model_whole.h"

/* How a product is done: one of these, or a number from 0 on (model_numbered.h). */
enum { BY_LIBRARY = -1, BY_WGMMA = -2, BY_WARPS = -3, UNKNOWN = -4 };
/* How the attention is done: this, UNKNOWN, or the number of a configuration. */
enum { BY_QUERY = -1 };
/* Added to the number of a tile, ring or configuration: that of fp32, in a tf32 model. */
enum { IN_FP32 = 1000 };

struct best {
    struct model_run run;
    struct model_provider provider;
    cudaGraphExec_t graph;
    enum model_context context;
    struct assay_call *call; /* during setup alone */
    void *normed;
    struct model_split *split;
    int choice[MODEL_PRODUCTS];
    int attend_choice;
    struct model_ranking rivals[MODEL_PRODUCTS], attend_rivals;
    bool by_library[MODEL_PRODUCTS]; /* it has the product, which need not be among the rivals */
    struct model_library library;
    bool at_once; /* all layers by one launch: of these two, the one for the operation */
    struct model_persistent persistent;
    struct model_clusters *clusters;
};

/* ---------------------------------------------------------------- choice -- */

/* One candidate for one step. */
struct trial {
    const struct best *best;
    const struct model_step *step;
    int choice;
};

/* The number of a choice among those of its precision, which may become fp32. */
static int read_choice(int choice, int64_t *precision)
{
    if (choice < IN_FP32) return choice;
    *precision = GPT_FP32;
    return choice - IN_FP32;
}

static int enqueue_choice(const struct best *best, const struct model_step *step, int choice,
                          void *stream)
{
    if (choice == BY_LIBRARY)
        return model_library_enqueue(&best->library, step, best->normed, stream);
    if (choice == BY_WGMMA) return model_wgmma_enqueue(step, best->normed, stream);
    if (choice == BY_WARPS) return model_gemv_enqueue(step, stream);
    struct model_step by = *step;
    choice = read_choice(choice, &by.precision);
    return model_numbered_enqueue(best->split, &by, choice, best->normed, stream);
}

static int enqueue_trial(const void *what, void *stream)
{
    const struct trial *trial = what;
    return enqueue_choice(trial->best, trial->step, trial->choice, stream);
}

static bool possible(struct best *best, const struct model_step *step, int choice, void *stream)
{
    if (choice == BY_LIBRARY)
        return model_library_open(&best->library, step, best->normed, best->call, stream);
    if (choice == BY_WGMMA) return model_wgmma_refused(step) == NULL;
    if (choice == BY_WARPS) return model_gemv_refused(step) == NULL;
    struct model_step by = *step;
    choice = read_choice(choice, &by.precision);
    return model_numbered_refused(best->split, &by, choice) == NULL;
}

/* Whether it ran. */
static bool rank_measured(struct model_ranking *ranking, int choice, const struct cuda_work *work,
                          void *stream)
{
    double us = cuda_graph_time_us(work, stream, model_ranking_least_us(ranking));
    if (!isinf(us)) model_ranking_add(ranking, choice, us);
    return !isinf(us);
}

static void rank_choices(struct best *best, const struct model_step *step, int begin, int end,
                         void *stream)
{
    for (int choice = begin; choice < end; choice++) {
        if (!possible(best, step, choice, stream)) continue;
        const struct trial trial = {best, step, choice};
        const struct cuda_work work = {enqueue_trial, &trial};
        bool runs = rank_measured(&best->rivals[step->product], choice, &work, stream);
        if (choice == BY_LIBRARY) best->by_library[step->product] = runs;
    }
}

/* The first layer's step decides for all layers, which differ only in their addresses. */
static int choose(struct best *best, const struct model_step *step, void *stream)
{
    struct model_ranking *ranking = &best->rivals[step->product];
    rank_choices(best, step, BY_WARPS, model_numbered(step->precision), stream);
    if (step->precision == GPT_TF32)
        rank_choices(best, step, IN_FP32, IN_FP32 + model_tiles(GPT_FP32) + model_rings(), stream);
    if (ranking->count == 0)
        return assay_error("no way to do a product of %lld x %lld", (long long)step->n,
                           (long long)step->k);
    best->choice[step->product] = ranking->choice[0];
    return 0;
}

static int product(void *self, const struct model_step *step, void *stream)
{
    struct best *best = self;
    if (best->choice[step->product] == UNKNOWN && choose(best, step, stream)) return -1;
    return enqueue_choice(best, step, best->choice[step->product], stream);
}

struct attend_trial {
    const struct model_attend *attend;
    int choice;
};

static int enqueue_attend(const void *what, void *stream)
{
    const struct attend_trial *trial = what;
    struct model_attend attend = *trial->attend;
    if (trial->choice == BY_QUERY) return model_attend_any(&attend, stream);
    int config = read_choice(trial->choice, &attend.precision);
    return model_attend_by(&attend, config, stream);
}

static void rank_attend(struct best *best, const struct model_attend *attend, int begin, int end,
                        void *stream)
{
    for (int choice = begin; choice < end; choice++) {
        struct model_attend by = *attend;
        int config = read_choice(choice, &by.precision);
        if (choice != BY_QUERY && model_attend_refused(&by, config)) continue;
        const struct attend_trial trial = {attend, choice};
        const struct cuda_work work = {enqueue_attend, &trial};
        rank_measured(&best->attend_rivals, choice, &work, stream);
    }
}

/* The same for the attention. */
static void choose_attend(struct best *best, const struct model_attend *attend, void *stream)
{
    best->attend_rivals.count = 0;
    rank_attend(best, attend, BY_QUERY, model_attend_configs(attend->precision), stream);
    if (attend->precision == GPT_TF32)
        rank_attend(best, attend, IN_FP32, IN_FP32 + model_attend_configs(GPT_FP32), stream);
    best->attend_choice = best->attend_rivals.count > 0 ? best->attend_rivals.choice[0] : BY_QUERY;
}

static int attend(void *self, const struct model_attend *attend, void *stream)
{
    struct best *best = self;
    if (best->attend_choice == UNKNOWN) choose_attend(best, attend, stream);
    const struct attend_trial trial = {attend, attend->last ? BY_QUERY : best->attend_choice};
    return enqueue_attend(&trial, stream);
}

enum { CHOICE_NAME = 16 };

static void choice_name(int64_t precision, int choice, char name[CHOICE_NAME])
{
    const char *fixed = choice == BY_LIBRARY ? "lt" : choice == BY_WGMMA ? "wgmma" : "warp";
    const int number = read_choice(choice, &precision);
    if (choice < 0)
        (void)snprintf(name, CHOICE_NAME, "%s", fixed);
    else
        model_numbered_name(precision, number, name, CHOICE_NAME);
}

static const char *attend_name(int64_t precision, int choice)
{
    if (choice < 0) return "query";
    int config = read_choice(choice, &precision);
    return model_attend_name(precision, config);
}

static const char *in_fp32(int choice)
{
    return choice >= IN_FP32 ? "fp32:" : "";
}

static void note(const struct best *best, struct assay_call *call)
{
    const struct model *model = &best->run.model;
    size_t used = 0;
    int products = model->vocabulary > 0 ? (int)MODEL_PRODUCTS : (int)MODEL_P_HEAD;
    const char *at_once = best->context == MODEL_CACHED ? "persistent" : "clusters";
    (void)snprintf(call->note, sizeof call->note, "%s", best->at_once ? at_once : "");
    if (best->at_once) return;
    for (int p = 0; p < products && used < sizeof call->note; p++) {
        char name[CHOICE_NAME];
        choice_name(model->precision, best->choice[p], name);
        used += (size_t)snprintf(call->note + used, sizeof call->note - used, "%s%s%s",
                                 p ? " " : "", in_fp32(best->choice[p]), name);
    }
    if (used < sizeof call->note)
        (void)snprintf(call->note + used, sizeof call->note - used, ", attention %s%s",
                       in_fp32(best->attend_choice),
                       attend_name(model->precision, best->attend_choice));
}

/* -------------------------------------------------------------- variants -- */

static int enqueue(const void *what, void *stream)
{
    const struct best *best = what;
    if (best->at_once && best->context == MODEL_CACHED)
        return model_persistent_enqueue(&best->persistent, stream);
    if (best->at_once) return model_clusters_enqueue(best->clusters, stream);
    return model_run_enqueue(&best->run, &best->provider, best->context, stream);
}

static double whole_us(const struct best *best)
{
    const struct cuda_work whole = {enqueue, best};
    return cuda_graph_time_us(&whole, best->call->stream, INFINITY);
}

/* A step takes a different time in the model than among copies of itself: its operands are in other
 * caches, and it may begin before the step before has ended. So candidates that came close are
 * tried in the whole model, one step after the other. */
static void settle(const struct best *best, int *choice, const struct model_ranking *rivals,
                   double *least_us)
{
    const double CLOSE = 1.3, CLEARLY = 0.99;
    for (int i = 0; i < rivals->count && rivals->us[i] < CLOSE * rivals->us[0]; i++) {
        int kept = *choice;
        if (rivals->choice[i] == kept) continue;
        *choice = rivals->choice[i];
        double us = whole_us(best);
        if (us < CLEARLY * *least_us)
            *least_us = us;
        else
            *choice = kept;
    }
}

/* Changing one step at a time can miss a better combination of two, and a step is ranked by itself,
 * with its weights in L2, where those of a large model are not. So the search also starts from the
 * library's products throughout, whatever their rank. */
static void settle_library(struct best *best, double *least_us)
{
    int kept[MODEL_PRODUCTS];
    memcpy(kept, best->choice, sizeof kept);
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        if (best->by_library[p]) best->choice[p] = BY_LIBRARY;
    double us = whole_us(best);
    if (us < *least_us)
        *least_us = us;
    else
        memcpy(best->choice, kept, sizeof kept);
}

/* 0, -1, or ASSAY_SKIP where all layers cannot be done by one launch. */
static int at_once_init(struct best *best)
{
    const struct assay_shape *shape = best->call->shape;
    if (best->context == MODEL_CACHED)
        return model_persistent_refused(shape)
                   ? ASSAY_SKIP
                   : model_persistent_init(&best->persistent, &best->run, best->call);
    return model_clusters_refused(shape) ? ASSAY_SKIP
                                         : model_clusters_init(&best->clusters, best->call);
}

/* Last, the whole model, or the whole token, by one launch. */
static int settle_at_once(struct best *best)
{
    const struct cuda_work whole = {enqueue, best};
    int status = at_once_init(best);
    if (status) return status == ASSAY_SKIP ? 0 : -1;
    const double apart_us = cuda_graph_single_us(&whole, best->call->stream);
    best->at_once = true;
    best->at_once = cuda_graph_single_us(&whole, best->call->stream) < apart_us;
    return 0;
}

static int settle_all(struct best *best)
{
    double least_us = whole_us(best);
    settle_library(best, &least_us);
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        settle(best, &best->choice[p], &best->rivals[p], &least_us);
    settle(best, &best->attend_choice, &best->attend_rivals, &least_us);
    return settle_at_once(best);
}

static int setup_as(struct assay_call *call, enum model_context context)
{
    struct best *best = call->state = calloc(1, sizeof *best);
    if (!best) return assay_error("out of memory");
    bool cached = context == MODEL_CACHED;
    best->call = call;
    best->context = context;
    best->attend_choice = UNKNOWN;
    best->provider = (struct model_provider){product, attend, best};
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        best->choice[p] = UNKNOWN;
    int status = model_run_init(&best->run, call, cached);
    if (status) return status;
    const struct model *model = &best->run.model;
    int64_t bytes = model->rows * model->channels * gpt_bytes(model->precision);
    status = device_memory(call, &best->normed, bytes, "the norm");
    if (status == 0) status = model_library_prepare(&best->library, call);
    if (status == 0) status = model_split_init(&best->split, model, call);
    if (status) return status;
    if (model_tiles_allow() || model_rings_allow() || model_wholes_allow()) return -1;
    if (cached) {
        const struct model_provider prefill = {model_tile_product, attend, best};
        if (model_run_enqueue(&best->run, &prefill, MODEL_PREFILL, call->stream)) return -1;
        best->attend_choice = UNKNOWN; /* it was chosen for many queries */
    }
    /* The first run is eager and makes the choices; then they are settled and recorded. */
    if (enqueue(best, call->stream)) return -1;
    if (cuda_error(cudaStreamSynchronize(call->stream), "the first run")) return -1;
    if (settle_all(best) < 0) return -1;
    if (best->at_once && model_run_forget(&best->run, call)) return -1;
    note(best, call);
    const struct cuda_work work = {enqueue, best};
    return cuda_graph_record(&best->graph, &work, 1);
}

static int setup(struct assay_call *call)
{
    return setup_as(call, MODEL_RECOMPUTE);
}

static int setup_cached(struct assay_call *call)
{
    return setup_as(call, MODEL_CACHED);
}

static int launch(struct assay_call *call)
{
    const struct best *best = call->state;
    return cuda_graph_launch(best->graph, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct best *best = call->state;
    if (!best) return;
    cuda_graph_release(best->graph);
    model_library_release(&best->library);
    model_run_release(&best->run);
    model_persistent_release(&best->persistent);
    model_clusters_release(best->clusters);
    model_split_release(best->split);
    cudaFree(best->normed);
    free(best);
}

#define BEST(operation_name, variant_name, text, setup_with)                                       \
    static const struct assay_variant variant_name##_##operation_name = {                          \
        .operation = #operation_name,                                                              \
        .name = #variant_name,                                                                     \
        .summary = text,                                                                           \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 80,                                                                              \
        .shared_bytes = model_tiles_shared_bytes,                                                  \
        .setup = setup_with,                                                                       \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_name##_##operation_name)

BEST(gpt_forward, best, "each product the fastest way measured, one CUDA graph", setup);
BEST(gpt_block, best, "each product the fastest way measured, one CUDA graph", setup);
BEST(gpt_decode, best, "keys and values kept, each product the fastest way, one graph",
     setup_cached);
BEST(gpt_decode_codes, best, "codes decoded to bf16 in setup, or in each launch where it is faster",
     setup_cached);
