/*
 * cuda_limits.h - what the current device has: multiprocessors, and shared memory for a block.
 * Each function returns 0, or -1 with assay_error.
 */
#pragma once

#include "cuda_error.h"

static inline int cuda_limit(enum cudaDeviceAttr limit, const char *what, int *value)
{
    int device;
    if (cuda_error(cudaGetDevice(&device), "the current device")) return -1;
    return cuda_error(cudaDeviceGetAttribute(value, limit, device), what);
}

static inline int cuda_processors(int *count)
{
    return cuda_limit(cudaDevAttrMultiProcessorCount, "multiprocessors", count);
}

/* The most that a block can have. */
static inline int cuda_block_shared(int *bytes)
{
    return cuda_limit(cudaDevAttrMaxSharedMemoryPerBlockOptin, "shared memory of a block", bytes);
}

/* Let the kernel's blocks have that much of it, dynamic. */
static inline int cuda_allow_shared(const void *kernel, int64_t bytes)
{
    int most;
    if (cuda_block_shared(&most)) return -1;
    if (bytes > most)
        return assay_error("needs %lld bytes of shared memory per block; this device has %d",
                           (long long)bytes, most);
    return cuda_error(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        "shared memory of a block");
}
