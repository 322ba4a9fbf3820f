/*
 * model_clusters.cu - `clusters`: all layers of a model by one launch, a cluster of blocks per
 * sequence, whose tokens they divide. bf16 and fp16, up to 256 channels, without a vocabulary.
 *
 * A small model is launches and waiting: five kernels a layer take 3 us each, whatever they do.
 * Here a block keeps its 8 tokens (or 16) in shared memory from the first layer to the last, so all
 * but the attention is its own, and no block waits for another sequence's. Once a layer the blocks
 * of a cluster hand over keys and values. Every block needs all weights: TMA brings each stage of
 * them to all blocks of the cluster at once (model_clusters_ring.cuh), as far ahead as shared
 * memory holds.
 *
 * Bytes: the weights, 24 c^2 per layer, into each multiprocessor that works; from L2 once per
 * sequence. Keys and values, 4 c per token, written once and read by the blocks with later tokens;
 * x and y once. Operations: 24 c^2 and 4 c per key, per token and layer, on tensor cores at a
 * fraction of their rate.
 *
 * What bounds it is what a multiprocessor takes in, and where channels are few the chain within a
 * layer: eight meetings of a block's warps, one of the cluster, and four trips to L2 in the
 * attention. Measured on an H200 with 8 x 128 tokens: 28 us per layer of 256 channels, 15 of 128,
 * 11 of 48. Predicted were 15, 7 and 5, from 64 bytes per cycle: weights come at about half of
 * that.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/tensor_map.h"
#include "model_clusters.cuh"
#include "model_clusters.h"

template <typename T, int NT>
static __global__ void __launch_bounds__(CLUSTERS_THREADS, 1)
    clusters(const __grid_constant__ struct clusters_args args)
{
#ifdef HOPPER_CODE
    extern __shared__ uint8_t clusters_memory[];
    uint8_t *memory =
        clusters_memory + (-hopper_shared(clusters_memory) & (uint32_t)(CLUSTERS_ALIGN - 1));
    const int lane = (int)threadIdx.x % 32, rank = (int)hopper_cluster_rank();
    const int warp = hopper_warp();
    const struct clusters_ring ring = {args, hopper_shared(memory)};
    uint32_t *narrow = (uint32_t *)(memory + args.places.narrow);
    if (warp == CLUSTERS_WARPS) ring.init(lane);
    if (lane == 0 && warp < CLUSTERS_PRODUCTS) hopper_prefetch(&args.map[warp]);
    /* Numbers behind the last channel, which the last stage of k has too, are zeros. */
    for (int i = (int)threadIdx.x; i < 8 * NT * args.narrow_row / 2; i += CLUSTERS_THREADS)
        narrow[i] = 0;
    /* No weights come before the barriers of every block are there. */
    hopper_cluster_sync();
    if (warp == CLUSTERS_WARPS) {
        if (lane == 0) ring.fetch_all(rank);
    } else if (warp > CLUSTERS_WARPS) {
        if (lane == 0) ring.give_back_all();
    } else {
        struct clusters_block<T, NT> block = {
            args, ring, (float *)(memory + args.places.stream), (uint16_t *)narrow,
                (uint16_t *)(memory + args.places.wide), (int)blockIdx.x / args.cluster,
                8 * NT *rank, warp, lane,
            {
                0, 0
            }
        };
        block.run_all();
    }
    __syncwarp();
    /* No block ends while another may still arrive at its barriers. */
    hopper_cluster_sync_reads();
#else
    __trap(); /* no code but that for sm_90a, where multicast is fast, is launched */
#endif
}

typedef void clusters_kernel(const struct clusters_args args);

struct model_clusters {
    struct clusters_args args;
    clusters_kernel *kernel;
    unsigned blocks;
    int shared_bytes;
    void *memory; /* keys and values */
};

/* ------------------------------------------------------------------- plan -- */

enum { FEWEST_SLOTS = 4, MOST_CHANNELS = 256, WIDEST = 2 /* NT */ };

static int ceil_div(int64_t a, int64_t b)
{
    return (int)((a + b - 1) / b);
}

/* Equal columns of stages, in whole tiles. Of an odd number the last pair has a place for one more,
 * which is taken where they then fetch less behind the last output. */
static struct clusters_matrix matrix_of(const struct model *model, int product)
{
    const struct model_matrix matrix = model_matrix(model, (enum model_product)product);
    auto outputs_of = [&](int columns) {
        return ceil_div(matrix.n, columns * CLUSTERS_TILE) * CLUSTERS_TILE;
    };
    int columns = ceil_div(matrix.n, CLUSTERS_OUTPUTS), more = columns + columns % 2;
    if (more * outputs_of(more) < columns * outputs_of(columns)) columns = more;
    return {(int)matrix.n, outputs_of(columns), columns, ceil_div(matrix.k, CLUSTERS_DEPTH)};
}

static int slot_bytes(const struct model *model)
{
    int most = 0;
    for (int p = 0; p < CLUSTERS_PRODUCTS; p++)
        if (matrix_of(model, p).outputs > most) most = matrix_of(model, p).outputs;
    return most * CLUSTERS_DEPTH * 2;
}

/* All but the ring. Rows are apart by what puts the accesses of a warp on different banks. */
static int place(struct clusters_args *args, const struct model *model, int tokens)
{
    const int c = (int)model->channels;
    args->stream_row = c + 4;
    args->narrow_row = ceil_div(c, CLUSTERS_DEPTH) * CLUSTERS_DEPTH + 8;
    args->wide_row = 4 * c + 8;
    args->query_row = c / 2 + 8;
    struct clusters_places *at = &args->places;
    at->narrow = at->stream + tokens * args->stream_row * (int)sizeof(float);
    at->wide = at->narrow + tokens * args->narrow_row * 2;
    at->barriers = at->wide + tokens * args->wide_row * 2;
    return at->barriers + clusters_ring::BARRIER_BYTES + CLUSTERS_ALIGN - at->stream;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    struct clusters_args args = {};
    return place(&args, &model, 8 * WIDEST) + FEWEST_SLOTS * slot_bytes(&model);
}

static int cluster_of(const struct model *model, int nt)
{
    return ceil_div(model->tokens, 8 * nt);
}

static void args_init(struct clusters_args *args, const struct model *model, int nt)
{
    const int fixed = place(args, model, 8 * nt), slot = slot_bytes(model);
    args->slot_bytes = slot;
    args->slots = (int)((assay_card()->shared_bytes - fixed) / slot);
    if (args->slots > CLUSTERS_SLOTS) args->slots = CLUSTERS_SLOTS;
    args->places.stream = args->slots * slot;
    place(args, model, 8 * nt);
    args->cluster = cluster_of(model, nt);
    args->padded = ceil_div(args->cluster * 8 * nt, 16) * 16;
    args->layers = (int)model->layers, args->heads = (int)model->heads;
    args->size = (int)model->size, args->channels = (int)model->channels;
    args->tokens = (int)model->tokens;
    args->per_channel = 1.0f / (float)model->channels;
    args->scale_of_scores = attention_scale(args->size);
    args->turn = model->batch * args->padded * model->channels;
    for (int p = 0; p < CLUSTERS_PRODUCTS; p++) {
        args->matrix[p] = matrix_of(model, p);
        args->stages += args->layers * args->matrix[p].columns * args->matrix[p].chunks;
    }
}

/* ------------------------------------------------------------------ setup -- */

static const char *supports(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    if (gpt_bytes(model.precision) != 2) return "bf16 and fp16 only";
    if (model.vocabulary > 0) return "the layers alone, without a vocabulary";
    if (model.size % 16 != 0) return "needs heads of whole 16 elements";
    if (model.channels > MOST_CHANNELS) return "needs at most 256 channels";
    if (model.tokens > 16 * CLUSTERS_GROUPS) return "needs at most 128 tokens";
    return NULL;
}

const char *model_clusters_refused(const struct assay_shape *shape)
{
    if (!assay_card()->arch_specific) return "Hopper only";
    if (shared_bytes(shape) > assay_card()->shared_bytes) return "needs more shared memory";
    return supports(shape);
}

/* Prepares the launch with 8 NT tokens in a block. How many clusters run at once, or -1. */
template <int NT> static int prepare(struct model_clusters *made, const struct model *model)
{
    int count = 0;
    made->args = {};
    args_init(&made->args, model, NT);
    const struct clusters_args *args = &made->args;
    made->kernel = model->precision == GPT_FP16 ? clusters<fp16_t, NT> : clusters<uint16_t, NT>;
    made->blocks = (unsigned)(model->batch * args->cluster);
    made->shared_bytes = args->places.barriers + (int)clusters_ring::BARRIER_BYTES + CLUSTERS_ALIGN;
    const void *kernel = (const void *)made->kernel;
    if (cuda_allow_shared(kernel, made->shared_bytes) < 0 ||
        assay_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                   "clusters of 16 blocks") < 0)
        return -1;
    struct cluster_launch one(args->cluster, dim3((unsigned)args->cluster), CLUSTERS_THREADS,
                              (size_t)made->shared_bytes, NULL);
    if (cudaOccupancyMaxActiveClusters(&count, kernel, &one.config) == cudaSuccess) return count;
    cudaGetLastError(); /* a card without so large clusters has none */
    return 0;
}

/* A block of 8 tokens is done sooner; but where not all clusters run at once, half as many blocks
 * per sequence are. */
static int choose(struct model_clusters *made, const struct model *model)
{
    int fit = prepare<1>(made, model);
    if (fit < 0 || fit >= model->batch) return fit < 0 ? -1 : 0;
    int wide = prepare<2>(made, model);
    if (wide > 0) return 0;
    if (wide < 0 || (fit > 0 && prepare<1>(made, model) < 0)) return -1;
    if (fit > 0) return 0;
    (void)assay_error("no cluster of %d blocks fits", cluster_of(model, WIDEST));
    return ASSAY_SKIP;
}

static int maps_init(struct clusters_args *args, const struct model *model, struct assay_call *call)
{
    for (int p = 0; p < CLUSTERS_PRODUCTS; p++) {
        const struct model_matrix from = model_matrix(model, (enum model_product)p);
        const struct tensor_map_matrix matrix = {call->buffer[from.buffer], model->layers * from.n,
                                                 from.k, 2};
        if (tensor_map_init(&args->map[p], &matrix, args->matrix[p].outputs) < 0) return -1;
    }
    return 0;
}

/* Tokens behind the last that no block writes are read, and not used: they must be numbers. */
static int memory_init(struct model_clusters *made, struct assay_call *call)
{
    struct clusters_args *args = &made->args;
    const int64_t bytes = 4 * args->turn * 2;
    int status = device_memory(call, &made->memory, bytes, "keys and values");
    if (status) return status;
    args->keys = (uint16_t *)made->memory;
    args->values = args->keys + 2 * args->turn;
    return assay_cuda(cudaMemsetAsync(made->memory, 0, (size_t)bytes, (cudaStream_t)call->stream),
                      "zeros");
}

int model_clusters_init(struct model_clusters **out, struct assay_call *call)
{
    const struct model model = model_of(call->shape);
    struct model_clusters *made = (struct model_clusters *)aligned_alloc(
        alignof(struct model_clusters), sizeof(struct model_clusters));
    *out = made;
    if (!made) return assay_error("out of memory");
    memset((void *)made, 0, sizeof *made);
    int status = choose(made, &model);
    if (status) return status;
    struct clusters_args *args = &made->args;
    args->in = (const uint16_t *)call->buffer[MODEL_IN];
    args->scale = (const uint16_t *)call->buffer[MODEL_SCALE];
    args->bias = (const uint16_t *)call->buffer[MODEL_BIAS];
    args->y = (uint16_t *)call->buffer[MODEL_Y];
    status = memory_init(made, call);
    return status ? status : maps_init(args, &model, call);
}

int model_clusters_enqueue(const struct model_clusters *made, void *stream)
{
    struct cluster_launch launch(made->args.cluster, dim3(made->blocks), CLUSTERS_THREADS,
                                 (size_t)made->shared_bytes, (cudaStream_t)stream);
    return assay_cuda(cudaLaunchKernelEx(&launch.config, made->kernel, made->args), "launch");
}

void model_clusters_release(struct model_clusters *made)
{
    if (!made) return;
    cudaFree(made->memory);
    free(made);
}

/* --------------------------------------------------------------- variants -- */

static int setup(struct assay_call *call)
{
    struct model_clusters *made = NULL;
    int status = model_clusters_init(&made, call);
    call->state = made;
    if (status == 0)
        (void)snprintf(call->note, sizeof call->note, "%d blocks per sequence, %d slots",
                       made->args.cluster, made->args.slots);
    return status;
}

static int launch(struct assay_call *call)
{
    return model_clusters_enqueue((const struct model_clusters *)call->state, call->stream);
}

static void teardown(struct assay_call *call)
{
    model_clusters_release((struct model_clusters *)call->state);
}

#define CLUSTERS(operation_name)                                                                   \
    static const struct assay_variant variant_##operation_name = {                                 \
        .operation = #operation_name,                                                              \
        .name = "clusters",                                                                        \
        .summary = "all layers in one launch, a cluster of blocks per sequence",                   \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 90,                                                                              \
        .max_sm = 90,                                                                              \
        .arch_specific = true,                                                                     \
        .supports = supports,                                                                      \
        .shared_bytes = shared_bytes,                                                              \
        .setup = setup,                                                                            \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_##operation_name)

CLUSTERS(gpt_forward);
CLUSTERS(gpt_block);
