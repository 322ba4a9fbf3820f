/*
 * cuda_room.h - device memory that there may not be: a case is then skipped and not failed.
 */
#ifndef CUDA_ROOM_H
#define CUDA_ROOM_H

#include "cuda_error.h"

/* 0; -1 with assay_error; or ASSAY_SKIP, with what is free in *there and the words left to
 * the caller. *memory, which cudaFree takes, is NULL unless 0. */
static inline int cuda_room(void **memory, int64_t bytes, const char *what, int64_t *there)
{
    size_t free_bytes, all;
    *memory = NULL;
    if (cuda_error(cudaMemGetInfo(&free_bytes, &all), "free memory")) return -1;
    *there = (int64_t)free_bytes;
    cudaError_t error = cudaMalloc(memory, (size_t)bytes);
    if (error == cudaSuccess) return 0;
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation) return cuda_error(error, what);
    cudaGetLastError(); /* said by the caller, and not to be met by the next launch */
    return ASSAY_SKIP;
}

#endif
