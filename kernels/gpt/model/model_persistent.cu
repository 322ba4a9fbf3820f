/*
 * model_persistent.cu - `persistent`: keys and values kept, all layers of a token of every sequence
 * by one cooperative launch of one block per multiprocessor (model_persistent.cuh).
 *
 * Bytes: all weights once, gpt2 340 MB in fp32 and tf32. Predicted on an H200, before the first
 * run, gpt2 behind 127 tokens: weights 72 us (36 in bf16), if they come at 4.7 TB/s while blocks
 * wait. A layer has five steps that follow each other: a word 0.8 us from block to block, its sums
 * 0.3 to 0.6, in all about 6 us per layer. So 75 to 110 us for one sequence in fp32 and tf32, and
 * 70 to 100 in bf16, where the steps decide. Eight sequences also read eight times the words: 5 us
 * per layer from L2, and as much to multiply: 150 to 190 us.
 *
 * All sums are in fp32, on CUDA cores, also with type=tf32. Each launch adds in the same order.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "model_persistent.cuh"

typedef void persistent_kernel(const struct persistent_args args);

struct persistent_state {
    struct model_run run;
    struct persistent_args args;
    void *memory; /* the words, and the last tag */
    persistent_kernel *kernel;
    unsigned blocks;
    int shared_bytes;
};

template <typename T> static persistent_kernel *kernel_of(int64_t batch)
{
    if (batch <= 2) return batch == 1 ? persistent<T, 1> : persistent<T, 2>;
    return batch <= 4 ? persistent<T, 4> : persistent<T, 8>;
}

/* ----------------------------------------------------------------- memory -- */

static int64_t pieces_of(int64_t k)
{
    return (k + PERSISTENT_PIECE - 1) / PERSISTENT_PIECE;
}

/* Sequences that the kernel is made for. */
static int64_t rows_of(const struct model *model)
{
    int64_t rows = 1;
    while (rows < model->batch)
        rows *= 2;
    return rows;
}

/* Floats of a step's input, or of what the warps attended to. */
static int64_t x_floats(const struct model *model)
{
    int64_t unit = 512 / gpt_bytes(model->precision);
    int64_t widest = rows_of(model) * ((4 * model->channels + unit - 1) / unit * unit);
    int64_t attended = PERSISTENT_WARPS * (model->size + 2);
    return widest > attended ? widest : attended;
}

static int64_t slot_bytes(const struct model *model)
{
    int64_t longest = PERSISTENT_PIECE;
    if (longest > 4 * model->channels) longest = 4 * model->channels;
    return PERSISTENT_GROUP * longest * gpt_bytes(model->precision);
}

/* Shared memory beside the ring. */
static int64_t fixed_bytes(const struct model *model)
{
    int64_t sums = 2 * PERSISTENT_PARTS * PERSISTENT_GROUP * rows_of(model);
    return PERSISTENT_BARRIERS + (x_floats(model) + sums) * (int64_t)sizeof(float);
}

/* The ring has to hold four rows of the widest product, or a norm and four of another. */
static int64_t least_slots(const struct model *model)
{
    int64_t wide = pieces_of(4 * model->channels), normed = 2 * pieces_of(model->channels);
    return wide > normed ? wide : normed;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    return fixed_bytes(&model) + least_slots(&model) * slot_bytes(&model);
}

/* Pieces of the context: a block takes as many keys at a time as its warps, times eight. */
static int64_t context_pieces(const struct model *model, int64_t blocks)
{
    const int64_t KEYS = 8 * PERSISTENT_WARPS, MOST = 16;
    int64_t pieces = (model->tokens - 1 + KEYS - 1) / KEYS, items = model->batch * model->heads;
    if (pieces > blocks / items) pieces = blocks / items;
    return pieces < 1 ? 1 : pieces > MOST ? MOST : pieces;
}

/* ---------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    if (model.batch > PERSISTENT_ROWS) return "needs at most 8 sequences";
    if (model.channels * gpt_bytes(model.precision) % 16 != 0)
        return "needs rows of whole 16 bytes";
    if (least_slots(&model) > PERSISTENT_SLOTS) return "needs more slots than a block has";
    return NULL;
}

static int words_init(struct persistent_state *state, struct assay_call *call)
{
    const struct model *model = &state->run.model;
    struct persistent_args *args = &state->args;
    int64_t row = model->batch * model->channels, pieces = args->pieces;
    const int64_t count[PERSISTENT_KINDS] = {row, row, 3 * row, 4 * row,
                                             pieces * (row + 2 * model->batch * model->heads)};
    int64_t words = 1;
    for (int kind = 0; kind < PERSISTENT_KINDS; kind++)
        words += count[kind];
    size_t bytes = (size_t)words * sizeof(uint64_t);
    int status = device_memory(call, &state->memory, (int64_t)bytes, "the words between blocks");
    if (status) return status;
    uint64_t *at = (uint64_t *)state->memory;
    for (int kind = 0; kind < PERSISTENT_KINDS; at += count[kind++])
        args->words[kind] = at;
    args->last = (uint32_t *)at;
    return assay_cuda(cudaMemsetAsync(state->memory, 0, bytes, (cudaStream_t)call->stream),
                      "tags of 0");
}

static void args_init(struct persistent_state *state, const struct assay_call *call)
{
    const struct model *model = &state->run.model;
    struct persistent_args *args = &state->args;
    args->in = call->buffer[MODEL_IN];
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        args->w[p] = call->buffer[model_matrix(model, (enum model_product)p).buffer];
    args->scale = call->buffer[MODEL_SCALE], args->bias = call->buffer[MODEL_BIAS];
    args->wte = call->buffer[MODEL_WTE], args->wpe = call->buffer[MODEL_WPE];
    args->y = call->buffer[MODEL_Y];
    args->cache = state->run.cache, args->cache_bytes = state->run.layer_bytes;
    args->layers = (int)model->layers, args->heads = (int)model->heads;
    args->size = (int)model->size, args->channels = (int)model->channels;
    args->batch = (int)model->batch, args->tokens = (int)model->tokens;
    args->vocabulary = (int)model->vocabulary;
    args->scale_of_scores = attention_scale(args->size);
    args->pieces = (int)context_pieces(model, state->blocks);
    args->x_floats = (int)x_floats(model);
    int64_t slot = slot_bytes(model), free_bytes = assay_card()->shared_bytes - fixed_bytes(model);
    int64_t slots = free_bytes / slot;
    if (slots > PERSISTENT_SLOTS) slots = PERSISTENT_SLOTS;
    args->slots = (int)slots, args->slot_bytes = (int)slot;
    state->shared_bytes = (int)(fixed_bytes(model) + slots * slot);
}

/* All blocks wait for each other, so all have to be there at once. */
static int allow(const struct persistent_state *state)
{
    int blocks = 0;
    if (cuda_allow_shared((const void *)state->kernel, state->shared_bytes) < 0) return -1;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &blocks, state->kernel, PERSISTENT_THREADS, (size_t)state->shared_bytes),
                   "blocks of a multiprocessor") < 0)
        return -1;
    if (blocks > 0) return 0;
    (void)assay_error("needs a block of %d threads and %d bytes on each multiprocessor",
                      (int)PERSISTENT_THREADS, state->shared_bytes);
    return ASSAY_SKIP;
}

static int prefill_attend(void *self, const struct model_attend *attend, void *stream)
{
    (void)self;
    return model_attend_own(attend, stream);
}

static int setup(struct assay_call *call)
{
    struct persistent_state *state = (struct persistent_state *)calloc(1, sizeof *state);
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = model_run_init(&state->run, call, true);
    if (status) return status;
    const struct model *model = &state->run.model;
    int64_t most =
        assay_card()->multiprocessors; /* every block has columns of the widest product */
    state->blocks = (unsigned)(most < 4 * model->channels ? most : 4 * model->channels);
    state->kernel = model->precision == GPT_BF16 ? kernel_of<uint16_t>(model->batch)
                                                 : kernel_of<float>(model->batch);
    args_init(state, call);
    if ((status = allow(state)) || (status = words_init(state, call))) return status;
    const struct model_provider prefill = {model_tile_product, prefill_attend, NULL};
    if (model_tiles_allow() < 0) return -1;
    return model_run_enqueue(&state->run, &prefill, MODEL_PREFILL, call->stream);
}

static int launch(struct assay_call *call)
{
    const struct persistent_state *state = (const struct persistent_state *)call->state;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3(state->blocks);
    config.blockDim = dim3(PERSISTENT_THREADS);
    config.dynamicSmemBytes = (size_t)state->shared_bytes;
    config.stream = (cudaStream_t)call->stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return assay_cuda(cudaLaunchKernelEx(&config, state->kernel, state->args), "launch");
}

static void teardown(struct assay_call *call)
{
    struct persistent_state *state = (struct persistent_state *)call->state;
    if (!state) return;
    model_run_release(&state->run);
    cudaFree(state->memory);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "gpt_decode",
    .name = "persistent",
    .summary = "keys and values kept, all layers of a token in one launch",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
