/*
 * attention_cublas_cuda.c - attention in three steps, each through memory: cuBLAS computes all
 * scores, the family's kernel their softmax, cuBLAS the weighted sums of the values.
 *
 * q, k and v of a token are neighbours in memory. So the matrices of successive sequences are a
 * constant distance apart, and so are those of successive heads, but no single stride covers both.
 *
 *   cublas_batched   cublasGemmStridedBatchedEx over the larger of the two counts, in a loop over
 *                    the smaller: 2 min(batch, heads) + 1 kernels
 *   cublas_pointers  cublasGemmBatchedEx with the address of every matrix, listed in setup:
 *                    3 kernels, for short sequences, where launches take most of the time
 *
 * Column-major: s' [keys, queries] = k'^T q', then y' [d, queries] = v' p'. The whole square of
 * scores is computed, so 8 d operations per pair below the diagonal. Bytes per pair of the square:
 * 4 written and read for the score, 4 (bf16, fp16: 2) for the weight.
 */
#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/gpt/cublas_types.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/attention/attention_steps.h"

struct attention {
    struct cublas_session session;
    float *scores;
    void *half; /* the weights in 16 bits; NULL: they replace the scores */
    /* cublas_pointers: device addresses of `lines` matrices of each kind, on the device. */
    void **pointers;
    int64_t lines;
};

/* In the order of attention.pointers. */
enum matrix { MATRIX_Q, MATRIX_K, MATRIX_V, MATRIX_SCORES, MATRIX_WEIGHTS, MATRIX_Y, MATRICES };

static const char *supports(const struct assay_shape *shape)
{
    const char *refused = attention_scores_refused(shape);
    return refused ? refused : cublas_missing();
}

static int setup(struct assay_call *call)
{
    int64_t precision = call->shape->value[ATTENTION_PRECISION];
    int64_t bytes = attention_scores_bytes(call->shape);
    struct attention *attention = call->state = calloc(1, sizeof *attention);
    if (!attention) return assay_error("out of memory");
    if (cublas_session_open(&attention->session, cublas_types(precision).math, call)) return -1;
    int status = device_memory(call, (void **)&attention->scores, bytes, "the scores");
    if (status || gpt_bytes(precision) != 2) return status;
    return device_memory(call, &attention->half, bytes / 2, "the weights");
}

/* The loop and the batched calls inside it: how many, and the strides of each in elements. */
struct walk {
    int64_t loops, batch;
    int64_t qkv_loop, qkv_batch, y_loop, y_batch, s_loop, s_batch;
};

static struct walk walk_of(const struct assay_shape *shape)
{
    int64_t batch = shape->value[ATTENTION_BATCH], heads = shape->value[ATTENTION_HEADS];
    int64_t tokens = shape->value[ATTENTION_TOKENS], size = shape->value[ATTENTION_HEAD_SIZE];
    int64_t y = tokens * heads * size, square = tokens * tokens;
    if (heads >= batch)
        return (struct walk){batch, heads, 3 * y, size, y, size, heads * square, square};
    return (struct walk){heads, batch, size, 3 * y, size, y, square, heads * square};
}

static int launch(struct assay_call *call)
{
    const struct attention *attention = call->state;
    const int64_t *value = call->shape->value;
    const struct cublas_types types = cublas_types(value[ATTENTION_PRECISION]);
    const struct walk walk = walk_of(call->shape);
    const float one = 1, zero = 0;
    int64_t bytes = gpt_bytes(value[ATTENTION_PRECISION]);
    int64_t width = value[ATTENTION_HEADS] * value[ATTENTION_HEAD_SIZE];
    int tokens = (int)value[ATTENTION_TOKENS], size = (int)value[ATTENTION_HEAD_SIZE];
    void *weights = attention->half ? attention->half : attention->scores;
    const char *q = call->buffer[ATTENTION_QKV];
    for (int64_t i = 0; i < walk.loops; i++) {
        const char *at = q + i * walk.qkv_loop * bytes;
        if (cublas_error(attention->session.api->gemm_batched(
                             attention->session.handle, CUBLAS_OP_T, CUBLAS_OP_N, tokens, tokens,
                             size, &one, at + width * bytes, types.data, (int)(3 * width),
                             walk.qkv_batch, at, types.data, (int)(3 * width), walk.qkv_batch,
                             &zero, attention->scores + i * walk.s_loop, CUDA_R_32F, tokens,
                             walk.s_batch, (int)walk.batch, types.compute, CUBLAS_GEMM_DEFAULT),
                         "scores"))
            return -1;
    }
    if (attention_softmax(attention->scores, attention->half, value[ATTENTION_PRECISION],
                          value[ATTENTION_BATCH] * value[ATTENTION_HEADS] * tokens, tokens,
                          1.0f / sqrtf((float)size), call->stream))
        return -1;
    for (int64_t i = 0; i < walk.loops; i++) {
        const char *v = q + (i * walk.qkv_loop + 2 * width) * bytes;
        char *y = (char *)call->buffer[ATTENTION_Y] + i * walk.y_loop * bytes;
        if (cublas_error(attention->session.api->gemm_batched(
                             attention->session.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, tokens,
                             tokens, &one, v, types.data, (int)(3 * width), walk.qkv_batch,
                             (char *)weights + i * walk.s_loop * bytes, types.data, tokens,
                             walk.s_batch, &zero, y, types.data, (int)width, walk.y_batch,
                             (int)walk.batch, types.compute, CUBLAS_GEMM_DEFAULT),
                         "weighted sum"))
            return -1;
    }
    return 0;
}

/* -------------------------------------------------------- cublas_pointers -- */

/* Every matrix has to be aligned to 16 bytes (cublasGemmBatchedEx's documentation). */
static const char *supports_pointers(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_HEAD_SIZE] % 8 != 0 || shape->value[ATTENTION_TOKENS] % 8 != 0)
        return "lists of matrices want head sizes and tokens that are multiples of 8";
    return supports(shape);
}

/* Addresses of the matrices of pair `line` of a sequence and a head. */
static void list_line(const struct assay_call *call, const struct attention *attention,
                      int64_t line, char *address[MATRICES])
{
    const int64_t *value = call->shape->value;
    int64_t heads = value[ATTENTION_HEADS], tokens = value[ATTENTION_TOKENS];
    int64_t size = value[ATTENTION_HEAD_SIZE], width = heads * size;
    int64_t bytes = gpt_bytes(value[ATTENTION_PRECISION]);
    int64_t y = line / heads * tokens * width + line % heads * size;
    int64_t q = line / heads * tokens * 3 * width + line % heads * size;
    char *qkv = call->buffer[ATTENTION_QKV];
    address[MATRIX_Q] = qkv + q * bytes;
    address[MATRIX_K] = qkv + (q + width) * bytes;
    address[MATRIX_V] = qkv + (q + 2 * width) * bytes;
    address[MATRIX_SCORES] = (char *)(attention->scores + line * tokens * tokens);
    address[MATRIX_WEIGHTS] = address[MATRIX_SCORES];
    if (attention->half)
        address[MATRIX_WEIGHTS] = (char *)attention->half + line * tokens * tokens * bytes;
    address[MATRIX_Y] = (char *)call->buffer[ATTENTION_Y] + y * bytes;
}

static int setup_pointers(struct assay_call *call)
{
    int status = setup(call);
    if (status) return status;
    struct attention *attention = call->state;
    int64_t lines = call->shape->value[ATTENTION_BATCH] * call->shape->value[ATTENTION_HEADS];
    int64_t count = lines * MATRICES, bytes = count * (int64_t)sizeof(char *);
    status = device_memory(call, (void **)&attention->pointers, bytes, "the lists of matrices");
    if (status) return status;
    char **list = malloc((size_t)bytes);
    if (!list) return assay_error("out of memory");
    for (int64_t line = 0; line < lines; line++) {
        char *address[MATRICES];
        list_line(call, attention, line, address);
        for (int m = 0; m < MATRICES; m++)
            list[m * lines + line] = address[m];
    }
    attention->lines = lines;
    status = device_upload((void *)attention->pointers, (const void *)list, (size_t)bytes,
                           "the lists of matrices");
    free(list);
    return status;
}

static int launch_pointers(struct assay_call *call)
{
    const struct attention *attention = call->state;
    const int64_t *value = call->shape->value;
    const struct cublas_types types = cublas_types(value[ATTENTION_PRECISION]);
    const float one = 1, zero = 0;
    int width = (int)(value[ATTENTION_HEADS] * value[ATTENTION_HEAD_SIZE]);
    int tokens = (int)value[ATTENTION_TOKENS], size = (int)value[ATTENTION_HEAD_SIZE];
    int lines = (int)attention->lines;
    void **list[MATRICES];
    for (int m = 0; m < MATRICES; m++)
        list[m] = attention->pointers + m * attention->lines;
    if (cublas_error(attention->session.api->gemm_pointers(
                         attention->session.handle, CUBLAS_OP_T, CUBLAS_OP_N, tokens, tokens, size,
                         &one, (const void *const *)list[MATRIX_K], types.data, 3 * width,
                         (const void *const *)list[MATRIX_Q], types.data, 3 * width, &zero,
                         list[MATRIX_SCORES], CUDA_R_32F, tokens, lines, types.compute,
                         CUBLAS_GEMM_DEFAULT),
                     "scores"))
        return -1;
    if (attention_softmax(attention->scores, attention->half, value[ATTENTION_PRECISION],
                          (int64_t)lines * tokens, tokens, 1.0f / sqrtf((float)size), call->stream))
        return -1;
    return cublas_error(attention->session.api->gemm_pointers(
                            attention->session.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, tokens,
                            tokens, &one, (const void *const *)list[MATRIX_V], types.data,
                            3 * width, (const void *const *)list[MATRIX_WEIGHTS], types.data,
                            tokens, &zero, list[MATRIX_Y], types.data, width, lines, types.compute,
                            CUBLAS_GEMM_DEFAULT),
                        "weighted sum");
}

static void teardown(struct assay_call *call)
{
    struct attention *attention = call->state;
    if (!attention) return;
    cublas_session_release(&attention->session);
    cudaFree(attention->scores);
    cudaFree(attention->half);
    cudaFree(attention->pointers);
    free(attention);
}

static const struct assay_variant cublas_batched = {
    .operation = "attention",
    .name = "cublas_batched",
    .summary = "cublasGemmStridedBatchedEx twice, the family's softmax between",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublas_batched);

static const struct assay_variant cublas_pointers = {
    .operation = "attention",
    .name = "cublas_pointers",
    .summary = "cublasGemmBatchedEx twice, all matrices in a call, the family's softmax between",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports_pointers,
    .setup = setup_pointers,
    .launch = launch_pointers,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublas_pointers);

#endif
