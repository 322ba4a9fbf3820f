/*
 * dependent_launch.cuh - programmatic dependent launch: blocks of a kernel may start while the
 * previous kernel is still running, and wait in dependent_wait before they read what it writes
 * (CUDA programming guide, "Programmatic Dependent Launch").
 *
 * Every kernel that is launched so calls dependent_wait in every block. So when a kernel has
 * finished, all kernels before it have.
 *
 * Code below sm_90 has no such wait, on whatever card it runs: there it is an ordinary launch.
 */
#pragma once

#include "assay.h"

static __device__ __forceinline__ void dependent_wait(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Blocks of the next kernel may start once every block of this one has called this or ended. */
static __device__ __forceinline__ void dependent_release(void)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* With which a kernel is launched that calls dependent_wait. */
static inline cudaLaunchAttribute dependent_attribute(void)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

template <typename... Params, typename... Args>
static inline int dependent_launch(void (*kernel)(Params...), dim3 grid, int threads, size_t shared,
                                   void *stream, Args... args)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = dependent_attribute();
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = assay_card()->sm >= 90 ? 1 : 0; /* else dependent_wait is empty */
    return assay_cuda(cudaLaunchKernelEx(&config, kernel, Params(args)...), "launch");
}
