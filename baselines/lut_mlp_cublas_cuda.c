/*
 * lut_mlp_cublas_cuda.c - quantized_mlp by cublasGemmEx in pedantic fp32, on activations that are
 * not quantised; a kernel of ours (mlp_clip) between two layers. Setup decodes the weights.
 *
 * Operations: 2 * rows * width^2 per layer. Bytes: 4 per weight, 4 per entry of X and C, and 16 per
 * entry of what lies between two layers.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "cublas_session.h"
#include "lut_mlp.h"

struct state {
    struct cublas_session session;
    struct mlp mlp;
    void *weights; /* fp32, [layers][width][stride] of whole numbers, twice the weights */
    float *hidden[2];
    int64_t stride;
};

static const char *supports(const struct assay_shape *shape)
{
    const char *why = lut_mlp_unchecked(shape);
    return why ? why : cublas_supports(shape);
}

static int obtain(struct assay_call *call, float **out, int64_t count)
{
    if (cuda_error(cudaMalloc((void **)out, (size_t)count * sizeof **out), "a layer")) return -1;
    call->workspace_bytes += count * (int64_t)sizeof **out;
    return 0;
}

static int setup(struct assay_call *call)
{
    struct state *state = calloc(1, sizeof *state);
    if (!state) return assay_error("out of memory");
    call->state = state;
    state->mlp = mlp_of(call->shape);
    const struct lut_geometry *geometry = &state->mlp.geometry;
    int64_t rows = state->mlp.layers * geometry->columns;
    int64_t hidden = geometry->rows * geometry->columns;
    state->stride = lut_decoded_stride(geometry);
    if (cublas_session_open(&state->session, CUBLAS_PEDANTIC_MATH, call)) return -1;
    if (obtain(call, &state->hidden[0], hidden) || obtain(call, &state->hidden[1], hidden))
        return -1;
    return lut_cublas_decode(call, &state->mlp.layer, call->buffer[LINEAR_W], rows, false,
                             LUT_AS_FP32, &state->weights);
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    cudaFree(state->hidden[1]);
    cudaFree(state->hidden[0]);
    cudaFree(state->weights);
    cublas_session_release(&state->session);
    free(state);
}

static int launch(struct assay_call *call)
{
    const struct state *state = call->state;
    const struct lut_geometry *geometry = &state->mlp.geometry;
    int width = (int)geometry->columns, rows = (int)geometry->rows;
    const float zero = 0, *x = call->buffer[LINEAR_X];
    for (int layer = 0; layer < state->mlp.layers; layer++) {
        bool last = layer == state->mlp.layers - 1;
        float *y = last ? call->buffer[LINEAR_C] : state->hidden[layer % 2];
        float alpha = 0.5f * lut_beta(geometry->q, geometry->levels) * mlp_r(&state->mlp, layer);
        const float *w = (const float *)state->weights + layer * geometry->columns * state->stride;
        if (cublas_error(
                state->session.api->gemm_ex(state->session.handle, CUBLAS_OP_T, CUBLAS_OP_N, width,
                                            rows, width, &alpha, w, CUDA_R_32F, (int)state->stride,
                                            x, CUDA_R_32F, width, &zero, y, CUDA_R_32F, width,
                                            CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT),
                "cublasGemmEx"))
            return -1;
        if (!last &&
            mlp_clip(y, geometry->rows * geometry->columns, state->mlp.limit, call->stream))
            return -1;
        x = y;
    }
    return 0;
}

/* A host copy of a buffer, or NULL with an assay_error. */
static void *fetch(const void *device, size_t bytes)
{
    void *host = malloc(bytes);
    if (host && cuda_error(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "a check") == 0)
        return host;
    if (!host) assay_error("out of host memory for a check");
    free(host);
    return NULL;
}

static int check(struct assay_call *call)
{
    const struct state *state = call->state;
    const struct lut_geometry *geometry = &state->mlp.geometry;
    size_t entries = (size_t)(geometry->rows * geometry->columns) * sizeof(float);
    void *x = fetch(call->buffer[LINEAR_X], entries);
    void *w =
        fetch(call->buffer[LINEAR_W], (size_t)state->mlp.layers * (size_t)state->mlp.layer_bytes);
    void *c = fetch(call->buffer[LINEAR_C], entries);
    int status = x && w && c ? lut_mlp_check(call->shape, x, w, c) : -1;
    free(c);
    free(w);
    free(x);
    return status;
}

static const struct assay_variant variant = {
    .operation = "quantized_mlp",
    .name = "cublas_fp32",
    .summary = "cuBLAS per layer, fp32 pedantic, on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(variant);

#endif
