/*
 * cublas_session.h - a cuBLAS handle with its stream, workspace and math mode set.
 */
#pragma once

#include "kernels/cuda/cublas_load.h"

#ifdef CUBLAS_HEADERS

#include "assay.h"

enum { CUBLAS_SESSION_BYTES = 64 << 20 }; /* 32 MiB is Hopper's least for full choice */

struct cublas_session {
    const struct cublas *api;
    cublasHandle_t handle;
    void *workspace;
};

/* Open on call->stream; adds the workspace to the call and says the version in its note.
 * *session may be released after a failure too. */
int cublas_session_open(struct cublas_session *session, cublasMath_t math, struct assay_call *call);
void cublas_session_release(struct cublas_session *session);

#endif
