/*
 * attention_naive3.cu - three kernels through memory: all scores, their softmax, the weighted sum.
 * Deliberately slow: what a framework without a fused kernel does.
 *
 * Operations: 4 d per pair, in fp32. Bytes per pair: for the score 4 written and read, for the
 * weight 4 written, and read once for each element of y.
 */
#include "attention.cuh"
#include "attention_steps.h"
#include "kernels/cuda/device_memory.h"

enum { SIDE = 16, THREADS = 128 };

/* scores[index][i][j], j <= i, not yet scaled. */
template <typename T>
static __global__ void __launch_bounds__(SIDE *SIDE) score(struct attention args, float *scores)
{
    int i = blockIdx.y * SIDE + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;
    if (i >= args.tokens || j > i) return;
    const T *q = attention_head<T>(args, blockIdx.z);
    const T *k = q + args.stride_y + j * args.stride;
    q += i * args.stride;
    float sum = 0.0f;
    for (int d = 0; d < args.size; d++)
        sum += gpt_float(__ldg(q + d)) * gpt_float(__ldg(k + d));
    scores[((int64_t)blockIdx.z * args.tokens + i) * args.tokens + j] = sum;
}

/* y[i] = sum of weights[index][i][j] v[j]: one block per query. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) weigh(struct attention args, const float *weights)
{
    int index = blockIdx.x / args.tokens, i = blockIdx.x % args.tokens;
    const float *p = weights + (int64_t)blockIdx.x * args.tokens;
    const T *v = attention_head<T>(args, index) + 2 * args.stride_y;
    T *y = attention_out<T>(args, index) + i * args.stride_y;
    for (int d = threadIdx.x; d < args.size; d += THREADS) {
        float sum = 0.0f;
        for (int j = 0; j <= i; j++)
            sum += p[j] * gpt_float(__ldg(v + j * args.stride + d));
        gpt_put(y + d, sum);
    }
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_PRECISION] == GPT_TF32) return "fp32 arithmetic only";
    if (shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] > 65535)
        return "more than 65535 sequences times heads";
    return attention_scores_refused(shape);
}

static int setup(struct assay_call *call)
{
    return device_memory(call, &call->state, attention_scores_bytes(call->shape), "the scores");
}

template <typename T> static int enqueue(const struct assay_call *call)
{
    struct attention args = attention_args(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    float *scores = (float *)call->state;
    unsigned side = gpt_blocks(args.tokens, SIDE), heads = (unsigned)(args.batch * args.heads);
    int64_t rows = (int64_t)heads * args.tokens;
    score<T><<<dim3(side, side, heads), dim3(SIDE, SIDE), 0, stream>>>(args, scores);
    if (attention_softmax(scores, NULL, GPT_FP32, rows, args.tokens, 1.0f / sqrtf((float)args.size),
                          stream))
        return -1;
    weigh<T><<<(unsigned)rows, THREADS, 0, stream>>>(args, scores);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    int64_t precision = call->shape->value[ATTENTION_PRECISION];
    if (precision == GPT_FP16) return enqueue<fp16_t>(call);
    return precision == GPT_BF16 ? enqueue<uint16_t>(call) : enqueue<float>(call);
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "naive3",
    .summary = "three kernels through memory: scores, softmax, weighted sum",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
