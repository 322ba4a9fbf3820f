/*
 * attention_best_cuda.c - the fastest of our kernels for a shape, measured in setup as the case
 * will be timed (cuda_trial.h). The note says which it was, and its own note.
 *
 * Operations and bytes: those of the kernel that is chosen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attention_variants.h"
#include "kernels/cuda/cuda_trial.h"
#include "kernels/gpt/gpt.h"

enum { CANDIDATES = 7, ROUNDS = 3 };
static const double CLOSE = 1.1; /* timed again in later rounds */

struct candidate {
    struct assay_call call; /* its own state; the rest is that of the caller */
    double us;
};

struct best {
    struct candidate list[CANDIDATES];
    int count;
    struct candidate *chosen;
};

/* naive3 is the last: it reads the keys from memory for each query, and is taken only where there
 * is no other. */
typedef const struct assay_variant *variant_function(void);
static variant_function *const candidates[CANDIDATES] = {
    attention_online_wgmma, attention_online_bf16,
    attention_online_fp16,  attention_online_tf32_wgmma,
    attention_online_tf32,  attention_online_fp32,
    attention_naive3};

static bool takes(const struct assay_variant *variant, const struct assay_shape *shape)
{
    const struct assay_card *card = assay_card();
    if (variant->supports && variant->supports(shape)) return false;
    if (card->sm < variant->min_sm || (variant->max_sm && card->sm > variant->max_sm)) return false;
    if (variant->arch_specific && !card->arch_specific) return false;
    return !variant->shared_bytes || variant->shared_bytes(shape) <= card->shared_bytes;
}

static int list_candidates(struct best *best, const struct assay_call *call)
{
    for (int i = 0; i < CANDIDATES; i++) {
        const struct assay_variant *variant = candidates[i]();
        bool last = i == CANDIDATES - 1;
        if (!takes(variant, call->shape) || (last && best->count > 0)) continue;
        struct candidate *candidate = &best->list[best->count++];
        candidate->call = *call;
        candidate->call.state = NULL;
        candidate->call.workspace_bytes = 0;
        candidate->call.variant = variant;
        int status = variant->setup(&candidate->call);
        if (status) return status;
    }
    if (best->count > 0) return 0;
    (void)assay_error("this card has no kernel for this shape");
    return ASSAY_SKIP;
}

static int enqueue(const void *what, void *stream)
{
    struct assay_call call = ((const struct candidate *)what)->call;
    call.stream = stream;
    return call.variant->launch(&call);
}

static int choose(struct best *best, const struct assay_call *call)
{
    struct cuda_trial trial;
    double least = INFINITY;
    int status = cuda_trial_open(&trial, call);
    for (int round = 0; round < ROUNDS && !status; round++)
        for (int i = 0; i < best->count; i++) {
            struct candidate *candidate = &best->list[i];
            if (round > 0 && candidate->us > CLOSE * least) continue;
            const struct cuda_work work = {enqueue, candidate};
            double us = cuda_trial_us(&trial, &work, least);
            if (round == 0 || us < candidate->us) candidate->us = us;
            if (us < least) least = us, best->chosen = candidate;
        }
    cuda_trial_close(&trial);
    if (status) return status;
    return best->chosen ? 0 : assay_error("none of the kernels ran");
}

static void release(struct candidate *candidate)
{
    if (candidate->call.variant->teardown) candidate->call.variant->teardown(&candidate->call);
}

static int setup(struct assay_call *call)
{
    struct best *best = call->state = calloc(1, sizeof *best);
    if (!best) return assay_error("out of memory");
    int status = list_candidates(best, call);
    if (!status) status = choose(best, call);
    if (status) return status;
    const struct assay_call *chosen = &best->chosen->call;
    call->workspace_bytes += chosen->workspace_bytes;
    (void)snprintf(call->note, sizeof call->note, "%s%s%s, of %d", chosen->variant->name,
                   chosen->note[0] ? " " : "", chosen->note, best->count);
    for (int i = 0; i < best->count; i++)
        if (&best->list[i] != best->chosen) release(&best->list[i]);
    best->list[0] = *best->chosen;
    best->chosen = best->list;
    best->count = 1;
    return 0;
}

static int launch(struct assay_call *call)
{
    struct assay_call chosen = ((const struct best *)call->state)->chosen->call;
    for (int i = 0; i < ASSAY_MAX_BUFFERS; i++)
        chosen.buffer[i] = call->buffer[i];
    chosen.stream = call->stream;
    return chosen.variant->launch(&chosen);
}

static void teardown(struct assay_call *call)
{
    struct best *best = call->state;
    if (!best) return;
    for (int i = 0; i < best->count; i++)
        release(&best->list[i]);
    free(best);
}

static const char *supports(const struct assay_shape *shape)
{
    const char *refused = NULL;
    for (int i = 0; i < CANDIDATES; i++) {
        refused = candidates[i]()->supports(shape);
        if (!refused) return NULL;
    }
    return refused;
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "best",
    .summary = "the fastest of our kernels, measured in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
