/*
 * cuda_error.h - assay_cuda (assay.h) for C files, which call the CUDA runtime without nvcc.
 */
#pragma once

#include <cuda_runtime_api.h>

#include "assay.h"

/* 0, or -1 with CUDA's text of the error as the assay_error. */
static inline int cuda_error(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    return assay_error("%s: %s", what, cudaGetErrorString(error));
}
