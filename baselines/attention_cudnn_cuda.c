/*
 * attention_cudnn_cuda.c - attention by cuDNN's fused kernel, forward, bf16 and fp16. Setup
 * describes the formula as a graph of operations, which cuDNN maps to one kernel; the plans that
 * its heuristic lists are timed, and the fastest is kept.
 *
 *   s = q k^T                        [batch, heads, tokens, tokens]
 *   t = query >= key ? s / sqrt(d) : the lowest fp32
 *   p = exp(t - max t), w = p / sum p
 *   y = w v
 *
 * cuDNN knows the pattern by the order of these operations (cuDNN developer guide, graph API,
 * "Fused flash attention fprop"). All but w is fp32; what is virtual stays in the kernel.
 */
#include "cudnn_graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.h"

/* The tensors that are not virtual, in the order of a variant pack. */
enum operand { OF_Q, OF_K, OF_V, OF_Y, OF_SCALE, OF_LOWEST, OPERANDS };

struct attention {
    struct cudnn_graph graph;
    int64_t ids[OPERANDS];
    float scale, lowest;
    void *workspace;
    const void *qkv, *y; /* the addresses of the graph's operands */
};

static const char *supports(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[ATTENTION_PRECISION]) != 2) return "bf16 and fp16 only";
    return shape->value[ATTENTION_HEAD_SIZE] % 8 == 0 ? NULL
                                                      : "cuDNN needs head sizes in multiples of 8";
}

/* ----------------------------------------------------------------- graph -- */

static void add_all(struct cudnn_graph *graph, const struct cudnn_pointwise *steps, int count)
{
    for (int i = 0; i < count; i++)
        cudnn_graph_pointwise(graph, &steps[i]);
}

static void remember(struct attention *attention, enum operand operand, struct cudnn_tensor tensor)
{
    attention->ids[operand] = tensor.id;
}

/* A virtual tensor [batch, heads, tokens, keys], packed; keys may be 1. */
static struct cudnn_tensor square(struct attention *attention, const int64_t *value, int64_t keys,
                                  enum cudnn_type type)
{
    int64_t heads = value[ATTENTION_HEADS], tokens = value[ATTENTION_TOKENS];
    const struct cudnn_shape shape = {
        .type = type,
        .dims = {value[ATTENTION_BATCH], heads, tokens, keys},
        .strides = {heads * tokens * keys, tokens * keys, keys, 1},
        .is_virtual = true,
    };
    return cudnn_graph_tensor(&attention->graph, &shape);
}

static struct cudnn_tensor number(struct attention *attention)
{
    const struct cudnn_shape shape = {
        .type = CUDNN_FLOAT, .dims = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}, .is_by_value = true};
    return cudnn_graph_tensor(&attention->graph, &shape);
}

static enum cudnn_type half_type(const int64_t *value)
{
    return value[ATTENTION_PRECISION] == GPT_FP16 ? CUDNN_HALF : CUDNN_BFLOAT16;
}

/* The shape of q, v or y, whose tokens are `row` elements apart. */
static struct cudnn_shape rows(const int64_t *value, int64_t row)
{
    int64_t tokens = value[ATTENTION_TOKENS], size = value[ATTENTION_HEAD_SIZE];
    return (struct cudnn_shape){
        .type = half_type(value),
        .dims = {value[ATTENTION_BATCH], value[ATTENTION_HEADS], tokens, size},
        .strides = {tokens * row, size, row, 1},
    };
}

static struct cudnn_tensor scores(struct attention *attention, const int64_t *value)
{
    int64_t tokens = value[ATTENTION_TOKENS], size = value[ATTENTION_HEAD_SIZE];
    int64_t row = 3 * value[ATTENTION_HEADS] * size;
    struct cudnn_shape q_shape = rows(value, row), k_shape = q_shape;
    k_shape.dims[2] = size, k_shape.dims[3] = tokens; /* transposed */
    k_shape.strides[2] = 1, k_shape.strides[3] = row;
    struct cudnn_tensor q = cudnn_graph_tensor(&attention->graph, &q_shape);
    struct cudnn_tensor k = cudnn_graph_tensor(&attention->graph, &k_shape);
    struct cudnn_tensor product = square(attention, value, tokens, CUDNN_FLOAT);
    struct cudnn_tensor scaled = square(attention, value, tokens, CUDNN_FLOAT);
    struct cudnn_tensor scale = number(attention);
    remember(attention, OF_Q, q);
    remember(attention, OF_K, k);
    remember(attention, OF_SCALE, scale);
    cudnn_graph_matmul(&attention->graph, q, k, product);
    cudnn_graph_pointwise(&attention->graph,
                          &(struct cudnn_pointwise){CUDNN_MULTIPLY, CUDNN_FLOAT, .x = product,
                                                    .b = scale, .y = scaled});
    return scaled;
}

static struct cudnn_tensor mask(struct attention *attention, const int64_t *value,
                                struct cudnn_tensor score)
{
    enum { QUERY_AXIS = 2, KEY_AXIS = 3 };
    int64_t tokens = value[ATTENTION_TOKENS];
    struct cudnn_tensor query = square(attention, value, tokens, CUDNN_INT32);
    struct cudnn_tensor key = square(attention, value, tokens, CUDNN_INT32);
    struct cudnn_tensor seen = square(attention, value, tokens, CUDNN_BOOLEAN);
    struct cudnn_tensor masked = square(attention, value, tokens, CUDNN_FLOAT);
    struct cudnn_tensor lowest = number(attention);
    remember(attention, OF_LOWEST, lowest);
    const struct cudnn_pointwise steps[] = {
        {CUDNN_INDEX_OF_AXIS, CUDNN_FLOAT, .axis = QUERY_AXIS, .x = score, .y = query},
        {CUDNN_INDEX_OF_AXIS, CUDNN_FLOAT, .axis = KEY_AXIS, .x = score, .y = key},
        {CUDNN_IS_GREATER_OR_EQUAL, CUDNN_BOOLEAN, .x = query, .b = key, .y = seen},
        {CUDNN_SELECT, CUDNN_FLOAT, .x = score, .b = lowest, .t = seen, .y = masked},
    };
    add_all(&attention->graph, steps, 4);
    return masked;
}

/* The softmax, and the logarithm of its sum. Only training uses the logarithm, but by it cuDNN
 * knows flash attention: without it the graph is that of an older kernel for short sequences. */
static struct cudnn_tensor weights(struct attention *attention, const int64_t *value,
                                   struct cudnn_tensor score)
{
    struct cudnn_graph *graph = &attention->graph;
    int64_t tokens = value[ATTENTION_TOKENS];
    struct cudnn_tensor peak = square(attention, value, 1, CUDNN_FLOAT);
    struct cudnn_tensor below = square(attention, value, tokens, CUDNN_FLOAT);
    struct cudnn_tensor power = square(attention, value, tokens, CUDNN_FLOAT);
    struct cudnn_tensor sum = square(attention, value, 1, CUDNN_FLOAT);
    struct cudnn_tensor logarithm = square(attention, value, 1, CUDNN_FLOAT);
    struct cudnn_tensor unused = square(attention, value, 1, CUDNN_FLOAT);
    struct cudnn_tensor weight = square(attention, value, tokens, half_type(value));
    const struct cudnn_pointwise powers[] = {
        {CUDNN_SUBTRACT, CUDNN_FLOAT, .x = score, .b = peak, .y = below},
        {CUDNN_EXPONENTIAL, CUDNN_FLOAT, .x = below, .y = power},
    };
    const struct cudnn_pointwise shares[] = {
        {CUDNN_LOGARITHM, CUDNN_FLOAT, .x = sum, .y = logarithm},
        {CUDNN_ADD, CUDNN_FLOAT, .x = peak, .b = logarithm, .y = unused},
        {CUDNN_DIVIDE, CUDNN_FLOAT, .x = power, .b = sum, .y = weight},
    };
    cudnn_graph_reduce(graph, CUDNN_MAXIMUM, score, peak);
    add_all(graph, powers, 2);
    cudnn_graph_reduce(graph, CUDNN_SUM, power, sum);
    add_all(graph, shares, 3);
    return weight;
}

static void describe(struct attention *attention, const int64_t *value)
{
    int64_t width = value[ATTENTION_HEADS] * value[ATTENTION_HEAD_SIZE];
    const struct cudnn_shape v_shape = rows(value, 3 * width), y_shape = rows(value, width);
    struct cudnn_tensor weight =
        weights(attention, value, mask(attention, value, scores(attention, value)));
    struct cudnn_tensor v = cudnn_graph_tensor(&attention->graph, &v_shape);
    struct cudnn_tensor y = cudnn_graph_tensor(&attention->graph, &y_shape);
    remember(attention, OF_V, v);
    remember(attention, OF_Y, y);
    cudnn_graph_matmul(&attention->graph, weight, v, y);
    attention->scale = 1 / sqrtf((float)value[ATTENTION_HEAD_SIZE]);
    attention->lowest = -FLT_MAX;
}

/* ---------------------------------------------------------------- launch -- */

/* Make the pack of the call's operands: cuDNN takes their addresses from it. */
static int point_at(struct attention *attention, const struct assay_call *call)
{
    char *qkv = call->buffer[ATTENTION_QKV];
    void *y = call->buffer[ATTENTION_Y];
    if (attention->graph.pack && attention->qkv == qkv && attention->y == y) return 0;
    const int64_t *value = call->shape->value;
    int64_t bytes =
        value[ATTENTION_HEADS] * value[ATTENTION_HEAD_SIZE] * gpt_bytes(value[ATTENTION_PRECISION]);
    void *const at[OPERANDS] = {
        [OF_Q] = qkv, [OF_K] = qkv + bytes,           [OF_V] = qkv + 2 * bytes,
        [OF_Y] = y,   [OF_SCALE] = &attention->scale, [OF_LOWEST] = &attention->lowest,
    };
    attention->qkv = qkv;
    attention->y = y;
    return cudnn_graph_pack(&attention->graph, OPERANDS, attention->ids, at, attention->workspace);
}

static int enqueue(const void *what, void *stream)
{
    return cudnn_graph_execute(&((const struct attention *)what)->graph, stream);
}

static int setup(struct assay_call *call)
{
    int64_t bytes;
    struct attention *attention = call->state = calloc(1, sizeof *attention);
    if (!attention) return assay_error("out of memory");
    int status = cudnn_graph_open(&attention->graph);
    if (status) return status;
    describe(attention, call->shape->value);
    status = cudnn_graph_plans(&attention->graph, &bytes);
    if (status) return status;
    if (bytes > 0) status = device_memory(call, &attention->workspace, bytes, "cuDNN's workspace");
    if (status) return status;
    const struct cuda_work work = {enqueue, attention};
    return point_at(attention, call) ? -1 : cudnn_graph_choose(&attention->graph, &work, call);
}

static int launch(struct assay_call *call)
{
    return point_at(call->state, call) ? -1 : enqueue(call->state, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct attention *attention = call->state;
    if (!attention) return;
    cudnn_graph_close(&attention->graph);
    cudaFree(attention->workspace);
    free(attention);
}

static const struct assay_variant cudnn = {
    .operation = "attention",
    .name = "cudnn",
    .summary = "cuDNN's fused attention, the fastest of the plans that it lists",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cudnn);
