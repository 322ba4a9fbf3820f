/*
 * model_cuda.h - a model on the GPU. A run goes through the layers and asks a provider for each
 * product and each attention (struct model_step, struct model_attend). A provider is kernels of
 * ours or a library; each variant has one, and launches it kernel by kernel or as a CUDA graph.
 */
#pragma once

#include "model.h"

/* y = residual + act(norm(x) w^T + bias) for m rows; ld: elements from row to row. What is
 * NULL is left out. residual may be y itself. */
struct model_step {
    enum model_product product;
    int64_t layer, precision;
    int64_t m, n, k;
    const void *x, *w, *bias;
    const void *scale, *shift; /* of the norm: both or neither */
    const void *residual;
    void *y;
    int64_t ldx, ldr, ldy;
    bool gelu;
};

/* Causal attention from qkv [batch][tokens][3][heads][size] into y, rows packed: all
 * queries, or those of each sequence's last token. */
struct model_attend {
    const void *qkv;
    void *y;
    int64_t batch, tokens, heads, size, precision;
    bool last;
};

struct model_provider {
    int (*product)(void *self, const struct model_step *step, void *stream);
    int (*attend)(void *self, const struct model_attend *attend, void *stream);
    void *self;
};

/* How gpt_decode treats its context: compute it again with the last token; compute it alone and
 * keep its keys and values; compute the last token from what was kept. */
enum model_context { MODEL_RECOMPUTE, MODEL_PREFILL, MODEL_CACHED };

struct model_run {
    struct model model;
    void *const *buffer;              /* the call's, or `own` */
    void *memory;                     /* one allocation, in which all below lies */
    void *x, *tail, *attended, *wide; /* rows [c], batch [c], rows [c], rows [4 c] */
    void *cache;                      /* [layers][rows][3 c]; NULL without one */
    int64_t layer_bytes;              /* of the cache */
    /* Where weights are codes: the weights in bf16; `buffer` is `own` then, the call's with these.
     */
    void *decoded, *own[ASSAY_MAX_BUFFERS];
    int64_t decoded_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Refuses ids outside the vocabulary; allocates, and adds to call->workspace_bytes. 0, -1 or
 * ASSAY_SKIP. A run that starts as zeros may be released after a failure too. */
int model_run_init(struct model_run *run, struct assay_call *call, bool cache);
void model_run_release(struct model_run *run);

/* Of a model whose weights are codes: decodes them to bf16, as a part of model_run_init; frees them
 * where no launch needs them, behind what was enqueued. The run stays where it is. */
int model_run_decode(struct model_run *run, struct assay_call *call);
int model_run_forget(struct model_run *run, struct assay_call *call);

/* Enqueue the whole model. With a cache: PREFILL writes keys and values of the context,
 * CACHED computes the last token from them. */
int model_run_enqueue(const struct model_run *run, const struct model_provider *provider,
                      enum model_context context, void *stream);

/* ----------------------------------------------------------- own kernels -- */

/* How many tiles there are for a precision, and one's name ("32x64"). */
int model_tiles(int64_t precision);
const char *model_tile_name(int64_t precision, int tile);

/* Once, in setup: lets the kernels take the shared memory they need. */
int model_tiles_allow(void);

/* NULL, or why the fused kernels cannot take the step. */
const char *model_tile_refused(const struct model_step *step, int tile);
int model_tile_enqueue(const struct model_step *step, int tile, void *stream);
/* A provider's product by the default tile. */
int model_tile_product(void *self, const struct model_step *step, void *stream);
/* A variant's shared_bytes: the norm keeps whole rows in shared memory. */
int64_t model_tiles_shared_bytes(const struct assay_shape *shape);
/* The tile that should fill the device with the least waste, by calculation. */
int model_tile_default(const struct model_step *step);

/* One warp per output, for up to MODEL_GEMV_ROWS rows. */
enum { MODEL_GEMV_ROWS = 8 };
const char *model_gemv_refused(const struct model_step *step);
int model_gemv_enqueue(const struct model_step *step, void *stream);

/* Hopper's tensor cores; `normed` holds m rows of k where the step has a norm. */
const char *model_wgmma_refused(const struct model_step *step);
int model_wgmma_enqueue(const struct model_step *step, void *normed, void *stream);

/* The kernels of attention_configs.cuh for a precision, by number: a configuration of a block
 * ("32x64") for heads of some sizes. */
int model_attend_configs(int64_t precision);
const char *model_attend_name(int64_t precision, int config);
const char *model_attend_refused(const struct model_attend *attend, int config);
int model_attend_by(const struct model_attend *attend, int config, void *stream);
/* One block per query, for any head size and for one query per sequence. */
int model_attend_any(const struct model_attend *attend, void *stream);
/* The configuration to take without measuring where there is one, else one block per query. */
int model_attend_own(const struct model_attend *attend, void *stream);

/* x [rows][c] = wte[ids] + wpe, or of the last token of each sequence. */
int model_embed(const struct model *model, const int32_t *ids, const void *wte, const void *wpe,
                void *x, bool last, void *stream);

/* Steps that a product may leave to kernels of their own. model_norm: y = norm(step->x), rows
 * packed. model_finish: out = act(step->y + bias) + residual; rows of `out` are `ld` apart, and it
 * may be step->y. */
int model_norm(const struct model_step *step, void *y, void *stream);
int model_finish(const struct model_step *step, const void *bias, bool gelu, const void *residual,
                 void *out, int64_t ld, void *stream);

#ifdef __cplusplus
}
#endif
