/*
 * linear_wgmma_launch.cuh - a launch of linear_wgmma.cuh's kernel: its cluster, how many blocks
 * fit, and the copy engine's maps of the operands.
 */
#ifndef LINEAR_WGMMA_LAUNCH_CUH
#define LINEAR_WGMMA_LAUNCH_CUH

#include "linear_wgmma.cuh"

template <typename T, int COLUMNS, int CLUSTER> struct lwg_launch {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;

    lwg_launch(unsigned blocks, cudaStream_t stream) : config(), cluster()
    {
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = {CLUSTER, 1, 1};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(LWG_THREADS);
        config.dynamicSmemBytes = lwg_ring<T, COLUMNS>::SHARED_BYTES;
        config.stream = stream;
        config.attrs = &cluster;
        config.numAttrs = 1;
    }
};

/* In setup: allow the shared memory, and ask how many blocks run at a time. */
template <typename T, int COLUMNS, int CLUSTER> static int lwg_fit(unsigned *blocks)
{
    auto *kernel = linear_wgmma<T, COLUMNS, CLUSTER>;
    int processors, device, clusters;
    if (assay_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        lwg_ring<T, COLUMNS>::SHARED_BYTES),
                   "shared memory") < 0 ||
        assay_cuda(cudaGetDevice(&device), "device") < 0 ||
        assay_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                   "multiprocessors") < 0)
        return -1;
    struct lwg_launch<T, COLUMNS, CLUSTER> all(processors / CLUSTER * CLUSTER, NULL);
    if (assay_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel, &all.config), "clusters") < 0)
        return -1;
    *blocks = (unsigned)(clusters * CLUSTER);
    return clusters > 0 ? 0 : assay_error("no cluster of %d blocks fits", CLUSTER);
}

/* In setup: the plan of a product; `operands` as they will be in every launch. */
template <typename T, int COLUMNS, int CLUSTER>
static int lwg_prepare(struct lwg_plan *plan, const struct linear_operands *operands,
                       enum linear_finish finish)
{
    const int bytes = sizeof(T);
    struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, bytes};
    struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, bytes};
    struct tensor_map_matrix y = {operands->y, operands->m, operands->n, bytes};
    plan->operands = *operands;
    plan->finish = finish;
    plan->engine_stores = operands->n * bytes % 16 == 0;
    plan->bands = (int)gpt_blocks(operands->m, LWG_ROWS * CLUSTER);
    plan->columns = (int)gpt_blocks(operands->n, COLUMNS);
    plan->group = LWG_GROUP;
    plan->depth = (int)gpt_blocks(operands->k, lwg_ring<T, COLUMNS>::DEPTH);
    if (lwg_fit<T, COLUMNS, CLUSTER>(&plan->blocks) < 0) return -1;
    int64_t wanted = (int64_t)plan->bands * plan->columns * CLUSTER;
    if (plan->blocks > wanted) plan->blocks = (unsigned)wanted;
    if (tensor_map_init(&plan->x, &x, LWG_ROWS) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, COLUMNS / CLUSTER) < 0) return -1;
    return plan->engine_stores ? tensor_map_init(&plan->y, &y, LWG_OUT_ROWS) : 0;
}

template <typename T, int COLUMNS, int CLUSTER>
static int lwg_enqueue(const struct lwg_plan *plan, cudaStream_t stream)
{
    struct lwg_launch<T, COLUMNS, CLUSTER> launch(plan->blocks, stream);
    return assay_cuda(cudaLaunchKernelEx(&launch.config, linear_wgmma<T, COLUMNS, CLUSTER>, *plan),
                      "launch");
}

#endif
