/*
 * linear_openblas.c - `linear` on the host by OpenBLAS: cblas_sgemm on all cores. Where there is a
 * bias, y is filled with it first and the product is added.
 *
 * Operations: 2 m n k. Bytes: those of the operation; with a bias, y once more.
 */
#include <string.h>

#include "kernels/gpt/gpt.h"
#include "load_openblas.h"

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_PRECISION] != GPT_FP32) return "fp32 only";
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    if (shape->value[LINEAR_BIAS] == LINEAR_SEPARATE) return "the bias is added by the product";
    return NULL;
}

/* Loads the library before anything is timed. */
static int setup(struct assay_call *call)
{
    return openblas_load();
}

static int launch(struct assay_call *call)
{
    int m = (int)call->shape->value[LINEAR_M], n = (int)call->shape->value[LINEAR_N];
    int k = (int)call->shape->value[LINEAR_K];
    bool adds = call->shape->value[LINEAR_BIAS] != LINEAR_NO_BIAS;
    float *y = call->buffer[LINEAR_Y];
    for (int row = 0; adds && row < m; row++)
        memcpy(y + (size_t)row * (size_t)n, call->buffer[LINEAR_B], sizeof *y * (size_t)n);
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f,
                          call->buffer[LINEAR_X], k, call->buffer[LINEAR_W], k, adds ? 1.0f : 0.0f,
                          y, n);
    return 0;
}

static const struct assay_variant openblas = {
    .operation = "linear",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(openblas);
