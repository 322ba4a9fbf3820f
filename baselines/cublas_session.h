/*
 * cublas_session.h - a cuBLAS handle with its stream, workspace and math mode set, and
 * the types of a GPT layer's precision. C only.
 */
#ifndef CUBLAS_SESSION_H
#define CUBLAS_SESSION_H

#include "cublas_load.h"

#ifdef CUBLAS_HEADERS

#include "kernels/gpt/gpt.h"

enum { CUBLAS_SESSION_BYTES = 64 << 20 }; /* 32 MiB is Hopper's least for full choice */

struct cublas_session {
    const struct cublas *api;
    cublasHandle_t handle;
    void *workspace;
};

/* How a precision is asked for. The environment may turn TF32 or emulation on; a pedantic
 * type may not become either. bf16 sums in fp32 throughout, split sums included. */
struct cublas_types {
    cudaDataType_t data;
    cublasComputeType_t compute;
    cublasMath_t math;
};

static inline struct cublas_types cublas_types(int64_t precision)
{
    const cublasMath_t full =
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    const struct cublas_types table[] = {
        [GPT_FP32] = {CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_PEDANTIC_MATH},
        [GPT_TF32] = {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_TF32_TENSOR_OP_MATH},
        [GPT_BF16] = {CUDA_R_16BF, CUBLAS_COMPUTE_32F, full},
    };
    return table[precision];
}

/* Open on call->stream; adds the workspace to the call and says the version in its note.
 * *session may be released after a failure too. */
int cublas_session_open(struct cublas_session *session, int64_t precision, struct assay_call *call);
void cublas_session_release(struct cublas_session *session);

#endif
#endif
