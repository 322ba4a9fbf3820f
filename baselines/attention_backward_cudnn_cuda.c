/*
 * attention_backward_cudnn_cuda.c - the gradients of attention by cuDNN's fused kernels, bf16.
 * Setup describes the formula as a graph of operations; the plans that cuDNN's heuristic lists for
 * it are timed, and the fastest is kept.
 *
 *   delta = sum (dy y) 1                     [batch, heads, tokens, 1], in memory
 *   p  = exp(query >= key ? q k^T scale - lse : the lowest fp32)
 *   dv = p^T dy
 *   ds = (dy v^T - delta) p scale
 *   dk = ds^T q
 *   dq = ds k                                by way of sums in fp32, in memory
 *
 * cuDNN knows the pattern by the order of these operations, the factor 1 (for dropout) included
 * (cuDNN developer guide, graph API, "Fused flash attention bprop"; the same order in NVIDIA's
 * cudnn-frontend 1.x). Matrices are transposed by a reshape. The sums in fp32 have to be 0 before
 * each launch.
 *
 * Seen on an H200 alone, so whatever cuDNN refuses, by whatever status, is a reason to skip.
 */
#include "cudnn_graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/backward/backward.h"

/* The tensors that are not virtual, in the order of a variant pack. */
enum operand {
    OF_Q,
    OF_K,
    OF_V,
    OF_Y,
    OF_DY,
    OF_LSE,
    OF_DQ,
    OF_DK,
    OF_DV,
    OF_DELTA,
    OF_SUMS,
    OF_SCALE,
    OF_ONE,
    OF_LOWEST,
    OPERANDS
};

struct backward {
    struct cudnn_graph graph;
    int64_t batch, heads, tokens, size;
    int64_t ids[OPERANDS];
    float scale, one, lowest;
    void *memory; /* sums of dq, delta, and cuDNN's workspace */
    int64_t sum_bytes;
    void *packed[ASSAY_MAX_BUFFERS]; /* the addresses of the graph's operands */
};

static const char *supports(const struct assay_shape *shape)
{
    if (backward_precision(shape) != GPT_BF16) return "bf16 only";
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    return size % 8 == 0 && size <= 128 ? NULL : "head sizes in multiples of 8 up to 128 only";
}

/* ----------------------------------------------------------------- graph -- */

/* A virtual tensor [batch, heads, rows, columns], packed. */
static struct cudnn_tensor between(struct backward *own, int64_t rows, int64_t columns,
                                   enum cudnn_type type)
{
    const struct cudnn_shape shape = {
        .type = type,
        .dims = {own->batch, own->heads, rows, columns},
        .strides = {own->heads * rows * columns, rows * columns, columns, 1},
        .is_virtual = true,
    };
    return cudnn_graph_tensor(&own->graph, &shape);
}

static struct cudnn_tensor square(struct backward *own, enum cudnn_type type)
{
    return between(own, own->tokens, own->tokens, type);
}

static struct cudnn_tensor remember(struct backward *own, enum operand operand,
                                    const struct cudnn_shape *shape)
{
    struct cudnn_tensor tensor = cudnn_graph_tensor(&own->graph, shape);
    own->ids[operand] = tensor.id;
    return tensor;
}

/* bf16 rows whose tokens are `row` elements apart; or the same transposed. */
static struct cudnn_tensor rows(struct backward *own, enum operand operand, int64_t row,
                                bool across)
{
    struct cudnn_shape shape = {.type = CUDNN_BFLOAT16,
                                .dims = {own->batch, own->heads, own->tokens, own->size},
                                .strides = {own->tokens * row, own->size, row, 1}};
    if (across) {
        shape.dims[2] = own->size, shape.dims[3] = own->tokens;
        shape.strides[2] = 1, shape.strides[3] = row;
    }
    return remember(own, operand, &shape);
}

/* fp32 [batch, heads, tokens, columns], packed. */
static struct cudnn_tensor floats(struct backward *own, enum operand operand, int64_t columns)
{
    const struct cudnn_shape shape = {
        .type = CUDNN_FLOAT,
        .dims = {own->batch, own->heads, own->tokens, columns},
        .strides = {own->heads * own->tokens * columns, own->tokens * columns, columns, 1}};
    return remember(own, operand, &shape);
}

static struct cudnn_tensor number(struct backward *own, enum operand operand)
{
    const struct cudnn_shape shape = {
        .type = CUDNN_FLOAT, .dims = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}, .is_by_value = true};
    return remember(own, operand, &shape);
}

/* y = x mode b, in fp32; the result is returned. */
static struct cudnn_tensor pointwise(struct backward *own, enum cudnn_pointwise_mode mode,
                                     struct cudnn_tensor x, struct cudnn_tensor b,
                                     struct cudnn_tensor y)
{
    cudnn_graph_pointwise(&own->graph,
                          &(struct cudnn_pointwise){mode, CUDNN_FLOAT, .x = x, .b = b, .y = y});
    return y;
}

static struct cudnn_tensor mask(struct backward *own, struct cudnn_tensor score)
{
    enum { QUERY_AXIS = 2, KEY_AXIS = 3 };
    struct cudnn_tensor query = square(own, CUDNN_INT32), key = square(own, CUDNN_INT32);
    struct cudnn_tensor seen = square(own, CUDNN_BOOLEAN), masked = square(own, CUDNN_FLOAT);
    struct cudnn_tensor lowest = number(own, OF_LOWEST);
    const struct cudnn_pointwise steps[] = {
        {CUDNN_INDEX_OF_AXIS, CUDNN_FLOAT, .axis = QUERY_AXIS, .x = score, .y = query},
        {CUDNN_INDEX_OF_AXIS, CUDNN_FLOAT, .axis = KEY_AXIS, .x = score, .y = key},
        {CUDNN_IS_GREATER_OR_EQUAL, CUDNN_BOOLEAN, .x = query, .b = key, .y = seen},
        {CUDNN_SELECT, CUDNN_FLOAT, .x = score, .b = lowest, .t = seen, .y = masked},
    };
    for (int i = 0; i < 4; i++)
        cudnn_graph_pointwise(&own->graph, &steps[i]);
    return masked;
}

/* A square transposed, in bf16: the left operand of a product. */
static struct cudnn_tensor transposed(struct backward *own, struct cudnn_tensor x)
{
    const struct cudnn_shape shape = {
        .type = CUDNN_BFLOAT16,
        .dims = {own->batch, own->heads, own->tokens, own->tokens},
        .strides = {own->heads * own->tokens * own->tokens, own->tokens * own->tokens, 1,
                    own->tokens},
        .is_virtual = true,
    };
    struct cudnn_tensor y = cudnn_graph_tensor(&own->graph, &shape);
    cudnn_graph_reshape(&own->graph, x, y);
    return y;
}

static void describe(struct backward *own)
{
    struct cudnn_graph *graph = &own->graph;
    const struct cudnn_tensor none = {0};
    const int64_t width = own->heads * own->size, row = 3 * width;
    struct cudnn_tensor q = rows(own, OF_Q, row, false), k = rows(own, OF_K, row, true);
    struct cudnn_tensor v = rows(own, OF_V, row, true), dy = rows(own, OF_DY, width, false);
    struct cudnn_tensor y = rows(own, OF_Y, width, false), lse = floats(own, OF_LSE, 1);
    struct cudnn_tensor scale = number(own, OF_SCALE);

    struct cudnn_tensor delta =
        pointwise(own, CUDNN_MULTIPLY, dy, y, between(own, own->tokens, own->size, CUDNN_FLOAT));
    struct cudnn_tensor sum = between(own, own->tokens, 1, CUDNN_FLOAT);
    cudnn_graph_reduce(graph, CUDNN_SUM, delta, sum);
    delta = pointwise(own, CUDNN_MULTIPLY, sum, number(own, OF_ONE), floats(own, OF_DELTA, 1));

    struct cudnn_tensor p = square(own, CUDNN_FLOAT);
    cudnn_graph_matmul(graph, q, k, p);
    p = pointwise(own, CUDNN_MULTIPLY, p, scale, square(own, CUDNN_FLOAT));
    p = pointwise(own, CUDNN_SUBTRACT, p, lse, square(own, CUDNN_FLOAT));
    p = pointwise(own, CUDNN_EXPONENTIAL, mask(own, p), none, square(own, CUDNN_FLOAT));
    cudnn_graph_matmul(graph, transposed(own, p), dy, rows(own, OF_DV, row, false));

    struct cudnn_tensor ds = square(own, CUDNN_FLOAT);
    cudnn_graph_matmul(graph, dy, v, ds);
    ds = pointwise(own, CUDNN_SUBTRACT, ds, delta, square(own, CUDNN_FLOAT));
    ds = pointwise(own, CUDNN_MULTIPLY, ds, p, square(own, CUDNN_FLOAT));
    ds = pointwise(own, CUDNN_MULTIPLY, ds, scale, square(own, CUDNN_FLOAT));
    cudnn_graph_matmul(graph, transposed(own, ds), q, rows(own, OF_DK, row, false));

    const struct cudnn_shape as_rows = {
        .type = CUDNN_BFLOAT16,
        .dims = {own->batch, own->heads, own->tokens, own->size},
        .strides = {own->tokens * row, own->size, row, 1},
        .is_virtual = true,
    };
    struct cudnn_tensor keys = cudnn_graph_tensor(graph, &as_rows);
    struct cudnn_tensor sums = floats(own, OF_SUMS, own->size);
    cudnn_graph_reshape(graph, k, keys);
    cudnn_graph_matmul(graph, ds, keys, sums);
    pointwise(own, CUDNN_IDENTITY, sums, none, rows(own, OF_DQ, row, false));
}

/* ---------------------------------------------------------------- launch -- */

/* Make the pack of the call's operands: cuDNN takes their addresses from it. */
static int point_at(struct backward *own, const struct assay_call *call)
{
    if (own->graph.pack && !memcmp(own->packed, call->buffer, sizeof own->packed)) return 0;
    int64_t bytes = own->heads * own->size * gpt_bytes(GPT_BF16);
    char *qkv = call->buffer[BACKWARD_QKV], *dqkv = call->buffer[BACKWARD_DQKV];
    char *delta = (char *)own->memory + own->sum_bytes;
    char *workspace = delta + own->sum_bytes / own->size;
    void *const at[OPERANDS] = {
        [OF_Q] = qkv,
        [OF_K] = qkv + bytes,
        [OF_V] = qkv + 2 * bytes,
        [OF_Y] = call->buffer[BACKWARD_Y],
        [OF_DY] = call->buffer[BACKWARD_DY],
        [OF_LSE] = call->buffer[BACKWARD_LSE],
        [OF_DQ] = dqkv,
        [OF_DK] = dqkv + bytes,
        [OF_DV] = dqkv + 2 * bytes,
        [OF_DELTA] = delta,
        [OF_SUMS] = own->memory,
        [OF_SCALE] = &own->scale,
        [OF_ONE] = &own->one,
        [OF_LOWEST] = &own->lowest,
    };
    workspace += -(uintptr_t)workspace % 256;
    memcpy(own->packed, call->buffer, sizeof own->packed);
    return cudnn_graph_pack(&own->graph, OPERANDS, own->ids, at, workspace);
}

static int enqueue(const void *what, void *stream)
{
    const struct backward *own = what;
    cudaError_t error = cudaMemsetAsync(own->memory, 0, (size_t)own->sum_bytes, stream);
    if (error) return assay_error("cudaMemsetAsync: %s", cudaGetErrorString(error));
    return cudnn_graph_execute(&own->graph, stream);
}

static int make(struct backward *own, struct assay_call *call)
{
    int64_t workspace;
    if (cudnn_graph_open(&own->graph)) return -1;
    describe(own);
    if (cudnn_graph_plans(&own->graph, &workspace)) return -1;
    own->sum_bytes = own->batch * own->heads * own->tokens * own->size * (int64_t)sizeof(float);
    int64_t bytes = own->sum_bytes + own->sum_bytes / own->size + 256 + workspace;
    if (device_memory(call, &own->memory, bytes, "sums of dq, and cuDNN's workspace")) return -1;
    const struct cuda_work work = {enqueue, own};
    return point_at(own, call) ? -1 : cudnn_graph_choose(&own->graph, &work, call);
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    struct backward *own = call->state = calloc(1, sizeof *own);
    if (!own) return assay_error("out of memory");
    own->batch = value[ATTENTION_BATCH], own->heads = value[ATTENTION_HEADS];
    own->tokens = value[ATTENTION_TOKENS], own->size = value[ATTENTION_HEAD_SIZE];
    own->scale = 1 / sqrtf((float)own->size);
    own->one = 1;
    own->lowest = -FLT_MAX;
    return make(own, call) ? ASSAY_SKIP : 0;
}

static int launch(struct assay_call *call)
{
    return point_at(call->state, call) ? -1 : enqueue(call->state, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct backward *own = call->state;
    if (!own) return;
    cudnn_graph_close(&own->graph);
    cudaFree(own->memory);
    free(own);
}

static const struct assay_variant cudnn = {
    .operation = "attention_backward",
    .name = "cudnn",
    .summary = "cuDNN's fused gradients of attention, the fastest of the plans that it lists",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cudnn);
