/*
 * cuda_best_cuda.c - see cuda_best.h. All candidates are set up before the first is timed, since
 * those close to the least are timed several times.
 */
#include "cuda_best.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_trial.h"

struct candidate {
    struct assay_call call; /* its own state; the rest is that of the caller */
};

struct best {
    struct candidate list[CUDA_BEST_MOST];
    int count;
    struct candidate *chosen;
};

/* The variants that were linked together with this file: of a program or of one object. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const struct assay_variant *const __start_assay_variants[] SECTION_END;
extern const struct assay_variant *const __stop_assay_variants[] SECTION_END;

static const struct assay_variant *find(const char *operation, const char *name)
{
    const struct assay_variant *const *entry = __start_assay_variants;
    for (; entry < __stop_assay_variants; entry++)
        if ((*entry)->place == ASSAY_CUDA && strcmp((*entry)->operation, operation) == 0 &&
            strcmp((*entry)->name, name) == 0)
            return *entry;
    return NULL;
}

static bool takes(const struct assay_variant *variant, const struct assay_shape *shape)
{
    const struct assay_card *card = assay_card();
    if (variant->supports && variant->supports(shape)) return false;
    if (card->sm < variant->min_sm || (variant->max_sm && card->sm > variant->max_sm)) return false;
    if (variant->arch_specific && !card->arch_specific) return false;
    return !variant->shared_bytes || variant->shared_bytes(shape) <= card->shared_bytes;
}

/* The kernel at a place of the choice, of which the last is the fallback; NULL: none. */
static const struct assay_variant *kernel(const struct cuda_choice *choice, int i)
{
    const char *name = i < CUDA_BEST_MOST ? choice->kernels[i] : choice->fallback;
    return name ? find(choice->operation, name) : NULL;
}

const char *cuda_best_refuses(const struct cuda_choice *choice, const struct assay_shape *shape)
{
    const char *refused = "no kernel is linked";
    for (int i = 0; i <= CUDA_BEST_MOST; i++) {
        const struct assay_variant *variant = kernel(choice, i);
        if (!variant) continue;
        refused = variant->supports ? variant->supports(shape) : NULL;
        if (!refused) return NULL;
    }
    return refused;
}

static void release(struct candidate *candidate)
{
    if (candidate->call.variant->teardown) candidate->call.variant->teardown(&candidate->call);
}

/* One that lacks memory, say, leaves the choice to the others. */
static int add(struct best *best, const struct assay_call *call,
               const struct assay_variant *variant)
{
    struct candidate *candidate = &best->list[best->count++];
    candidate->call = *call;
    candidate->call.state = NULL;
    candidate->call.workspace_bytes = 0;
    candidate->call.variant = variant;
    int status = variant->setup ? variant->setup(&candidate->call) : 0;
    if (status != ASSAY_SKIP) return status;
    release(candidate);
    best->count--;
    return 0;
}

/* Where none is left the last one that was tried has said why. */
static int list_candidates(struct best *best, const struct cuda_choice *choice,
                           const struct assay_call *call)
{
    bool tried = false;
    for (int i = 0; i <= CUDA_BEST_MOST; i++) {
        const struct assay_variant *variant = kernel(choice, i);
        if (!variant || !takes(variant, call->shape)) continue;
        if (i == CUDA_BEST_MOST && best->count > 0) continue;
        int status = add(best, call, variant);
        if (status) return status;
        tried = true;
    }
    if (!tried) (void)assay_error("this card has no kernel for this shape");
    return best->count > 0 ? 0 : ASSAY_SKIP;
}

static int enqueue(const void *what, void *stream)
{
    struct assay_call call = ((const struct candidate *)what)->call;
    call.stream = stream;
    return call.variant->launch(&call);
}

static int choose(struct best *best, const struct assay_call *call)
{
    struct cuda_rival rivals[CUDA_BEST_MOST] = {0};
    int fastest = 0;
    for (int i = 0; i < best->count; i++)
        rivals[i].work = (struct cuda_work){enqueue, &best->list[i]};
    int status = cuda_trial_fastest(call, NULL, rivals, best->count, &fastest);
    best->chosen = &best->list[fastest];
    return status;
}

int cuda_best_setup(const struct cuda_choice *choice, struct assay_call *call)
{
    struct best *best = call->state = calloc(1, sizeof *best);
    if (!best) return assay_error("out of memory");
    int status = list_candidates(best, choice, call);
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

int cuda_best_launch(struct assay_call *call)
{
    struct assay_call chosen = ((const struct best *)call->state)->chosen->call;
    memcpy(chosen.buffer, call->buffer, sizeof chosen.buffer);
    chosen.stream = call->stream;
    return chosen.variant->launch(&chosen);
}

void cuda_best_teardown(struct assay_call *call)
{
    struct best *best = call->state;
    if (!best) return;
    for (int i = 0; i < best->count; i++)
        release(&best->list[i]);
    free(best);
}
