/*
 * cuda_error.h - assay.h's assay_cuda for C files that call the CUDA runtime
 * without nvcc.
 */
#pragma once

#include <cuda_runtime_api.h>

#include "assay.h"

/* 0, or the CUDA error's own words as an assay_error. */
static inline int cuda_error(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    return assay_error("%s: %s", what, cudaGetErrorString(error));
}
