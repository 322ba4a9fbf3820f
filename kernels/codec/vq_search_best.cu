/*
 * vq_search_best.cu - the search on tensor cores for every type (fp32 by three
 * products of tf32 parts), with as many vectors a warp as suits the batch.
 *
 * With 32 vectors a warp a word of the codebook serves two products; with 16 there are
 * twice as many warps to spread. Where 32 a warp leave a multiprocessor fewer
 * warps than its four tensor cores, 16 halve the time of the one warp that all wait
 * for.
 *
 * Bytes of a vector: 512 read, 1 written. Operations: 2 * 256 * 128.
 */
#include "vq_search_mma.cuh"

enum { TENSOR_CORES = 4 }; /* of a multiprocessor */

typedef int step_function(struct assay_call *call);

template <typename Policy> static int setup_both(struct assay_call *call)
{
    if (search_allow_shared((const void *)mma_search<Policy, 1>, mma_shared_bytes<Policy>()))
        return -1;
    return mma_setup<Policy, 2>(call);
}

template <typename Policy> static int launch_fitting(struct assay_call *call)
{
    int64_t tiles = search_vectors(call->shape) / 32;
    return tiles <= (int64_t)TENSOR_CORES * search_processors(call) ? mma_launch<Policy, 1>(call)
                                                                    : mma_launch<Policy, 2>(call);
}

static int setup(struct assay_call *call)
{
    static step_function *const table[SEARCH_TYPES] = {
        setup_both<mma_policy_3xtf32>, setup_both<mma_policy_tf32>, setup_both<mma_policy_bf16>};
    return table[call->shape->value[SEARCH_TYPE]](call);
}

static int launch(struct assay_call *call)
{
    static step_function *const table[SEARCH_TYPES] = {launch_fitting<mma_policy_3xtf32>,
                                                       launch_fitting<mma_policy_tf32>,
                                                       launch_fitting<mma_policy_bf16>};
    return table[call->shape->value[SEARCH_TYPE]](call);
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "best",
    .summary = "tensor cores for every type, 16 or 32 vectors a warp",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .setup = setup,
    .launch = launch,
    .teardown = search_plan_free,
};
ASSAY_REGISTER_VARIANT(variant);
