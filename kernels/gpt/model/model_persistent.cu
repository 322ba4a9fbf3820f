/*
 * model_persistent.cu - `persistent`: keys and values kept, all layers of a token of every sequence
 * by one cooperative launch of one block per multiprocessor (model_persistent.cuh).
 *
 * Bytes: all weights once, gpt2 340 MB in fp32 and tf32, 170 in bf16: 72 and 36 us at 4.7 TB/s.
 *
 * Measured on an H200 (2026-11-23), gpt2 behind 127 tokens, in us for 1, 2, 4 and 8 sequences: tf32
 * 246, 310, 429, 586 (the products' fastest kernels in one graph, as `best` had them before: 336,
 * 452, 492, 693); bf16 225, 314, 472, 619 (452, 511, 505, 516); fp32 247 for one (337). Predicted
 * were 75 to 110 for one sequence and 150 to 190 for eight. A layer takes 20 us for one sequence,
 * and 16 in a model of 48 channels, which moves next to nothing: its five steps, each behind a
 * word that goes through L2, take 3 to 4 us and not 1.2. DRAM is at 30 %, issue slots at 26 %;
 * warps wait for the block's barriers and for words (4.5 and 4.2 cycles per instruction). A first
 * version, which divided in each step, took 316. Eight sequences take 49 us per layer.
 *
 * All sums are in fp32, on CUDA cores, also with type=tf32. Each launch adds in the same order.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "model_persistent.cuh"

typedef void persistent_kernel(const struct persistent_args args);

/* Numbers of 24 bits are exact enough wherever an operand may be rounded to 11 or 8. */
template <typename T, bool PAIRED> static persistent_kernel *kernel_of(int64_t batch)
{
    if (batch <= 2) return batch == 1 ? persistent<T, 1, false> : persistent<T, 2, PAIRED>;
    return batch <= 4 ? persistent<T, 4, PAIRED> : persistent<T, 8, PAIRED>;
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
template <typename T> static int64_t fixed_bytes_of(const struct model *model)
{
    int64_t rows = rows_of(model);
    size_t block = rows == 1   ? sizeof(persistent_memory<T, 1>)
                   : rows == 2 ? sizeof(persistent_memory<T, 2>)
                   : rows == 4 ? sizeof(persistent_memory<T, 4>)
                               : sizeof(persistent_memory<T, 8>);
    return (int64_t)block + x_floats(model) * (int64_t)sizeof(float);
}

static int64_t fixed_bytes(const struct model *model)
{
    return model->precision == GPT_BF16 ? fixed_bytes_of<uint16_t>(model)
                                        : fixed_bytes_of<float>(model);
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

/* ------------------------------------------------------------------ setup -- */

static const char *supports(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    if (model.batch > PERSISTENT_ROWS) return "needs at most 8 sequences";
    if (model.channels * gpt_bytes(model.precision) % 16 != 0)
        return "needs rows of whole 16 bytes";
    if (least_slots(&model) > PERSISTENT_SLOTS) return "needs more slots than a block has";
    return NULL;
}

const char *model_persistent_refused(const struct assay_shape *shape)
{
    if (assay_card()->sm < 90) return "needs compute capability 9.0";
    if (shared_bytes(shape) > assay_card()->shared_bytes) return "needs more shared memory";
    return supports(shape);
}

static int words_init(struct model_persistent *persistent, const struct model *model,
                      struct assay_call *call)
{
    struct persistent_args *args = &persistent->args;
    int64_t row = model->batch * model->channels, pieces = args->pieces;
    const int64_t count[PERSISTENT_KINDS] = {row, row, 3 * row, 4 * row,
                                             pieces * (row + 2 * model->batch * model->heads)};
    int64_t words = 1;
    for (int kind = 0; kind < PERSISTENT_KINDS; kind++)
        words += count[kind];
    size_t bytes = (size_t)words * sizeof(uint64_t);
    int status =
        device_memory(call, &persistent->memory, (int64_t)bytes, "the words between blocks");
    if (status) return status;
    uint64_t *at = (uint64_t *)persistent->memory;
    for (int kind = 0; kind < PERSISTENT_KINDS; at += count[kind++])
        args->words[kind] = at;
    args->last = (uint32_t *)at;
    return assay_cuda(cudaMemsetAsync(persistent->memory, 0, bytes, (cudaStream_t)call->stream),
                      "tags of 0");
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
    args->x_floats = (int)x_floats(model);
    int64_t slot = slot_bytes(model), free_bytes = assay_card()->shared_bytes - fixed_bytes(model);
    int64_t slots = free_bytes / slot;
    if (slots > PERSISTENT_SLOTS) slots = PERSISTENT_SLOTS;
    args->slots = (int)slots, args->slot_bytes = (int)slot;
    persistent->shared_bytes = (int)(fixed_bytes(model) + slots * slot);
}

/* All blocks wait for each other, so all have to be there at once. */
static int allow(const struct model_persistent *persistent)
{
    int blocks = 0;
    if (cuda_allow_shared(persistent->kernel, persistent->shared_bytes) < 0) return -1;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, persistent->kernel,
                                                                 PERSISTENT_THREADS,
                                                                 (size_t)persistent->shared_bytes),
                   "blocks of a multiprocessor") < 0)
        return -1;
    if (blocks > 0) return 0;
    (void)assay_error("needs a block of %d threads and %d bytes on each multiprocessor",
                      (int)PERSISTENT_THREADS, persistent->shared_bytes);
    return ASSAY_SKIP;
}

int model_persistent_init(struct model_persistent *persistent, const struct model_run *run,
                          struct assay_call *call)
{
    const struct model *model = &run->model;
    int64_t most =
        assay_card()->multiprocessors; /* every block has columns of the widest product */
    persistent->blocks = (unsigned)(most < 4 * model->channels ? most : 4 * model->channels);
    persistent_kernel *kernel =
        model->precision == GPT_BF16   ? kernel_of<uint16_t, true>(model->batch)
        : model->precision == GPT_TF32 ? kernel_of<float, true>(model->batch)
                                       : kernel_of<float, false>(model->batch);
    persistent->kernel = (const void *)kernel;
    args_init(persistent, run);
    int status = allow(persistent);
    return status ? status : words_init(persistent, model, call);
}

int model_persistent_enqueue(const struct model_persistent *persistent, void *stream)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3(persistent->blocks);
    config.blockDim = dim3(PERSISTENT_THREADS);
    config.dynamicSmemBytes = (size_t)persistent->shared_bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void *args[] = {(void *)&persistent->args};
    return assay_cuda(cudaLaunchKernelExC(&config, persistent->kernel, args), "launch");
}

void model_persistent_release(struct model_persistent *persistent)
{
    cudaFree(persistent->memory);
    persistent->memory = NULL;
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
    return model_run_enqueue(&state->run, &prefill, MODEL_PREFILL, call->stream);
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

static const struct assay_variant variant = {
    .operation = "gpt_decode",
    .name = "persistent",
    .summary = "keys and values kept, all layers of a token in one launch",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
