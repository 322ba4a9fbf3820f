/* gpt_room_cuda.c - see gpt_room.h. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "baselines/cuda_error.h"
#include "gpt_room.h"
#include "units.h"

int gpt_room(struct assay_call *call, void **memory, int64_t bytes, const char *what)
{
    size_t there, all;
    *memory = NULL;
    if (cuda_error(cudaMemGetInfo(&there, &all), "free memory")) return -1;
    cudaError_t error = cudaMalloc(memory, (size_t)bytes);
    if (error == cudaSuccess) {
        call->workspace_bytes += bytes;
        return 0;
    }
    *memory = NULL;
    if (error != cudaErrorMemoryAllocation) return cuda_error(error, what);
    cudaGetLastError(); /* said here, and not to be met by the next launch */
    char needed[UNITS_MAX], free_bytes[UNITS_MAX];
    units_bytes(needed, (double)bytes);
    units_bytes(free_bytes, (double)there);
    assay_error("%s: needs %s more, the device has %s left", what, needed, free_bytes);
    return ASSAY_SKIP;
}
