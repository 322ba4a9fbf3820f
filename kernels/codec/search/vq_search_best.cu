/*
 * vq_search_best.cu - the search on tensor cores for every type (fp32 by three products of tf32
 * parts), with 16 or 32 vectors per warp, depending on the batch.
 *
 * With 32 vectors per warp a word of the codebook serves two products; with 16 there are twice as
 * many warps to distribute. Where 32 per warp would give a multiprocessor fewer warps than its
 * four tensor cores, 16 per warp halve the time, because that is the time of one warp.
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128.
 */
#include "vq_search_mma.cuh"

enum { TENSOR_CORES = 4 }; /* per multiprocessor */

typedef int step_function(struct assay_call *call);
typedef int allow_function(void);

template <typename Policy> static int allow_both(void)
{
    return mma_allow<Policy, 1>() ? -1 : mma_allow<Policy, 2>();
}

template <typename Policy> static int launch_fitting(struct assay_call *call)
{
    int64_t tiles = search_vectors(call->shape) / 32;
    return tiles <= (int64_t)TENSOR_CORES * assay_card()->multiprocessors
               ? mma_launch<Policy, 1>(call)
               : mma_launch<Policy, 2>(call);
}

static int64_t shared_bytes(const struct assay_shape *)
{
    return vq_search_shared_bytes();
}

int64_t vq_search_shared_bytes(void)
{
    return mma_least_bytes<mma_policy_3xtf32>(NULL); /* the largest */
}

int vq_search_prepare(enum search_type type)
{
    static allow_function *const table[SEARCH_TYPES] = {
        allow_both<mma_policy_3xtf32>, allow_both<mma_policy_tf32>, allow_both<mma_policy_bf16>};
    return table[type]();
}

static int setup(struct assay_call *call)
{
    return vq_search_prepare((enum search_type)call->shape->value[SEARCH_TYPE]);
}

static int launch(struct assay_call *call)
{
    static step_function *const table[SEARCH_TYPES] = {launch_fitting<mma_policy_3xtf32>,
                                                       launch_fitting<mma_policy_tf32>,
                                                       launch_fitting<mma_policy_bf16>};
    return table[call->shape->value[SEARCH_TYPE]](call);
}

int vq_search_enqueue(const float *z, const float *codebook, uint8_t *index, int64_t leaves,
                      enum search_type type, void *stream)
{
    const struct assay_shape shape = {NULL, {leaves, type}};
    struct assay_call call = {.shape = &shape, .stream = stream};
    call.buffer[SEARCH_Z] = (void *)z;
    call.buffer[SEARCH_CODEBOOK] = (void *)codebook;
    call.buffer[SEARCH_INDEX] = index;
    return launch(&call);
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "best",
    .summary = "tensor cores for every type, 16 or 32 vectors per warp",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
