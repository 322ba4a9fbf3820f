/*
 * model.h - whole GPT models: operations gpt_forward, gpt_block, gpt_decode and gpt_decode_codes.
 *
 * One layer, where x [rows, c] is the residual stream:
 *
 *   x += attention(norm1(x) wqkv^T + bqkv) wproj^T + bproj
 *   x += gelu(norm2(x) wfc^T + bfc) wfc2^T + bfc2
 *
 * Without a vocabulary the model is its layers: x in, x out. With one, token ids come in, x =
 * wte[id] + wpe[position], and y = norm(x) whead^T, without a bias, goes out.
 *
 *   gpt_forward   y of every token
 *   gpt_block     one layer, no vocabulary
 *   gpt_decode    y of the last token of each sequence, which follows `context` others
 *
 *   gpt_decode_codes  the same in bf16, without a vocabulary, from weights that are codes of E8
 *                     (model_codes.h)
 *
 * All have the same buffers, so they share one description, struct model, and one reference.
 * Weights of one kind are stored layer after layer, each as it was trained: [outputs, inputs].
 */
#pragma once

#include "kernels/gpt/gpt.h"

/* gpt_block has the first five dims. Those that decode call the fourth `context`: one token less.
 * gpt_decode_codes calls the fifth `code`, and has no seventh. */
enum model_dim {
    MODEL_HEADS,
    MODEL_CHANNELS,
    MODEL_BATCH,
    MODEL_TOKENS,
    MODEL_PRECISION,
    MODEL_LAYERS,
    MODEL_VOCABULARY
};

/* IN is x, or ids; the last three only with a vocabulary, and FACTOR only with codes. */
enum model_buffer {
    MODEL_IN,
    MODEL_QKV,
    MODEL_PROJ,
    MODEL_FC,
    MODEL_FC2,
    MODEL_SCALE, /* of the norms: [2 layers (+ 1)][c] */
    MODEL_BIAS,  /* [layers][11 c] (+ c), in the order of enum model_bias */
    MODEL_Y,
    MODEL_WTE,
    MODEL_WPE,
    MODEL_HEAD,
    MODEL_FACTOR = MODEL_WTE /* of the weights' codes: [layers][4] */
};

/* Where each vector of a layer starts among the layer's 11 c numbers, in units of c. */
enum model_bias {
    MODEL_BIAS_NORM1 = 0,
    MODEL_BIAS_QKV = 1,
    MODEL_BIAS_PROJ = 4,
    MODEL_BIAS_NORM2 = 5,
    MODEL_BIAS_FC = 6,
    MODEL_BIAS_FC2 = 10,
    MODEL_BIAS_LAYER = 11
};

enum { MODEL_MAX_HEAD = 256 }; /* elements of a head */

struct model {
    int64_t layers, heads, channels, batch, tokens, vocabulary;
    int64_t size; /* of a head */
    int64_t rows; /* batch times tokens */
    int64_t precision;
    bool decode; /* only the last token's y is wanted */
    bool codes;  /* the weights of the four products of a layer are codes */
};

/* The products of a layer, and the last one. */
enum model_product { MODEL_P_QKV, MODEL_P_PROJ, MODEL_P_FC, MODEL_P_FC2, MODEL_P_HEAD };
enum { MODEL_PRODUCTS = 5 };

/* Outputs and inputs of a product, in elements. */
struct model_matrix {
    enum model_buffer buffer;
    int64_t n, k;
};

static inline struct model_matrix model_matrix(const struct model *model,
                                               enum model_product product)
{
    int64_t c = model->channels;
    const struct model_matrix table[MODEL_PRODUCTS] = {
        [MODEL_P_QKV] = {MODEL_QKV, 3 * c, c},
        [MODEL_P_PROJ] = {MODEL_PROJ, c, c},
        [MODEL_P_FC] = {MODEL_FC, 4 * c, c},
        [MODEL_P_FC2] = {MODEL_FC2, c, 4 * c},
        [MODEL_P_HEAD] = {MODEL_HEAD, model->vocabulary, c},
    };
    return table[product];
}

/* Elements of a row of y. */
static inline int64_t model_width(const struct model *model)
{
    return model->vocabulary > 0 ? model->vocabulary : model->channels;
}

/* The index in MODEL_BIAS at which a vector of a layer starts; with `layer` = model->layers that of
 * the norm after the last layer. */
static inline int64_t model_bias_at(const struct model *model, int64_t layer, enum model_bias which)
{
    return (layer * MODEL_BIAS_LAYER + (int64_t)which) * model->channels;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The model of a shape of any of these operations. */
struct model model_of(const struct assay_shape *shape);

/* Multiply-adds of the weights for one row through all layers, without the vocabulary. */
double model_layer_cost(const struct model *model);

/* An operation's `reference` (model_reference.c), which documents the bound. */
int model_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, double *expected, double *bound);

#ifdef __cplusplus
}
#endif
