/*
 * gemm_openblas.c - `gemm` on the host by OpenBLAS: cblas_sgemm on every core.
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "kernels/ceilings/gemm.h"
#include "load_openblas.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[GEMM_TYPE] == GEMM_FP32 ? NULL : "fp32 only";
}

/* Loads the library before anything is timed. */
static int setup(struct assay_call *call)
{
    return openblas_load();
}

static int launch(struct assay_call *call)
{
    int m = (int)call->shape->value[GEMM_M], n = (int)call->shape->value[GEMM_N];
    int k = (int)call->shape->value[GEMM_K];
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f,
                          call->buffer[GEMM_A], k, call->buffer[GEMM_B], k, 0.0f,
                          call->buffer[GEMM_C], n);
    return 0;
}

static const struct assay_variant openblas = {
    .operation = "gemm",
    .name = "openblas",
    .summary = "OpenBLAS, cblas_sgemm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(openblas);
