/*
 * cluster_launch.cuh - launches a kernel as clusters of blocks (compute capability 9.0 and newer),
 * and tells how many blocks then run at the same time. Host code.
 */
#pragma once

#include "assay.h"
#include "cuda_limits.h"

/* `config` is the argument of cudaLaunchKernelEx. It points to `attribute` in the same object, so
 * the object cannot be copied. */
struct cluster_launch {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;

    /* Clusters of `cluster` blocks along x; grid.x counts blocks, a multiple of that. */
    cluster_launch(int cluster, dim3 grid, int threads, size_t shared_bytes, cudaStream_t stream)
        : config(), attribute()
    {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {(unsigned)cluster, 1, 1};
        config.gridDim = grid;
        config.blockDim = dim3((unsigned)threads);
        config.dynamicSmemBytes = shared_bytes;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
    }
    cluster_launch(const cluster_launch &) = delete;
    cluster_launch &operator=(const cluster_launch &) = delete;
};

/* To be called in setup: allow `kernel` its shared memory, and ask how many blocks run at the same
 * time, in whole clusters. 0, or -1 with assay_error, also if no cluster fits. */
static inline int cluster_fit(const void *kernel, int cluster, int threads, int shared_bytes,
                              unsigned *blocks)
{
    int processors = assay_card()->multiprocessors, clusters;
    if (cuda_allow_shared(kernel, shared_bytes) < 0) return -1;
    const dim3 grid((unsigned)(processors / cluster * cluster));
    struct cluster_launch all(cluster, grid, threads, (size_t)shared_bytes, NULL);
    if (assay_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel, &all.config), "clusters") < 0)
        return -1;
    *blocks = (unsigned)(clusters * cluster);
    return clusters > 0 ? 0 : assay_error("no cluster of %d blocks fits", cluster);
}
