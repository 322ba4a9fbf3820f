/*
 * model_codes.h - weights as codes, of gpt_decode_codes: E8 with q = 4 and two levels (q4m2 of
 * kernels/lut), 32 bits for 8 weights, a scale for each matrix.
 *
 * A row of a weight is its blocks of 8 inputs, the last one filled up; a block is two indices of 16
 * bits, level 0 first; a row is filled up to 16 bytes with zeros. With z the doubled coordinates of
 * a block's point, level 0 plus four times level 1 (whole numbers of at most 8 bits), its weights
 * are
 *
 *   w = factor[layer][product] z
 *
 * Factors are powers of two, so that weights are exact in bf16. They lie in a buffer of their own,
 * fp32.
 */
#pragma once

#include "kernels/lut/lut.h"
#include "model.h"

enum {
    MODEL_CODE_PRODUCTS = 4,
    MODEL_CODE_BLOCK = 8,
    MODEL_CODE_LEVELS = 2,
    MODEL_CODE_Q = 4,
    MODEL_CODE_CHUNK = 64 /* weights of which kernels take whole ones */
};

/* Codes of a product's weights, those of all layers as one matrix: row layer n + output. */
static inline struct lut_geometry model_code_geometry(const struct model *model,
                                                      enum model_product product)
{
    const struct model_matrix matrix = model_matrix(model, product);
    struct lut_geometry geometry = {0};
    geometry.rows = model->batch;
    geometry.columns = model->layers * matrix.n;
    geometry.k = matrix.k;
    geometry.d = MODEL_CODE_BLOCK;
    geometry.blocks = (matrix.k + MODEL_CODE_BLOCK - 1) / MODEL_CODE_BLOCK;
    geometry.q = MODEL_CODE_Q;
    geometry.levels = MODEL_CODE_LEVELS;
    geometry.format = LUT_PACKED;
    geometry.bits = 16;
    geometry.count = 1 << 16;
    geometry.stride_bytes = (geometry.blocks * MODEL_CODE_LEVELS * 2 + 15) / 16 * 16;
    geometry.divisor = codebook_lattices[CODEBOOK_E8].divisor;
    geometry.unit = codebook_lattices[CODEBOOK_E8].unit;
    return geometry;
}

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const model_code_names[]; /* choices of the dim `code`, ended by NULL */

/* The codewords, or NULL with assay_error. */
const struct codebook *model_codebook(void);

/* Bytes of all codes of a model. */
double model_code_bytes(const struct model *model);

/* A product's codes, or the factors, as a buffer; and what is in it. */
struct assay_buffer model_code_buffer(const struct model *model, enum model_product product,
                                      const char *name);
struct assay_buffer model_factor_buffer(const struct model *model);
void model_fill_codes(const struct model *model, enum model_product product, uint64_t seed,
                      void *host);
void model_fill_factors(const struct model *model, uint64_t seed, float *host);

/* A product's weights, to be decoded. */
struct model_coded {
    const struct codebook *codebook;
    struct lut_geometry geometry;
    struct lut_codes codes;
    const float *factor; /* of the first layer */
    int64_t n;
};

/* 0, or -1 with assay_error. */
int model_coded(const struct model *model, const void *const in[], enum model_product product,
                struct model_coded *coded);

/* The weights of a block of output `row`. */
void model_code_weights(const struct model_coded *coded, int64_t layer, int64_t row, int64_t block,
                        float out[MODEL_CODE_BLOCK]);

/* All weights of a product as fp32, [layers][n][k]. 0, or -1 with assay_error. */
int model_decode_host(const struct model *model, const void *const in[], enum model_product product,
                      float *out);

#ifdef __cplusplus
}
#endif
