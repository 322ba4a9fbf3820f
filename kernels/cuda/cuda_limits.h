/*
 * cuda_limits.h - shared memory of a block beyond the 48 KiB that need not be asked for.
 */
#pragma once

#include "cuda_error.h"

/* In setup: let the kernel's blocks have so much of it, dynamic. 0, or -1 with assay_error, also
 * where the card shows less; a variant declares what it needs (assay_variant.shared_bytes). */
static inline int cuda_allow_shared(const void *kernel, int64_t bytes)
{
    int64_t most = assay_card()->shared_bytes;
    if (bytes > most)
        return assay_error("needs %lld bytes of shared memory per block, this card has %lld",
                           (long long)bytes, (long long)most);
    return cuda_error(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        "shared memory of a block");
}
