/*
 * mlp_openblas.c - `mlp` on the host by OpenBLAS: two calls of cblas_sgemm on all cores, each added
 * to rows that were filled with the bias, and a separate pass for gelu between them.
 *
 * Operations: 16 m c^2. Bytes: those of the operation; the hidden layer, 4 m c values, four times
 * (bias written, product added, gelu read and written); and y once more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpt/gpt.h"
#include "load_openblas.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[MLP_PRECISION] == GPT_FP32 ? NULL : "fp32 only";
}

/* The hidden layer. */
static int setup(struct assay_call *call)
{
    int status = openblas_load();
    if (status) return status;
    size_t count = 4 * (size_t)call->shape->value[MLP_M] * (size_t)call->shape->value[MLP_C];
    call->state = malloc(count * sizeof(float));
    if (!call->state) return assay_error("no memory for the hidden layer");
    call->workspace_bytes += (int64_t)(count * sizeof(float));
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

/* y = x w^T + b: y [m, n], x [m, k], w [n, k], b [n]. */
static void multiply(float *y, const float *x, const float *w, const float *b, int m, int n, int k)
{
    for (int row = 0; row < m; row++)
        memcpy(y + (size_t)row * (size_t)n, b, sizeof *y * (size_t)n);
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, x, k, w, k, 1.0f,
                          y, n);
}

static void gelu(float *h, int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        float x = h[i], z = GPT_GELU_SCALE * (x + GPT_GELU_CUBE * x * x * x);
        h[i] = 0.5f * x * (1.0f + tanhf(z));
    }
}

static int launch(struct assay_call *call)
{
    int m = (int)call->shape->value[MLP_M], c = (int)call->shape->value[MLP_C];
    float *h = call->state;
    multiply(h, call->buffer[MLP_X], call->buffer[MLP_W1], call->buffer[MLP_B1], m, 4 * c, c);
    gelu(h, (int64_t)m * 4 * c);
    multiply(call->buffer[MLP_Y], h, call->buffer[MLP_W2], call->buffer[MLP_B2], m, c, 4 * c);
    return 0;
}

static const struct assay_variant openblas = {
    .operation = "mlp",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm twice, gelu between",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(openblas);
