/*
 * model_codes.c - weights as codes on the host: buffers, what they are filled with, and decoding,
 * for reference and host variants. See model_codes.h.
 *
 * Codes are random, so that points are spread evenly over the code's cell; their doubled
 * coordinates have a deviation of 9.1. Factors bring weights to a deviation of 1 / sqrt(inputs) or
 * less, down to a quarter of it, by a power of two that differs between matrices: the factor of
 * another one shows.
 */
#include "model_codes.h"

#define POINT_DEVIATION 9.1

const char *const model_code_names[] = {"q4m2", NULL};

const struct codebook *model_codebook(void)
{
    return codebook_get(CODEBOOK_E8, MODEL_CODE_Q);
}

double model_code_bytes(const struct model *model)
{
    double bytes = 0;
    for (int p = 0; p < MODEL_CODE_PRODUCTS; p++) {
        const struct lut_geometry geometry = model_code_geometry(model, (enum model_product)p);
        bytes += (double)(geometry.columns * geometry.stride_bytes);
    }
    return bytes;
}

struct assay_buffer model_code_buffer(const struct model *model, enum model_product product,
                                      const char *name)
{
    const struct lut_geometry geometry = model_code_geometry(model, product);
    return lut_codes_buffer(&geometry, name, geometry.columns);
}

struct assay_buffer model_factor_buffer(const struct model *model)
{
    return (struct assay_buffer){.name = "factor",
                                 .role = ASSAY_IN,
                                 .type = ASSAY_F32,
                                 .count = model->layers * MODEL_CODE_PRODUCTS,
                                 .fill = {.kind = ASSAY_FILL_CUSTOM},
                                 .constant = true};
}

void model_fill_codes(const struct model *model, enum model_product product, uint64_t seed,
                      void *host)
{
    const struct lut_geometry geometry = model_code_geometry(model, product);
    lut_fill_codes(&geometry, geometry.columns, seed, host);
}

void model_fill_factors(const struct model *model, uint64_t seed, float *host)
{
    for (int64_t i = 0; i < model->layers * MODEL_CODE_PRODUCTS; i++) {
        const struct model_matrix matrix =
            model_matrix(model, (enum model_product)(i % MODEL_CODE_PRODUCTS));
        double most = 1 / (POINT_DEVIATION * sqrt((double)matrix.k));
        host[i] = (float)exp2(floor(log2(most)) - (double)(lut_mix(seed, (uint64_t)i) & 1));
    }
}

int model_coded(const struct model *model, const void *const in[], enum model_product product,
                struct model_coded *coded)
{
    const struct model_matrix matrix = model_matrix(model, product);
    coded->codebook = model_codebook();
    coded->geometry = model_code_geometry(model, product);
    coded->codes = lut_codes(&coded->geometry, in[matrix.buffer], coded->geometry.columns);
    coded->factor = (const float *)in[MODEL_FACTOR] + product;
    coded->n = matrix.n;
    return coded->codebook ? 0 : -1;
}

void model_code_weights(const struct model_coded *coded, int64_t layer, int64_t row, int64_t block,
                        float out[MODEL_CODE_BLOCK])
{
    float factor = coded->factor[layer * MODEL_CODE_PRODUCTS];
    int point[CODEBOOK_MAX_D];
    lut_decode_block(coded->codebook, &coded->geometry, &coded->codes, false,
                     layer * coded->n + row, block, point);
    for (int i = 0; i < MODEL_CODE_BLOCK; i++)
        out[i] = factor * (float)point[i];
}

int model_decode_host(const struct model *model, const void *const in[], enum model_product product,
                      float *out)
{
    struct model_coded coded;
    if (model_coded(model, in, product, &coded)) return -1;
    int64_t k = coded.geometry.k;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < coded.geometry.columns; row++)
        for (int64_t i = 0; i < k; i += MODEL_CODE_BLOCK) {
            float block[MODEL_CODE_BLOCK];
            int64_t count = k - i < MODEL_CODE_BLOCK ? k - i : MODEL_CODE_BLOCK;
            model_code_weights(&coded, row / coded.n, row % coded.n, i / MODEL_CODE_BLOCK, block);
            memcpy(out + row * k + i, block, (size_t)count * sizeof *out);
        }
    return 0;
}
