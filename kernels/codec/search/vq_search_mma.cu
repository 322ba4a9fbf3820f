/*
 * vq_search_mma.cu - the search on tensor cores (vq_search_mma.cuh). Bytes per vector: 512 read, 1
 * written. Operations: 2 * 256 * 128.
 *
 *   fused_bf16    operands are rounded once, to 8 bits. The codebook has half the bytes, and a
 *                 product half the steps, of tf32
 *   fused_tf32    operands are rounded once, to 11 bits; vectors when they are loaded, codewords
 *                 when they are copied to shared memory
 *   fused_3xtf32  in fp32: each number is split in two parts of 11 bits, and each product becomes
 *                 three, so the tensor cores execute three times as many operations of tf32
 *   best          each of these for its type, with 32 vectors per warp as they have, 16, or 16 per
 *                 four warps: what is fastest in setup
 *
 * With 32 vectors per warp a word of the codebook serves two products; with 16 there are twice as
 * many warps to distribute. Where 32 per warp would give a multiprocessor fewer warps than its
 * four tensor cores, 16 per warp halve the time, because that is the time of one warp. Where 16 do
 * so too, four warps have a quarter of the codewords each.
 */
#include <stdio.h>

#include "kernels/cuda/cuda_trial.h"
#include "vq_search_mma.cuh"

/* ------------------------------------------------- 32 vectors per warp -- */

template <typename Policy>
static constexpr struct assay_variant named(const char *name, const char *summary,
                                            const char *(*supports)(const struct assay_shape *))
{
    return {
        .operation = "vq_search",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = 80,
        .supports = supports,
        .shared_bytes = mma_least_bytes<Policy>,
        .setup = mma_setup<Policy, 2>,
        .launch = mma_launch<Policy, 2>,
    };
}

static constexpr struct assay_variant bf16 = named<mma_policy_bf16>(
    "fused_bf16", "bf16 tensor cores, codebook in shared memory, 32 vectors per warp in registers",
    search_only_bf16);
static constexpr struct assay_variant tf32 = named<mma_policy_tf32>(
    "fused_tf32", "tf32 tensor cores, codebook in shared memory, 32 vectors per warp in registers",
    search_only_tf32);
static constexpr struct assay_variant fp32 = named<mma_policy_3xtf32>(
    "fused_3xtf32", "fp32 by three products of tf32 parts on tensor cores, all else as fused_tf32",
    search_only_fp32);
ASSAY_REGISTER_VARIANT(bf16);
ASSAY_REGISTER_VARIANT(tf32);
ASSAY_REGISTER_VARIANT(fp32);

/* ------------------------------------------------------------------ best -- */

enum { TENSOR_CORES = 4 }; /* per multiprocessor */

enum { SHARE = 4, WAYS = 3 }; /* warps of a tile; ways to divide vectors among warps */

/* One type's: 16 vectors per SHARE warps, 16 per warp, 32 per warp. */
struct search {
    int (*allow[WAYS])(void);
    int (*launch[WAYS])(struct assay_call *call);
};

template <typename Policy> static struct search search_by(void)
{
    return {{mma_allow<Policy, 1, SHARE>, mma_allow<Policy, 1>, mma_allow<Policy, 2>},
            {mma_launch<Policy, 1, SHARE>, mma_launch<Policy, 1>, mma_launch<Policy, 2>}};
}

static struct search search_of(int64_t type)
{
    return type == SEARCH_FP32   ? search_by<mma_policy_3xtf32>()
           : type == SEARCH_TF32 ? search_by<mma_policy_tf32>()
                                 : search_by<mma_policy_bf16>();
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
    return search.allow[0]() || search.allow[1]() || search.allow[2]() ? -1 : 0;
}

struct attempt {
    const struct assay_call *call;
    int way; /* of a search */
};

static int enqueue(const void *what, void *stream)
{
    const struct attempt *attempt = (const struct attempt *)what;
    struct assay_call call = *attempt->call;
    call.stream = stream;
    return search_of(call.shape->value[SEARCH_TYPE]).launch[attempt->way](&call);
}

/* Which way, in call->state. */
static int setup(struct assay_call *call)
{
    static const char *const notes[WAYS] = {"16 vectors per four warps", "16 vectors per warp",
                                            "32 vectors per warp"};
    struct attempt attempts[WAYS];
    struct cuda_rival rivals[WAYS] = {};
    int fastest;
    if (vq_search_prepare((enum search_type)call->shape->value[SEARCH_TYPE])) return -1;
    for (int way = 0; way < WAYS; way++) {
        attempts[way] = {call, way};
        rivals[way].work = {enqueue, &attempts[way]};
    }
    int status = cuda_trial_fastest(call, NULL, rivals, WAYS, &fastest);
    if (status) return status;
    call->state = (void *)(intptr_t)fastest;
    (void)snprintf(call->note, sizeof call->note, "%s", notes[fastest]);
    return 0;
}

static int launch(struct assay_call *call)
{
    return search_of(call->shape->value[SEARCH_TYPE]).launch[(intptr_t)call->state](call);
}

int vq_search_enqueue(const float *z, const float *codebook, uint8_t *index, int64_t leaves,
                      enum search_type type, void *stream)
{
    const struct assay_shape shape = {NULL, {leaves, type}};
    struct assay_call call = {.shape = &shape, .stream = stream};
    call.buffer[SEARCH_Z] = (void *)z;
    call.buffer[SEARCH_CODEBOOK] = (void *)codebook;
    call.buffer[SEARCH_INDEX] = index;
    const int64_t cores = (int64_t)TENSOR_CORES * assay_card()->multiprocessors;
    const int64_t vectors = search_vectors(&shape);
    return search_of(type).launch[vectors / 32 > cores ? 2 : vectors / 16 > cores](&call);
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "best",
    .summary = "tensor cores for every type, 4, 16 or 32 vectors per warp, as measured in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
