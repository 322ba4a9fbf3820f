/*
 * lut_mlp_openblas.c - quantized_mlp on the host by cblas_sgemm, on activations that are not
 * quantised. Setup decodes the weights to fp32.
 *
 * Operations: 2 * rows * width^2 per layer. Bytes: 4 per weight, 4 per entry of X, of C and of what
 * lies between two layers, written and read.
 */
#include <stdlib.h>

#include "load_openblas.h"
#include "lut_mlp.h"

struct state {
    float *weights; /* [layers][width][width] */
    float *hidden;
};

static int setup(struct assay_call *call)
{
    const struct mlp mlp = mlp_of(call->shape);
    const struct codebook *codebook = lut_codebook(&mlp.layer);
    int64_t width = mlp.geometry.columns, rows = mlp.layers * width, blocks = mlp.geometry.blocks;
    struct lut_codes codes = lut_codes(&mlp.geometry, call->buffer[LINEAR_W], rows);
    struct state *state = call->state = calloc(1, sizeof *state);
    int status = openblas_load();
    if (status) return status;
    if (!state || !codebook) return assay_error("out of host memory");
    size_t weights = (size_t)(rows * width) * sizeof(float);
    size_t hidden = (size_t)(mlp.geometry.rows * width) * sizeof(float);
    state->weights = malloc(weights);
    state->hidden = malloc(hidden);
    if (!state->weights || !state->hidden) return assay_error("out of host memory for the weights");
    call->workspace_bytes += (int64_t)(weights + hidden);
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < rows * blocks; at++) {
        int64_t row = at / blocks, first = at % blocks * 8;
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &mlp.geometry, &codes, true, row, at % blocks, point);
        for (int i = 0; i < 8 && first + i < width; i++)
            state->weights[row * width + first + i] = 0.5f * (float)point[i];
    }
    return 0;
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    free(state->weights);
    free(state->hidden);
    free(state);
}

static int launch(struct assay_call *call)
{
    const struct mlp mlp = mlp_of(call->shape);
    const struct state *state = call->state;
    int rows = (int)mlp.geometry.rows, width = (int)mlp.geometry.columns;
    float beta = lut_beta(mlp.geometry.q, mlp.geometry.levels), *c = call->buffer[LINEAR_C];
    for (int layer = 0; layer < mlp.layers; layer++) {
        for (int64_t i = 0; i < (int64_t)rows * width && layer > 0; i++)
            state->hidden[i] = fminf(fmaxf(c[i], -mlp.limit), mlp.limit);
        openblas_api()->sgemm(
            CblasRowMajor, CblasNoTrans, CblasTrans, rows, width, width, beta * mlp_r(&mlp, layer),
            layer > 0 ? state->hidden : call->buffer[LINEAR_X], width,
            state->weights + (int64_t)layer * width * width, width, 0.0f, c, width);
    }
    return 0;
}

static int check(struct assay_call *call)
{
    return lut_mlp_check(call->shape, call->buffer[LINEAR_X], call->buffer[LINEAR_W],
                         call->buffer[LINEAR_C]);
}

static const struct assay_variant variant = {
    .operation = "quantized_mlp",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm per layer on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .apart = true,
    .supports = lut_mlp_unchecked,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(variant);
