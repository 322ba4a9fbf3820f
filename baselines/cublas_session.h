/*
 * cublas_session.h - a cuBLAS handle with its stream, workspace and math mode set.
 */
#pragma once

#include "kernels/cuda/cublas_load.h"

#ifdef CUBLAS_HEADERS

#include "assay.h"

enum {
    CUBLAS_SESSION_BYTES = 64 << 20
}; /* with less than 32 MiB, some algorithms are excluded on Hopper */

struct cublas_session {
    const struct cublas *api;
    cublasHandle_t handle;
    void *workspace;
};

/* Open on call->stream. Adds the workspace to call->workspace_bytes and puts the library's version
 * in call->note. After a failure *session may be released too. */
int cublas_session_open(struct cublas_session *session, cublasMath_t math, struct assay_call *call);
void cublas_session_release(struct cublas_session *session);

#endif
