/*
 * model_persistent.h - a token of every sequence by one launch: what kernel and host agree on.
 *
 * Between the steps of a layer, blocks hand numbers over as words of 4 bytes: an fp32 whose lowest
 * bit is the word's turn, 1 or 0, the other one each time that the word is written. Who reads a
 * word waits until it has the turn that it expects. No word is written again before all that read
 * it have: what is written next depends on what they made of it.
 *
 * Words are in quads, each read at once, and each on 32 bytes, of which the second half is left
 * free: who reads and writes neighbours shares fewer lines. The pieces of the attention are read
 * word by word, and are side by side.
 */
#pragma once

#include "kernels/lut/weight_code.h"
#include "model_cuda.h"

enum {
    PERSISTENT_ROWS = 8,  /* sequences */
    PERSISTENT_WARPS = 8, /* that multiply; one more brings, and one fetches */
    PERSISTENT_LANES = 32 * PERSISTENT_WARPS,
    PERSISTENT_MEET = PERSISTENT_LANES + 32, /* all but the last, which a pair does not have */
    PERSISTENT_THREADS = PERSISTENT_MEET + 32,
    PERSISTENT_GROUP = 8,  /* rows of a weight side by side in a warp */
    PERSISTENT_GROUPS = 3, /* at most, between two barriers */
    PERSISTENT_UNIT = 16,  /* elements of k that a warp takes at a time */
    PERSISTENT_PIECE = 768 /* elements of a row in a slot of the ring: whole units */
};

/* Words, each kind [batch][...]: x as a layer ends, and after its attention; q, k and v; what fc
 * makes; the attention; and its pieces but the last, [pieces - 1][batch][heads][size + 2]. */
enum persistent_words {
    PERSISTENT_X,
    PERSISTENT_MIDDLE,
    PERSISTENT_QKV,
    PERSISTENT_FC,
    PERSISTENT_ATTENDED,
    PERSISTENT_PIECES,
    PERSISTENT_KINDS
};

/* Of an output behind a norm, with w its row of weights: w scale; and w shift + bias. */
struct persistent_fold {
    float scale, shift;
};

struct persistent_args {
    const void *in, *w[MODEL_PRODUCTS], *scale, *bias, *wte, *wpe;
    const struct persistent_fold *fold; /* [layers][7 c] for qkv and fc, [vocabulary] */
    void *y, *cache;                    /* [layers], cache_bytes apart: [batch][tokens][3][c] */
    uint32_t *words[PERSISTENT_KINDS];  /* device memory, zeros at first */
    uint32_t *launches;                 /* done so far, 0 at first */
    int64_t cache_bytes;
    float scale_of_scores, per_channel; /* 1 / channels */
    int layers, heads, size, channels, batch, tokens, vocabulary;
    int pieces;            /* of the context */
    int slots, slot_bytes; /* of the ring */
    int ring_at;           /* in shared memory */
    int warp_floats;       /* of shared memory that each warp has for itself */
    int stream_rows;       /* of the stream's columns, at most, in a block or pair */
    /* Where weights are codes (model_persistent_codes.cuh): */
    struct weight_constants constants;
    const void *table;   /* of codewords, WEIGHT_TABLE_BYTES */
    const float *factor; /* [layers][4] */
};

struct model_persistent {
    struct persistent_args args;
    void *memory; /* the words, `launches` and `fold` */
    void *codes;  /* in the kernel's order; the table, and the norms' scales in this order */
    const void *kernel;
    unsigned blocks;
    int cluster; /* blocks of one */
    unsigned threads;
    int shared_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why a shape of gpt_decode or gpt_decode_codes cannot be decoded so on this card. */
const char *model_persistent_refused(const struct assay_shape *shape);
/* In setup, for a run with a cache, which PREFILL has filled when the first launch runs: allocates,
 * and adds to call->workspace_bytes. 0, -1 or ASSAY_SKIP. What starts as zeros may be released
 * after a failure too. */
int model_persistent_init(struct model_persistent *persistent, const struct model_run *run,
                          struct assay_call *call);
/* One launch. Launches of one struct must follow each other: it holds their last turn. */
int model_persistent_enqueue(const struct model_persistent *persistent, void *stream);
void model_persistent_release(struct model_persistent *persistent);

/* A part of model_persistent_init where weights are codes: puts them and what belongs to them in
 * order, in `args`, which had the decoded ones. */
int model_persistent_codes(struct model_persistent *persistent, const struct model *model,
                           struct assay_call *call);

#ifdef __cplusplus
}
#endif
