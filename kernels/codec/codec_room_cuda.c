/* codec_room_cuda.c - see codec_room.h. */
#include "codec_room.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

#include "baselines/cuda_error.h"

int codec_room(void **memory, int64_t bytes, const char *what)
{
    size_t there, all;
    *memory = NULL;
    if (cuda_error(cudaMemGetInfo(&there, &all), "free memory")) return -1;
    cudaError_t error = cudaMalloc(memory, (size_t)bytes);
    if (error == cudaSuccess) return 0;
    if (error != cudaErrorMemoryAllocation) return cuda_error(error, what);
    *memory = NULL;
    cudaGetLastError(); /* said here, and not to be met by the next launch */
    assay_error("%s need %" PRId64 " bytes more of device memory, and %" PRId64 " are there", what,
                bytes, (int64_t)there);
    return ASSAY_SKIP;
}
