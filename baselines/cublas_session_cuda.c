#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdio.h>

#include "kernels/cuda/cuda_error.h"

int cublas_session_open(struct cublas_session *session, cublasMath_t math, struct assay_call *call)
{
    int version = 0;
    const struct cublas *api = session->api = cublas_load();
    if (!api) return -1;
    if (cublas_error(api->create(&session->handle), "cublasCreate")) return -1;
    if (cuda_error(cudaMalloc(&session->workspace, CUBLAS_SESSION_BYTES), "workspace")) return -1;
    /* The stream first: cublasSetStream resets the workspace to the default one. */
    if (cublas_error(api->set_stream(session->handle, call->stream), "cublasSetStream")) return -1;
    if (cublas_error(api->set_workspace(session->handle, session->workspace, CUBLAS_SESSION_BYTES),
                     "cublasSetWorkspace"))
        return -1;
    if (cublas_error(api->set_math_mode(session->handle, math), "cublasSetMathMode")) return -1;
    if (cublas_error(api->get_version(session->handle, &version), "cublasGetVersion")) return -1;
    call->workspace_bytes += CUBLAS_SESSION_BYTES;
    snprintf(call->note, sizeof call->note, "cuBLAS %d", version);
    return 0;
}

void cublas_session_release(struct cublas_session *session)
{
    if (session->handle) session->api->destroy(session->handle);
    cudaFree(session->workspace);
}

#endif
