/* linear_parts.cu - see linear_parts.cuh. */
#include "kernels/cuda/device_memory.h"
#include "linear_parts.cuh"

int linear_parts_init(struct linear_parts *parts, int64_t writers, int sums,
                      struct assay_call *call)
{
    const int64_t sums_bytes = writers * 32 * sums * (int64_t)sizeof(float);
    const int64_t ready_bytes = writers * (int64_t)sizeof(uint32_t);
    void *memory;
    *parts = {NULL, NULL};
    int status =
        device_memory(call, &memory, sums_bytes + ready_bytes, "the sums of divided tiles");
    if (status) return status;
    parts->sums = (float4 *)memory;
    parts->ready = (uint32_t *)((char *)memory + sums_bytes);
    return assay_cuda(cudaMemsetAsync(parts->ready, 0, ready_bytes, (cudaStream_t)call->stream),
                      "the flags of divided tiles");
}
