/*
 * cublas_gemm_cuda.c - `gemm` by cublasGemmEx: the library picks the algorithm.
 * Math mode, compute type and workspace are set explicitly (cublas_gemm.h).
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "cublas_gemm.h"

#ifdef CUBLAS_HEADERS

#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"

struct gemmex {
    const struct cublas *api;
    cublasHandle_t handle;
    void *workspace;
};

static void gemmex_release(struct gemmex *gemmex)
{
    if (gemmex->handle) gemmex->api->destroy(gemmex->handle);
    cudaFree(gemmex->workspace);
    free(gemmex);
}

static int gemmex_prepare(struct gemmex *gemmex, struct assay_call *call)
{
    int version = 0;
    const struct cublas *api = gemmex->api = cublas_load();
    if (!api) return -1;
    if (cublas_error(api->create(&gemmex->handle), "cublasCreate")) return -1;
    if (cuda_error(cudaMalloc(&gemmex->workspace, CUBLAS_GEMM_WORKSPACE_BYTES), "workspace"))
        return -1;
    /* The stream first: setting it takes the workspace back. */
    if (cublas_error(api->set_stream(gemmex->handle, call->stream), "cublasSetStream")) return -1;
    if (cublas_error(
            api->set_workspace(gemmex->handle, gemmex->workspace, CUBLAS_GEMM_WORKSPACE_BYTES),
            "cublasSetWorkspace"))
        return -1;
    if (cublas_error(api->set_math_mode(gemmex->handle, cublas_gemm_types(call->shape).math),
                     "cublasSetMathMode"))
        return -1;
    if (cublas_error(api->get_version(gemmex->handle, &version), "cublasGetVersion")) return -1;
    call->workspace_bytes += CUBLAS_GEMM_WORKSPACE_BYTES;
    snprintf(call->note, sizeof call->note, "cuBLAS %d", version);
    return 0;
}

static int setup(struct assay_call *call)
{
    struct gemmex *gemmex = calloc(1, sizeof *gemmex);
    if (!gemmex) return assay_error("out of memory");
    if (gemmex_prepare(gemmex, call)) {
        gemmex_release(gemmex);
        return -1;
    }
    call->state = gemmex;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct gemmex *gemmex = call->state;
    const struct cublas_gemm_types types = cublas_gemm_types(call->shape);
    const union cublas_gemm_scale one = cublas_gemm_scale(call->shape, 1);
    const union cublas_gemm_scale zero = cublas_gemm_scale(call->shape, 0);
    int m = (int)call->shape->value[GEMM_M], n = (int)call->shape->value[GEMM_N];
    int k = (int)call->shape->value[GEMM_K];
    return cublas_error(gemmex->api->gemm_ex(gemmex->handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k,
                                             &one, call->buffer[GEMM_B], types.in, k,
                                             call->buffer[GEMM_A], types.in, k, &zero,
                                             call->buffer[GEMM_C], types.out, n, types.compute,
                                             CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    if (call->state) gemmex_release(call->state);
}

static const struct assay_variant cublas_gemmex = {
    .operation = "gemm",
    .name = "cublas_gemmex",
    .summary = "cuBLAS, cublasGemmEx with its own choice of algorithm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = cublas_gemm_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublas_gemmex);

#endif
