/*
 * vq_search_best.cu - the search on tensor cores for every type (fp32 by three products of tf32
 * parts), with 32 vectors per warp, 16, or 16 per four warps, depending on the batch.
 *
 * With 32 vectors per warp a word of the codebook serves two products; with 16 there are twice as
 * many warps to distribute. Where 32 per warp would give a multiprocessor fewer warps than its
 * four tensor cores, 16 per warp halve the time, because that is the time of one warp. Where 16 do
 * so too, four warps have a quarter of the codewords each.
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128.
 */
#include "vq_search_mma.cuh"

enum { TENSOR_CORES = 4 }; /* per multiprocessor */

enum { SHARE = 4 }; /* warps, of a tile */

/* One type's: 16 vectors per SHARE warps, 16 per warp, and the variant of 32. */
struct search {
    int (*allow[2])(void);
    int (*launch[2])(struct assay_call *call);
    const struct assay_variant *wide;
};

template <typename Policy> static struct search search_by(const struct assay_variant *wide)
{
    return {{mma_allow<Policy, 1, SHARE>, mma_allow<Policy, 1>},
            {mma_launch<Policy, 1, SHARE>, mma_launch<Policy, 1>},
            wide};
}

static struct search search_of(int64_t type)
{
    return type == SEARCH_FP32   ? search_by<mma_policy_3xtf32>(mma_variant_3xtf32())
           : type == SEARCH_TF32 ? search_by<mma_policy_tf32>(mma_variant_tf32())
                                 : search_by<mma_policy_bf16>(mma_variant_bf16());
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
    const struct search search = search_of(type);
    return search.allow[0]() || search.allow[1]() ? -1 : search.wide->setup(NULL);
}

static int setup(struct assay_call *call)
{
    return vq_search_prepare((enum search_type)call->shape->value[SEARCH_TYPE]);
}

static int launch(struct assay_call *call)
{
    const struct search search = search_of(call->shape->value[SEARCH_TYPE]);
    const int64_t cores = (int64_t)TENSOR_CORES * assay_card()->multiprocessors;
    const int64_t vectors = search_vectors(call->shape);
    if (vectors / 32 > cores) return search.wide->launch(call);
    return search.launch[vectors / 16 > cores](call);
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
    .summary = "tensor cores for every type, 4, 16 or 32 vectors per warp",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
