/*
 * linear_wgmma_launch.cuh - a launch of linear_wgmma.cuh's kernel, as many blocks as fit, and
 * the tensor maps of the operands.
 */
#pragma once

#include "kernels/cuda/cluster_launch.cuh"
#include "linear_wgmma.cuh"
#include "linear_wgmma_kernels.h"

/* Which tiles are divided, and how many blocks work, of those that fit. */
template <typename CONFIG>
static void lwg_divide(struct lwg_plan *plan, int depth, const struct lwg_how *how)
{
    const int tiles = plan->order.bands * plan->order.columns,
              fit = (int)plan->blocks / CONFIG::CLUSTER;
    plan->division =
        linear_division_of(CONFIG::TURNS ? LINEAR_WHOLE : how->divide, tiles, depth, fit, LWG_WAYS);
    if (plan->division.split > 0) plan->parts = *how->parts;
    plan->blocks = (unsigned)plan->division.shares * CONFIG::CLUSTER;
}

/* In setup: the plan of a product by `kernel`; `operands` as they will be in every launch. */
template <typename CONFIG>
static int lwg_prepare_for(const void *kernel, struct lwg_plan *plan,
                           const struct linear_operands *operands, const struct lwg_how *how)
{
    const int bytes = sizeof(typename CONFIG::type);
    const int64_t parts = CONFIG::SPLIT ? LINEAR_SPLIT_PARTS : 1; /* one below the other */
    struct tensor_map_matrix x = {(void *)operands->x, parts * operands->m, operands->k, bytes};
    struct tensor_map_matrix w = {(void *)operands->w, parts * operands->n, operands->k, bytes};
    plan->operands = *operands;
    plan->finish = operands->finish;
    plan->order = linear_order_plan_of((int)gpt_blocks(operands->m, LWG_ROWS * CONFIG::CLUSTER),
                                       (int)gpt_blocks(operands->n, CONFIG::COLUMNS), LWG_GROUP);
    plan->x_rows = operands->m < LWG_ROWS ? (int)operands->m : LWG_ROWS;
    if (cluster_fit(kernel, CONFIG::CLUSTER, LWG_THREADS, CONFIG::SHARED_BYTES, &plan->blocks) < 0)
        return -1;
    lwg_divide<CONFIG>(plan, (int)gpt_blocks(operands->k, CONFIG::DEPTH), how);
    if (tensor_map_init(&plan->x, &x, plan->x_rows) < 0) return -1;
    if (tensor_map_init(&plan->w, &w, CONFIG::PART) < 0) return -1;
    return linear_store_init<typename CONFIG::output>(&plan->y, operands);
}

template <typename CONFIG>
static int lwg_prepare(struct lwg_plan *plan, const struct linear_operands *operands,
                       const struct lwg_how *how)
{
    if (CONFIG::PLAIN && operands->finish != LINEAR_PLAIN)
        return assay_error("a plain product alone");
    return lwg_prepare_for<CONFIG>((const void *)linear_wgmma<CONFIG>, plan, operands, how);
}

template <typename CONFIG> static int lwg_enqueue(const struct lwg_plan *plan, cudaStream_t stream)
{
    struct cluster_launch launch(CONFIG::CLUSTER, dim3(plan->blocks), LWG_THREADS,
                                 CONFIG::SHARED_BYTES, stream);
    if (CONFIG::CLUSTER == 1) launch.config.numAttrs = 0; /* plain launches start sooner */
    return assay_cuda(cudaLaunchKernelEx(&launch.config, linear_wgmma<CONFIG>, *plan), "launch");
}

template <typename T, int COLUMNS, int CLUSTER, bool TURNS>
static constexpr struct lwg_kernel lwg_kernel_of(double rate)
{
    using config = lwg_config<T, COLUMNS, CLUSTER, TURNS>;
    return {COLUMNS, CLUSTER, TURNS, rate, lwg_prepare<config>, lwg_enqueue<config>};
}

/* One that `best` times and `choose` does not take, so that it needs no other finish. */
template <typename T, int COLUMNS, int CLUSTER, bool TURNS>
static constexpr struct lwg_kernel lwg_plain_of(void)
{
    using config = lwg_config<T, COLUMNS, CLUSTER, TURNS, true>;
    return {COLUMNS, CLUSTER, TURNS, 0, lwg_prepare<config>, lwg_enqueue<config>};
}

/* One in fp32. */
template <int COLUMNS, int CLUSTER> static constexpr struct lwg_kernel lwg_split_of(void)
{
    using config = lwg_config<uint16_t, COLUMNS, CLUSTER, false, false, true>;
    return {COLUMNS, CLUSTER, false, 0, lwg_prepare<config>, lwg_enqueue<config>};
}
