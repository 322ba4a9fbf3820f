/*
 * sm_limits.cuh - limits of a multiprocessor of the architecture that is compiled for (CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability").
 */
#pragma once

/* Resident threads: ptxas refuses launch bounds that ask for more. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define SM_THREADS 1024
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 ||                   \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define SM_THREADS 1536
#else
#define SM_THREADS 2048
#endif
