/*
 * memory_runtime_cuda.c - `memory` by the CUDA runtime: cudaMemcpyAsync from device to device, and
 * cudaMemsetAsync.
 *
 * Bytes: those of the operation. Operations: none.
 */
#include "kernels/cuda/cuda_error.h"
#include "kernels/ceilings/memory.h"

static const char *supports_copy(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_COPY ? NULL : "a copy only";
}

static int launch_copy(struct assay_call *call)
{
    size_t bytes = 4 * (size_t)memory_layout(call->shape).out_words;
    return cuda_error(cudaMemcpyAsync(call->buffer[MEMORY_OUT], call->buffer[MEMORY_IN], bytes,
                                      cudaMemcpyDeviceToDevice, call->stream),
                      "cudaMemcpyAsync");
}

static const struct assay_variant runtime_memcpy = {
    .operation = "memory",
    .name = "memcpy",
    .summary = "cudaMemcpyAsync from device memory to device memory",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports_copy,
    .launch = launch_copy,
};
ASSAY_REGISTER_VARIANT(runtime_memcpy);

static const char *supports_set(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_WRITE ? NULL : "a write only";
}

static int launch_set(struct assay_call *call)
{
    size_t bytes = 4 * (size_t)memory_layout(call->shape).out_words;
    return cuda_error(
        cudaMemsetAsync(call->buffer[MEMORY_OUT], MEMORY_BYTE_WRITTEN, bytes, call->stream),
        "cudaMemsetAsync");
}

static const struct assay_variant runtime_memset = {
    .operation = "memory",
    .name = "memset",
    .summary = "cudaMemsetAsync",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports_set,
    .launch = launch_set,
};
ASSAY_REGISTER_VARIANT(runtime_memset);
