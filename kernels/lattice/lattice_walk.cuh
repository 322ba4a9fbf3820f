/*
 * lattice_walk.cuh - what the kernels have in common whose blocks stay on their
 * multiprocessor, a table in its shared memory, and walk the tensor.
 */
#ifndef LATTICE_WALK_CUH
#define LATTICE_WALK_CUH

#include "lattice_vec.cuh"

enum { WALK_THREADS = 1024 };

/* Entries from which the table's way to shared memory is worth it. */
static const int64_t WALK_FROM = (int64_t)1 << 22;

/* How many blocks of `kernel` the device holds with a table of `bytes`; 0 where that is
 * more than a block may have, as on cards below the data centre's. */
static inline int walk_blocks(const void *kernel, int bytes, int *blocks)
{
    int device, most, processors, each;
    *blocks = 0;
    if (assay_cuda(cudaGetDevice(&device), "cudaGetDevice") < 0) return -1;
    cudaError_t error =
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (assay_cuda(error, "cudaDeviceGetAttribute") < 0) return -1;
    if (most < bytes) return 0;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (assay_cuda(error, "cudaFuncSetAttribute") < 0) return -1;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (assay_cuda(error, "cudaDeviceGetAttribute") < 0) return -1;
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, WALK_THREADS, (size_t)bytes);
    if (assay_cuda(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") < 0) return -1;
    *blocks = processors * each;
    return 0;
}

/* `bytes` at `table` to device memory that the caller frees, counted as workspace. */
static inline int walk_upload(struct assay_call *call, const void *table, size_t bytes,
                              void **device)
{
    if (assay_cuda(cudaMalloc(device, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return assay_cuda(cudaMemcpy(*device, table, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

#endif
