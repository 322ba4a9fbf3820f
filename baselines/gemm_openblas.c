/*
 * gemm_openblas.c - `gemm` on the host by OpenBLAS: cblas_sgemm on every core.
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "kernels/ceilings/gemm.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[GEMM_TYPE] == GEMM_FP32 ? NULL : "fp32 only";
}

static int launch(struct assay_call *call)
{
    int m = (int)call->shape->value[GEMM_M], n = (int)call->shape->value[GEMM_N];
    int k = (int)call->shape->value[GEMM_K];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, call->buffer[GEMM_A], k,
                call->buffer[GEMM_B], k, 0.0f, call->buffer[GEMM_C], n);
    return 0;
}

/* Linked, so it is always loaded. "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": name and version. */
static bool version(char *out, size_t size)
{
    const char *text = openblas_get_config();
    const char *blank = strchr(text, ' ');
    const char *end = blank ? strchr(blank + 1, ' ') : NULL;
    snprintf(out, size, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
    return true;
}

static const struct assay_library openblas_library = {.place = ASSAY_HOST, .version = version};
ASSAY_REGISTER_LIBRARY(openblas_library);

static const struct assay_variant openblas = {
    .operation = "gemm",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(openblas);
