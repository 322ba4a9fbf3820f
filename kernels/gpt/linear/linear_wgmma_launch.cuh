/*
 * linear_wgmma_launch.cuh - a launch of linear_wgmma.cuh's kernel, as many blocks as fit, and
 * the tensor maps of the operands.
 */
#pragma once

#include "kernels/cuda/cluster_launch.cuh"
#include "linear_wgmma.cuh"

/* In setup: the plan of a product; `operands` as they will be in every launch. */
template <typename CONFIG>
static int lwg_prepare(struct lwg_plan *plan, const struct linear_operands *operands,
                       enum linear_finish finish)
{
    using T = typename CONFIG::type;
    const int bytes = sizeof(T);
    struct tensor_map_matrix x = {(void *)operands->x, operands->m, operands->k, bytes};
    struct tensor_map_matrix w = {(void *)operands->w, operands->n, operands->k, bytes};
    plan->operands = *operands;
    plan->finish = finish;
    plan->bands = (int)gpt_blocks(operands->m, LWG_ROWS * CONFIG::CLUSTER);
    plan->columns = (int)gpt_blocks(operands->n, CONFIG::COLUMNS);
    plan->group = LWG_GROUP;
    plan->depth = (int)gpt_blocks(operands->k, CONFIG::DEPTH);
    if (cluster_fit((const void *)linear_wgmma<CONFIG>, CONFIG::CLUSTER, LWG_THREADS,
                    CONFIG::SHARED_BYTES, &plan->blocks) < 0)
        return -1;
    int64_t wanted = (int64_t)plan->bands * plan->columns * CONFIG::CLUSTER;
    if (plan->blocks > wanted) plan->blocks = (unsigned)wanted;
    if (tensor_map_init(&plan->x, &x, LWG_ROWS) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, CONFIG::COLUMNS / CONFIG::CLUSTER) < 0) return -1;
    return linear_store_init<T>(&plan->y, operands);
}

template <typename CONFIG> static int lwg_enqueue(const struct lwg_plan *plan, cudaStream_t stream)
{
    struct cluster_launch launch(CONFIG::CLUSTER, dim3(plan->blocks), LWG_THREADS,
                                 CONFIG::SHARED_BYTES, stream);
    return assay_cuda(cudaLaunchKernelEx(&launch.config, linear_wgmma<CONFIG>, *plan), "launch");
}
