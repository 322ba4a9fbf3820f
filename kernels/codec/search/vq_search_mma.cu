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
 *   best          each of these for its type, with 32 vectors per warp as they have, 16, 16 per
 * four warps, or in clusters (vq_search_cluster.cuh): what is fastest in setup
 *
 * With 32 vectors per warp a word of the codebook serves two products; with 16 there are twice as
 * many warps to distribute. Where 32 per warp would give a multiprocessor fewer warps than its
 * four tensor cores, 16 per warp halve the time, because that is the time of one warp. Where 16 do
 * so too, four warps have a quarter of the codewords each, and in a cluster its blocks have a half
 * or a quarter of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_trial.h"
#include "vq_search_cluster.cuh"

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

enum { SHARE = 4 }; /* warps of a tile, without clusters */

/* Ways to divide vectors and codewords: those without clusters, and those for few vectors. */
enum way { TILE_PER_WARPS, TILE_PER_WARP, TILES_PER_WARP, CLUSTERS, WAYS = CLUSTERS + 3 };

struct way_of_type {
    const char *note;
    int min_sm;
    int (*allow)(unsigned *blocks); /* with clusters: how many blocks run at the same time */
    int (*launch)(struct assay_call *call, unsigned blocks);
};

template <typename Policy, int MT, int SHARE> static int allow_here(unsigned *)
{
    return mma_allow<Policy, MT, SHARE>();
}

template <typename Policy, int MT, int SHARE>
static int launch_here(struct assay_call *call, unsigned)
{
    return mma_launch<Policy, MT, SHARE>(call);
}

template <typename P> static const struct way_of_type *ways(void)
{
    static const struct way_of_type way[WAYS] = {
        {"16 vectors per four warps", 80, allow_here<P, 1, SHARE>, launch_here<P, 1, SHARE>},
        {"16 vectors per warp", 80, allow_here<P, 1, 1>, launch_here<P, 1, 1>},
        {"32 vectors per warp", 80, allow_here<P, 2, 1>, launch_here<P, 2, 1>},
        {"16 vectors per two warps of two blocks", 90, mma_cluster_allow<P, 2, 2>,
         mma_cluster_launch<P, 2, 2>},
        {"16 vectors per warp of two blocks", 90, mma_cluster_allow<P, 2, 1>,
         mma_cluster_launch<P, 2, 1>},
        {"16 vectors per warp of four blocks", 90, mma_cluster_allow<P, 4, 1>,
         mma_cluster_launch<P, 4, 1>},
    };
    return way;
}

static const struct way_of_type *ways_of(int64_t type)
{
    return type == SEARCH_FP32   ? ways<mma_policy_3xtf32>()
           : type == SEARCH_TF32 ? ways<mma_policy_tf32>()
                                 : ways<mma_policy_bf16>();
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
    for (int way = 0; way < CLUSTERS; way++)
        if (ways_of(type)[way].allow(NULL)) return -1;
    return 0;
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
    const enum way way = vectors / 32 > cores   ? TILES_PER_WARP
                         : vectors / 16 > cores ? TILE_PER_WARP
                                                : TILE_PER_WARPS;
    return ways_of(type)[way].launch(&call, 0);
}

/* -------------------------------------------------------- the best of them -- */

struct attempt {
    const struct assay_call *call;
    const struct way_of_type *way;
    unsigned blocks;
};

static int enqueue(const void *what, void *stream)
{
    const struct attempt *attempt = (const struct attempt *)what;
    struct assay_call call = *attempt->call;
    call.stream = stream;
    return attempt->way->launch(&call, attempt->blocks);
}

static int setup(struct assay_call *call)
{
    struct attempt attempts[WAYS], *chosen = (struct attempt *)calloc(1, sizeof *chosen);
    struct cuda_rival rivals[WAYS] = {};
    int count = 0, fastest;
    call->state = chosen;
    if (!chosen) return assay_error("out of memory");
    for (int i = 0; i < WAYS; i++) {
        const struct way_of_type *way = &ways_of(call->shape->value[SEARCH_TYPE])[i];
        if (assay_card()->sm < way->min_sm) continue;
        attempts[count] = {call, way, 0};
        rivals[count].work = {enqueue, &attempts[count]};
        if (way->allow(&attempts[count].blocks) == 0)
            count++;
        else if (i < CLUSTERS)
            return -1;
        else
            (void)cudaGetLastError(); /* clusters that do not fit the card are left out */
    }
    int status = cuda_trial_fastest(call, NULL, rivals, count, &fastest);
    if (status) return status;
    *chosen = attempts[fastest];
    (void)snprintf(call->note, sizeof call->note, "%s", chosen->way->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct attempt *chosen = (const struct attempt *)call->state;
    return chosen->way->launch(call, chosen->blocks);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "best",
    .summary =
        "tensor cores for every type, 4, 16 or 32 vectors per warp or in clusters, as measured "
        "in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
