/*
 * cublas_gemm_cuda.c - `gemm` by cublasGemmEx, with the algorithm that the library selects. Math
 * mode, compute type and workspace are set explicitly (cublas_gemm.h).
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "cublas_gemm.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "cublas_session.h"

static int setup(struct assay_call *call)
{
    struct cublas_session *session = call->state = calloc(1, sizeof *session);
    if (!session) return assay_error("out of memory");
    return cublas_session_open(session, cublas_gemm_types(call->shape).math, call);
}

static int launch(struct assay_call *call)
{
    const struct cublas_session *session = call->state;
    const struct cublas_gemm_types types = cublas_gemm_types(call->shape);
    const union lt_factor one = cublas_gemm_scale(call->shape, 1);
    const union lt_factor zero = cublas_gemm_scale(call->shape, 0);
    int m = (int)call->shape->value[GEMM_M], n = (int)call->shape->value[GEMM_N];
    int k = (int)call->shape->value[GEMM_K];
    return cublas_error(session->api->gemm_ex(session->handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k,
                                              &one, call->buffer[GEMM_B], types.in, k,
                                              call->buffer[GEMM_A], types.in, k, &zero,
                                              call->buffer[GEMM_C], types.out, n, types.compute,
                                              CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    if (!call->state) return;
    cublas_session_release(call->state);
    free(call->state);
}

static const struct assay_variant cublas_gemmex = {
    .operation = "gemm",
    .name = "cublas_gemmex",
    .summary = "cuBLAS, cublasGemmEx with its own choice of algorithm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_gemm_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublas_gemmex);

#endif
