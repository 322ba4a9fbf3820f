/*
 * model_persistent.h - a token of every sequence by one launch: what kernel and host agree on.
 *
 * Between the steps of a layer, blocks hand numbers over as words of 8 bytes: a number or two, and
 * a tag, which is another one in every layer of every launch. Who reads a word waits until it has
 * the tag that it expects. No word is written again before all that read it have: what is written
 * next depends on what they made of it.
 */
#pragma once

#include "model_cuda.h"

enum {
    PERSISTENT_ROWS = 8,   /* sequences */
    PERSISTENT_WARPS = 16, /* that multiply; one more fetches */
    PERSISTENT_LANES = 32 * PERSISTENT_WARPS,
    PERSISTENT_GROUP = 4,  /* rows of a weight that a warp takes at a time */
    PERSISTENT_GROUPS = 8, /* at most, between two barriers */
    PERSISTENT_PIECE = 768 /* elements of a row in a slot of the ring: whole units of 32 times 16
                              bytes */
};

/* Words, each kind [batch][...]: x as a layer ends, and after its attention; q, k and v; what fc
 * makes; the attention, [pieces] of the context. */
enum persistent_words {
    PERSISTENT_X,
    PERSISTENT_MIDDLE,
    PERSISTENT_QKV,
    PERSISTENT_FC,
    PERSISTENT_ATTENDED,
    PERSISTENT_KINDS
};

struct persistent_args {
    const void *in, *w[MODEL_PRODUCTS], *scale, *bias, *wte, *wpe;
    void *y, *cache;                   /* [layers], cache_bytes apart: [batch][tokens][3][c] */
    uint64_t *words[PERSISTENT_KINDS]; /* device memory, zeros at first */
    uint32_t *last;                    /* the last tag that was used, 0 at first */
    int64_t cache_bytes;
    float scale_of_scores, per_channel; /* 1 / channels */
    int layers, heads, size, channels, batch, tokens, vocabulary;
    int pieces;            /* of the context */
    int slots, slot_bytes; /* of the ring */
    int x_floats;          /* of a step's input in shared memory */
};

struct model_persistent {
    struct persistent_args args;
    void *memory; /* the words, and the last tag */
    const void *kernel;
    unsigned blocks;
    int shared_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why a shape of gpt_decode cannot be decoded so on this card. */
const char *model_persistent_refused(const struct assay_shape *shape);
/* In setup, for a run with a cache, which PREFILL has filled when the first launch runs: allocates,
 * and adds to call->workspace_bytes. 0, -1 or ASSAY_SKIP. What starts as zeros may be released
 * after a failure too. */
int model_persistent_init(struct model_persistent *persistent, const struct model_run *run,
                          struct assay_call *call);
/* One launch. Launches of one struct must follow each other: it holds their last tag. */
int model_persistent_enqueue(const struct model_persistent *persistent, void *stream);
void model_persistent_release(struct model_persistent *persistent);

#ifdef __cplusplus
}
#endif
