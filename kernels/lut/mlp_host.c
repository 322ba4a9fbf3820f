/*
 * mlp_host.c - quantized_mlp on the host, layer by layer as linear_host.c has them.
 *
 * Operations: 2 * rows * width^2 per layer, and a codeword per block and level of W for every row.
 * Bytes: those of the operation; a layer's output stays in cache.
 */
#include <omp.h>
#include <stdlib.h>

#include "mlp.h"

/* A layer's input and its codes. */
struct state {
    float *hidden;
    int (*coded)[8];
};

static int setup(struct assay_call *call)
{
    const struct mlp mlp = mlp_of(call->shape);
    struct state *state = calloc(1, sizeof *state);
    if (!state) return assay_error("out of host memory");
    call->state = state;
    if (!lut_codebook(&mlp.layer)) return -1;
    size_t hidden = (size_t)(mlp.geometry.rows * mlp.geometry.columns) * sizeof *state->hidden;
    size_t coded = (size_t)(mlp.geometry.rows * mlp.geometry.blocks) * sizeof *state->coded;
    state->hidden = malloc(hidden);
    state->coded = malloc(coded);
    if (!state->hidden || !state->coded) return assay_error("out of host memory for a layer");
    call->workspace_bytes += (int64_t)(hidden + coded);
    return 0;
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    free(state->hidden);
    free(state->coded);
    free(state);
}

static int run(struct assay_call *call, int threads)
{
    const struct mlp mlp = mlp_of(call->shape);
    const struct state *state = call->state;
    const struct codebook *codebook = lut_codebook(&mlp.layer);
    int64_t count = mlp.geometry.rows * mlp.geometry.columns;
    float *c = call->buffer[LINEAR_C];
    for (int layer = 0; layer < mlp.layers; layer++) {
        const char *w = (const char *)call->buffer[LINEAR_W] + layer * mlp.layer_bytes;
        for (int64_t i = 0; i < count && layer > 0; i++)
            state->hidden[i] = fminf(fmaxf(c[i], -mlp.limit), mlp.limit);
        const float *x = layer > 0 ? state->hidden : call->buffer[LINEAR_X];
        linear_host_layer(&mlp.geometry, codebook, mlp_r(&mlp, layer), x, w, state->coded, c,
                          threads);
    }
    return 0;
}

static int launch_scalar(struct assay_call *call)
{
    return run(call, 1);
}

static int launch_cores(struct assay_call *call)
{
    return run(call, omp_get_max_threads());
}

static const struct assay_variant scalar = {
    .operation = "quantized_mlp",
    .name = "host_scalar",
    .summary = "one thread",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_scalar,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant cores = {
    .operation = "quantized_mlp",
    .name = "host_omp",
    .summary = "all cores: a row encoded once per layer, weights decoded as they come",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch_cores,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cores);
