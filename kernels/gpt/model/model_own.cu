/*
 * model_own.cu - models by kernels of ours alone:
 *
 *   layers  one kernel per step, as the published model did it: layernorm, product with its bias,
 *           attention, product, residual add, layernorm, product, gelu, product, add: ten kernels
 *           per layer. The products are those of linear_products.h, in tiles of 128 on tensor
 *           cores. _transposed reads transposed copies of the weights, written at every call
 *           (_per_call) or once (_cached), which take extra memory.
 *   fused   five kernels per layer (model_tile.cuh): norm, bias, gelu and residual are in the
 *           products.
 *
 * Both are launched kernel by kernel, or as one CUDA graph (_graph).
 *
 *   generate  the tokens one after the other, as text is generated: the model is causal, so token t
 *             is what gpt_decode makes of t tokens before it, and all of them together are what
 *             gpt_forward makes at once. The graph's order keeps each token behind the one before
 */
#include "kernels/cuda/cuda_graph.h"
#include "kernels/gpt/gpt.cuh"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/linear/linear_products.h"
#include "model_cuda.h"

/* Where the weights of `layers` come from. */
enum weights { WEIGHTS_DIRECT, WEIGHTS_PER_CALL, WEIGHTS_CACHED };

struct own {
    struct model_run run;
    struct model_provider provider;
    cudaGraphExec_t graph;
    enum model_context context;
    bool one_by_one; /* a token at a time */
    enum weights weights;
    void *normed;                 /* [rows][c] */
    char *copies[MODEL_PRODUCTS]; /* transposed weights of a kind, layer behind layer */
};

/* ---------------------------------------------------------------- layers -- */

enum { TILE = 32, ROWS = 8 };

/* out [k, leading] = w [n, k]^T. */
template <typename T>
static __global__ void __launch_bounds__(TILE *ROWS)
    transpose(const T *w, T *out, int n, int k, int leading)
{
    __shared__ T tile[TILE][TILE + 1];
    int k0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE;
    for (int i = threadIdx.y; i < TILE; i += ROWS)
        if (k0 + (int)threadIdx.x < k)
            tile[i][threadIdx.x] = n0 + i < n ? w[(int64_t)(n0 + i) * k + k0 + threadIdx.x] : T(0);
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += ROWS)
        if (k0 + i < k && n0 + (int)threadIdx.x < leading)
            out[(int64_t)(k0 + i) * leading + n0 + threadIdx.x] = tile[threadIdx.x][i];
}

static int64_t leading_of(int64_t n)
{
    return (n + 7) / 8 * 8;
}

static int enqueue_transpose(const void *w, void *copy, int64_t n, int64_t k, int64_t precision,
                             void *stream)
{
    int64_t leading = leading_of(n);
    dim3 grid(gpt_blocks(k, TILE), gpt_blocks(leading, TILE)), block(TILE, ROWS);
    if (gpt_bytes(precision) == 2)
        transpose<<<grid, block, 0, (cudaStream_t)stream>>>((const uint16_t *)w, (uint16_t *)copy,
                                                            (int)n, (int)k, (int)leading);
    else
        transpose<<<grid, block, 0, (cudaStream_t)stream>>>((const float *)w, (float *)copy, (int)n,
                                                            (int)k, (int)leading);
    return assay_launched();
}

static int64_t copy_bytes(const struct model *model, enum model_product product)
{
    const struct model_matrix matrix = model_matrix(model, product);
    return matrix.k * leading_of(matrix.n) * gpt_bytes(model->precision);
}

static int layers_product(void *self, const struct model_step *step, void *stream)
{
    const struct own *own = (const struct own *)self;
    const void *x = step->x, *w = step->w;
    bool transposed = own->weights != WEIGHTS_DIRECT;
    if (step->scale) {
        if (model_norm(step, own->normed, stream) < 0) return -1;
        x = own->normed;
    }
    if (transposed) {
        char *copy =
            own->copies[step->product] + step->layer * copy_bytes(&own->run.model, step->product);
        if (own->weights == WEIGHTS_PER_CALL &&
            enqueue_transpose(w, copy, step->n, step->k, step->precision, stream) < 0)
            return -1;
        w = copy;
    }
    struct linear_operands operands = {
        x,         w,       step->bias, step->residual ? own->normed : step->y,
        step->m,   step->n, step->k,    transposed ? leading_of(step->n) : step->k,
        transposed};
    static int (*const products[])(const struct linear_operands *, cudaStream_t) = {
        linear_smem32, linear_tf32_128, linear_bf16_128, linear_fp16_128};
    if (products[step->precision](&operands, (cudaStream_t)stream) < 0) return -1;
    if (step->gelu) return model_finish(step, NULL, true, NULL, step->y, step->ldy, stream);
    if (!step->residual) return 0;
    /* The product lies in own->normed: y = product + residual. */
    struct model_step add = *step;
    add.y = own->normed;
    add.ldy = step->n;
    return model_finish(&add, NULL, false, step->residual, step->y, step->ldy, stream);
}

static int layers_attend(void *self, const struct model_attend *attend, void *stream)
{
    (void)self;
    return model_attend_own(attend, stream);
}

static int layers_prepare(struct assay_call *call, struct own *own)
{
    const struct model *model = &own->run.model;
    int64_t bytes = model->rows * model->channels * gpt_bytes(model->precision);
    if (linear_128_allow() < 0) return -1;
    int status = device_memory(call, &own->normed, bytes, "the norm");
    if (status) return status;
    int products = model->vocabulary > 0 ? (int)MODEL_PRODUCTS : (int)MODEL_P_HEAD;
    for (int p = 0; own->weights != WEIGHTS_DIRECT && p < products; p++) {
        const struct model_matrix matrix = model_matrix(model, (enum model_product)p);
        int64_t layers = p == MODEL_P_HEAD ? 1 : model->layers;
        int64_t each = copy_bytes(model, (enum model_product)p);
        status = device_memory(call, (void **)&own->copies[p], layers * each, "transposed weights");
        if (status) return status;
        for (int64_t layer = 0; own->weights == WEIGHTS_CACHED && layer < layers; layer++) {
            const char *w = (const char *)call->buffer[matrix.buffer] +
                            layer * matrix.n * matrix.k * gpt_bytes(model->precision);
            if (enqueue_transpose(w, own->copies[p] + layer * each, matrix.n, matrix.k,
                                  model->precision, call->stream) < 0)
                return -1;
        }
    }
    return 0;
}

/* ----------------------------------------------------------------- fused -- */

/* With few rows, one warp per output where the shape allows it. */
static int decode_product(void *self, const struct model_step *step, void *stream)
{
    return model_gemv_refused(step) ? model_tile_product(self, step, stream)
                                    : model_gemv_enqueue(step, stream);
}

/* -------------------------------------------------------------- variants -- */

/* All tokens of one sequence, whose first t lie as a sequence of t does. */
static int enqueue_tokens(const struct own *own, void *stream)
{
    const struct model *model = &own->run.model;
    int64_t y_bytes = model_width(model) * gpt_bytes(model->precision);
    for (int64_t token = 0; token < model->tokens; token++) {
        struct model_run run = own->run;
        void *buffer[ASSAY_MAX_BUFFERS];
        memcpy(buffer, own->run.buffer, sizeof buffer);
        buffer[MODEL_Y] = (char *)buffer[MODEL_Y] + token * y_bytes;
        run.buffer = buffer;
        run.model.rows = run.model.tokens = token + 1;
        run.model.decode = true;
        if (model_run_enqueue(&run, &own->provider, own->context, stream) < 0) return -1;
    }
    return 0;
}

static int enqueue(const void *what, void *stream)
{
    const struct own *own = (const struct own *)what;
    return own->one_by_one ? enqueue_tokens(own, stream)
                           : model_run_enqueue(&own->run, &own->provider, own->context, stream);
}

struct kind {
    bool layers, cached, graph;
    enum weights weights;
    bool one_by_one;
};

static int setup(struct assay_call *call, const struct kind *kind)
{
    struct own *own = (struct own *)calloc(1, sizeof *own);
    call->state = own;
    if (!own) return assay_error("out of memory");
    own->weights = kind->weights;
    own->one_by_one = kind->one_by_one;
    own->context = kind->cached ? MODEL_CACHED : MODEL_RECOMPUTE;
    own->provider.product = kind->layers   ? layers_product
                            : kind->cached ? decode_product
                                           : model_tile_product;
    own->provider.attend = layers_attend;
    own->provider.self = own;
    int status = model_run_init(&own->run, call, kind->cached);
    if (status == 0 && kind->layers) status = layers_prepare(call, own);
    if (status) return status;
    if (model_tiles_allow() < 0) return -1;
    if (kind->cached && !kind->one_by_one) {
        struct model_provider prefill = {model_tile_product, layers_attend, own};
        if (model_run_enqueue(&own->run, &prefill, MODEL_PREFILL, call->stream) < 0) return -1;
    }
    const struct cuda_work work = {enqueue, own};
    return kind->graph ? cuda_graph_record(&own->graph, &work, 1) : 0;
}

static int launch(struct assay_call *call)
{
    const struct own *own = (const struct own *)call->state;
    return own->graph ? cuda_graph_launch(own->graph, call->stream) : enqueue(own, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct own *own = (struct own *)call->state;
    if (!own) return;
    cuda_graph_release(own->graph);
    model_run_release(&own->run);
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        cudaFree(own->copies[p]);
    cudaFree(own->normed);
    free(own);
}

static const char *layers_supports(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    if (model.precision == GPT_TF32 && model.channels % 4 != 0)
        return "channels are no multiple of 4";
    if (gpt_bytes(model.precision) == 2 && model.channels % 8 != 0)
        return "channels are no multiple of 8";
    return NULL;
}

static const char *one_by_one_supports(const struct assay_shape *shape)
{
    return shape->value[MODEL_BATCH] > 1
               ? "one sequence: the first tokens of several do not lie next to each other"
               : NULL;
}

/* What the kinds need. */
#define LAYERS     .supports = layers_supports, .shared_bytes = linear_128_shared_bytes
#define TILES      .shared_bytes = model_tiles_shared_bytes
#define ONE_BY_ONE .supports = one_by_one_supports, TILES

#define OWN(operation_name, variant_name, label, text, needs, ...)                                 \
    static int variant_name##_setup_##operation_name(struct assay_call *call)                      \
    {                                                                                              \
        const struct kind kind = __VA_ARGS__;                                                      \
        return setup(call, &kind);                                                                 \
    }                                                                                              \
    static const struct assay_variant variant_name##_##operation_name = {                          \
        .operation = #operation_name,                                                              \
        .name = label,                                                                             \
        .summary = text,                                                                           \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 80,                                                                              \
        needs,                                                                                     \
        .setup = variant_name##_setup_##operation_name,                                            \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_name##_##operation_name)

#define FORWARD(operation_name)                                                                    \
    OWN(operation_name, layers, "layers", "own kernels, one per layer, ten per block", LAYERS,     \
        {true, false, false, WEIGHTS_DIRECT});                                                     \
    OWN(operation_name, layers_graph, "layers_graph", "layers in one CUDA graph", LAYERS,          \
        {true, false, true, WEIGHTS_DIRECT});                                                      \
    OWN(operation_name, layers_per_call, "layers_transposed_per_call",                             \
        "layers, weights transposed at every call", LAYERS,                                        \
        {true, false, false, WEIGHTS_PER_CALL});                                                   \
    OWN(operation_name, layers_cached, "layers_transposed_cached",                                 \
        "layers, transposed weights kept", LAYERS, {true, false, false, WEIGHTS_CACHED});          \
    OWN(operation_name, fused, "fused", "own fused kernels, five per block", TILES,                \
        {false, false, false, WEIGHTS_DIRECT});                                                    \
    OWN(operation_name, fused_graph, "fused_graph", "fused in one CUDA graph", TILES,              \
        {false, false, true, WEIGHTS_DIRECT})

FORWARD(gpt_forward);
FORWARD(gpt_block);

OWN(gpt_forward, generate_recompute, "generate_recompute_graph",
    "a token at a time, the ones before it computed again", ONE_BY_ONE,
    {false, false, true, WEIGHTS_DIRECT, true});
OWN(gpt_forward, generate_cached, "generate_cached_graph",
    "a token at a time, keys and values kept", ONE_BY_ONE,
    {false, true, true, WEIGHTS_DIRECT, true});

OWN(gpt_decode, recompute, "recompute", "no cache: own fused kernels over the whole context", TILES,
    {false, false, false, WEIGHTS_DIRECT});
OWN(gpt_decode, recompute_graph, "recompute_graph", "recompute in one CUDA graph", TILES,
    {false, false, true, WEIGHTS_DIRECT});
OWN(gpt_decode, cached, "cached", "keys and values kept, own kernels", TILES,
    {false, true, false, WEIGHTS_DIRECT});
OWN(gpt_decode, cached_graph, "cached_graph", "cached in one CUDA graph", TILES,
    {false, true, true, WEIGHTS_DIRECT});

OWN(gpt_decode_codes, cached, "cached", "codes decoded to bf16 in setup, then gpt_decode/cached",
    TILES, {false, true, false, WEIGHTS_DIRECT});
OWN(gpt_decode_codes, cached_graph, "cached_graph", "cached in one CUDA graph", TILES,
    {false, true, true, WEIGHTS_DIRECT});
