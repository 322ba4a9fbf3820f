#include "device_memory.h"

#include "cuda_error.h"
#include "base/units.h"

int device_memory(struct assay_call *call, void **memory, int64_t bytes, const char *what)
{
    char needed[UNITS_MAX], left[UNITS_MAX];
    size_t free_bytes, all;
    *memory = NULL;
    if (cuda_error(cudaMemGetInfo(&free_bytes, &all), "free memory")) return -1;
    cudaError_t error = cudaMalloc(memory, (size_t)bytes);
    if (error == cudaSuccess) {
        call->workspace_bytes += bytes;
        return 0;
    }
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation) return cuda_error(error, what);
    cudaGetLastError(); /* reported below; the next launch must not find it */
    units_bytes(needed, (double)bytes);
    units_bytes(left, (double)free_bytes);
    assay_error("%s: needs %s more, the device has %s left", what, needed, left);
    return ASSAY_SKIP;
}

int device_upload(void *to, const void *from, size_t bytes, const char *what)
{
    if (cuda_error(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what)) return -1;
    return cuda_error(cudaStreamSynchronize(cudaStreamLegacy), what);
}

void device_memory_free(struct assay_call *call)
{
    cudaFree(call->state);
}
