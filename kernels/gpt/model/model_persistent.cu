/*
 * model_persistent.cu - `persistent`: keys and values kept, all layers of a token of every sequence
 * by one cooperative launch of one block per multiprocessor (model_persistent.cuh).
 *
 * Bytes: all weights once, gpt2 340 MB in fp32 and tf32, 170 in bf16: 72 and 36 us at 4.7 TB/s. As
 * codes 42 MB, 9 us; decoding them takes 17 to 19 instructions for 8 weights and level, gpt2 14 us
 * if all schedulers issue in every cycle, before the words are there
 * (model_persistent_codes.cuh).
 *
 * What takes the rest is handing words over, four times a layer and within its attention, and the
 * chain of instructions around it: words there, norm, products, sums to shared memory, barrier,
 * sums of all warps, words. So that nothing else stands in it, weights are asked for by a warp of
 * their own (in a pair, by the one that brings), as far ahead as shared memory holds, and are in
 * registers before the words are there; a norm is divided between both ends; one sequence is
 * finished by a warp that has addresses, bias and fold ready; and a warp's lanes stay together:
 * where each waited in a loop of its own, warps came apart and ran what followed twice. By
 * sequences:
 *
 * one                       CUDA cores
 * two to eight, but fp32    tensor cores, pairs of blocks, each with half of k; a warp per sequence
 *                           of those that multiply finishes
 * two to eight, fp32        CUDA cores, as for four or eight
 *
 * Each launch adds in the same order.
 */
#include <stdlib.h>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/device_memory.h"
#include "model_codes.h"
#include "model_persistent.cuh"
#include "model_persistent_fold.cuh"

template <typename T, typename W, int B, bool TENSOR>
static __global__ void __launch_bounds__(persistent_threads(persistent_pair(TENSOR)), 1)
    persistent(const __grid_constant__ struct persistent_args args)
{
#if __CUDA_ARCH__ >= 900
    int lane = (int)threadIdx.x % 32;
    int warp = __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0); /* known to be the warp's */
    persistent_block<T, W, B, TENSOR> block = {args, {args, 0, 0, 0}, {args, lane}, {0, 0}, 0, lane,
                                               warp};
    block.run_all();
#endif
}

typedef void persistent_kernel(const struct persistent_args args);

struct choice {
    persistent_kernel *kernel;
    int64_t block_bytes, warp_floats; /* of shared memory */
    int cluster;                      /* blocks */
};

template <typename T, int B, bool TENSOR, typename W = persistent_numbers<T>>
static struct choice choice_of(void)
{
    const int PAIR = persistent_pair(TENSOR);
    return {persistent<T, W, B, TENSOR>, sizeof(persistent_memory<T, W, B, PAIR>),
            TENSOR ? 0 : B * persistent_units(B) * PERSISTENT_UNIT, PAIR};
}

/* Where an operand may be rounded, several sequences go to the tensor cores; one takes no longer on
 * CUDA cores. In fp32 two take the kernel of four: reading the weights takes as long for both. */
static struct choice choose(const struct model *model)
{
    int64_t batch = model->batch;
    bool one = batch == 1;
    if (model->codes)
        return one ? choice_of<uint16_t, 1, false, persistent_codes>()
                   : choice_of<uint16_t, 8, true, persistent_codes>();
    if (model->precision == GPT_FP16)
        return one ? choice_of<fp16_t, 1, false>() : choice_of<fp16_t, 8, true>();
    if (model->precision == GPT_BF16)
        return one ? choice_of<uint16_t, 1, false>() : choice_of<uint16_t, 8, true>();
    if (one) return choice_of<float, 1, false>();
    if (model->precision == GPT_TF32) return choice_of<float, 8, true>();
    return batch <= 4 ? choice_of<float, 4, false>() : choice_of<float, 8, false>();
}

/* ----------------------------------------------------------------- memory -- */

static int64_t pieces_of(int64_t k)
{
    return (k + PERSISTENT_PIECE - 1) / PERSISTENT_PIECE;
}

/* A row, and a step to another bank for the lanes that read the next one. */
static int64_t slot_bytes(const struct model *model)
{
    int64_t longest = PERSISTENT_PIECE / choose(model).cluster;
    if (longest > 4 * model->channels) longest = 4 * model->channels;
    int64_t row = model->codes ? longest / 2 : longest * gpt_bytes(model->precision);
    return row + PERSISTENT_UNIT * gpt_bytes(model->precision);
}

/* Blocks, in whole clusters: every one has columns of the widest product. */
static int64_t blocks_of(const struct model *model)
{
    int64_t most = assay_card()->multiprocessors, cluster = choose(model).cluster;
    if (most == 0 || most > 4 * model->channels) most = 4 * model->channels; /* 0: no card yet */
    return most / cluster * cluster;
}

static int64_t stream_rows(const struct model *model)
{
    return model->channels * choose(model).cluster / blocks_of(model) + 1;
}

/* Where the ring begins: behind what a block keeps, and the table of codewords. */
static int64_t ring_at(const struct model *model)
{
    return choose(model).block_bytes + (model->codes ? (int64_t)WEIGHT_TABLE_BYTES : 0);
}

/* Shared memory beside the ring. */
static int64_t fixed_bytes(const struct model *model)
{
    const struct choice choice = choose(model);
    int64_t floats = choice.warp_floats + model->size + 2; /* what attention joins */
    return ring_at(model) + PERSISTENT_WARPS * floats * (int64_t)sizeof(float) +
           model->channels * gpt_bytes(model->precision) +
           model->batch * stream_rows(model) * (int64_t)sizeof(float);
}

/* The ring has to hold a row of the widest product. */
static int64_t least_slots(const struct model *model)
{
    return pieces_of(4 * model->channels);
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    return fixed_bytes(&model) + least_slots(&model) * slot_bytes(&model);
}

/* Pieces of the context: a block takes as many keys at a time as its warps, times eight. */
static int64_t context_pieces(const struct model *model, int64_t blocks)
{
    const int64_t KEYS = 16 * PERSISTENT_WARPS, MOST = 16;
    int64_t pieces = (model->tokens - 1 + KEYS - 1) / KEYS, items = model->batch * model->heads;
    if (pieces > blocks / items) pieces = blocks / items;
    return pieces < 1 ? 1 : pieces > MOST ? MOST : pieces;
}

/* ------------------------------------------------------------------ setup -- */

static const char *supports(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    if (model.batch > PERSISTENT_ROWS) return "needs at most 8 sequences";
    if (model.channels * gpt_bytes(model.precision) % 16 != 0)
        return "needs rows of whole 16 bytes";
    if (model.size > 128) return "needs heads of at most 128 elements";
    if (model.size % 4 != 0) return "needs heads of whole four elements";
    if (model.codes && model.channels % MODEL_CODE_CHUNK != 0)
        return "needs rows of whole 64 codes";
    if (least_slots(&model) > PERSISTENT_SLOTS) return "needs more slots than a block has";
    return NULL;
}

const char *model_persistent_refused(const struct assay_shape *shape)
{
    if (assay_card()->sm < 90) return "needs compute capability 9.0";
    if (shared_bytes(shape) > assay_card()->shared_bytes) return "needs more shared memory";
    return supports(shape);
}

static int memory_init(struct model_persistent *persistent, const struct model *model,
                       struct assay_call *call)
{
    struct persistent_args *args = &persistent->args;
    int64_t row = model->batch * model->channels, part = row + 2 * model->batch * model->heads;
    const int64_t count[PERSISTENT_KINDS] = {2 * row, 2 * row, 6 * row,
                                             8 * row, 2 * row, (args->pieces - 1) * part};
    int64_t outputs = 7 * model->layers * model->channels + model->vocabulary, words = 4;
    for (int kind = 0; kind < PERSISTENT_KINDS; kind++)
        words += count[kind];
    int64_t bytes = words * (int64_t)sizeof(uint32_t);
    int64_t folds = outputs * (int64_t)sizeof(struct persistent_fold);
    int status =
        device_memory(call, &persistent->memory, bytes + folds, "the words between blocks");
    if (status) return status;
    uint32_t *at = (uint32_t *)persistent->memory;
    args->launches = at, at += 4; /* words begin on 16 bytes */
    for (int kind = 0; kind < PERSISTENT_KINDS; at += count[kind++])
        args->words[kind] = at;
    struct persistent_fold *fold = (struct persistent_fold *)at;
    args->fold = fold;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (assay_cuda(cudaMemsetAsync(persistent->memory, 0, (size_t)bytes, stream), "turns of 0") < 0)
        return -1;
    unsigned blocks = gpt_blocks(outputs, PERSISTENT_WARPS);
    if (model->precision == GPT_FP16)
        persistent_fold_all<fp16_t><<<blocks, PERSISTENT_LANES, 0, stream>>>(*args, fold);
    else if (model->precision == GPT_BF16)
        persistent_fold_all<uint16_t><<<blocks, PERSISTENT_LANES, 0, stream>>>(*args, fold);
    else
        persistent_fold_all<float><<<blocks, PERSISTENT_LANES, 0, stream>>>(*args, fold);
    return assay_cuda(cudaGetLastError(), "launch");
}

static void args_init(struct model_persistent *persistent, const struct model_run *run)
{
    const struct model *model = &run->model;
    struct persistent_args *args = &persistent->args;
    args->in = run->buffer[MODEL_IN];
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        args->w[p] = run->buffer[model_matrix(model, (enum model_product)p).buffer];
    args->scale = run->buffer[MODEL_SCALE], args->bias = run->buffer[MODEL_BIAS];
    args->wte = run->buffer[MODEL_WTE], args->wpe = run->buffer[MODEL_WPE];
    args->y = run->buffer[MODEL_Y];
    args->cache = run->cache, args->cache_bytes = run->layer_bytes;
    args->layers = (int)model->layers, args->heads = (int)model->heads;
    args->size = (int)model->size, args->channels = (int)model->channels;
    args->batch = (int)model->batch, args->tokens = (int)model->tokens;
    args->vocabulary = (int)model->vocabulary;
    args->per_channel = 1.0f / (float)model->channels;
    args->scale_of_scores = attention_scale(args->size);
    args->pieces = (int)context_pieces(model, persistent->blocks);
    args->ring_at = (int)ring_at(model);
    args->warp_floats = (int)choose(model).warp_floats;
    args->stream_rows = (int)stream_rows(model);
    int64_t slot = slot_bytes(model), free_bytes = assay_card()->shared_bytes - fixed_bytes(model);
    int64_t slots = free_bytes / slot;
    if (slots > PERSISTENT_SLOTS) slots = PERSISTENT_SLOTS;
    args->slots = (int)slots, args->slot_bytes = (int)slot;
    persistent->shared_bytes = (int)(fixed_bytes(model) + slots * slot);
}

/* All blocks wait for each other, so all have to be there at once. */
static int allow(const struct model_persistent *persistent)
{
    unsigned fit = 0;
    if (cluster_fit(persistent->kernel, persistent->cluster, (int)persistent->threads,
                    persistent->shared_bytes, &fit) < 0)
        return -1;
    if (fit >= persistent->blocks) return 0;
    (void)assay_error("needs %u blocks of %d threads and %d bytes at once, the card takes %u",
                      persistent->blocks, (int)persistent->threads, persistent->shared_bytes, fit);
    return ASSAY_SKIP;
}

int model_persistent_init(struct model_persistent *persistent, const struct model_run *run,
                          struct assay_call *call)
{
    const struct model *model = &run->model;
    persistent->kernel = (const void *)choose(model).kernel;
    persistent->cluster = choose(model).cluster;
    persistent->threads = (unsigned)persistent_threads(persistent->cluster);
    persistent->blocks = (unsigned)blocks_of(model);
    args_init(persistent, run);
    int status = allow(persistent);
    if (status == 0) status = memory_init(persistent, model, call);
    if (status == 0 && model->codes) status = model_persistent_codes(persistent, model, call);
    return status;
}

int model_persistent_enqueue(const struct model_persistent *persistent, void *stream)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[2] = {};
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    attribute[1].id = cudaLaunchAttributeClusterDimension;
    attribute[1].val.clusterDim.x = (unsigned)persistent->cluster;
    attribute[1].val.clusterDim.y = attribute[1].val.clusterDim.z = 1;
    config.gridDim = dim3(persistent->blocks);
    config.blockDim = dim3(persistent->threads);
    config.dynamicSmemBytes = (size_t)persistent->shared_bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = attribute;
    config.numAttrs = persistent->cluster > 1 ? 2 : 1;
    void *args[] = {(void *)&persistent->args};
    return assay_cuda(cudaLaunchKernelExC(&config, persistent->kernel, args), "launch");
}

void model_persistent_release(struct model_persistent *persistent)
{
    cudaFree(persistent->memory);
    cudaFree(persistent->codes);
    persistent->memory = persistent->codes = NULL;
}

/* ---------------------------------------------------------------- variant -- */

struct state {
    struct model_run run;
    struct model_persistent persistent;
};

static int prefill_attend(void *self, const struct model_attend *attend, void *stream)
{
    (void)self;
    return model_attend_own(attend, stream);
}

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)calloc(1, sizeof *state);
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = model_run_init(&state->run, call, true);
    if (status == 0) status = model_persistent_init(&state->persistent, &state->run, call);
    if (status) return status;
    const struct model_provider prefill = {model_tile_product, prefill_attend, NULL};
    if (model_tiles_allow() < 0) return -1;
    if (model_run_enqueue(&state->run, &prefill, MODEL_PREFILL, call->stream) < 0) return -1;
    return model_run_forget(&state->run, call);
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    return model_persistent_enqueue(&state->persistent, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (!state) return;
    model_run_release(&state->run);
    model_persistent_release(&state->persistent);
    free(state);
}

#define PERSISTENT(operation_name, text)                                                           \
    static const struct assay_variant variant_##operation_name = {                                 \
        .operation = #operation_name,                                                              \
        .name = "persistent",                                                                      \
        .summary = text,                                                                           \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 90,                                                                              \
        .supports = supports,                                                                      \
        .shared_bytes = shared_bytes,                                                              \
        .setup = setup,                                                                            \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_##operation_name)

PERSISTENT(gpt_decode, "keys and values kept, all layers of a token in one launch");
PERSISTENT(gpt_decode_codes, "all layers of a token in one launch, codes decoded in registers");
