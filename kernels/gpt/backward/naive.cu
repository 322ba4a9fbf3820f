/*
 * naive.cu - attention_backward on the CUDA cores, one block per token of a head: its row of dq
 * over the keys up to it, its rows of dk and dv over the queries from it on. Deliberately slow:
 * the formula as it stands, at any shape.
 *
 * A block weighs 128 pairs at a time, one per thread, and then adds their rows, the numbers of the
 * head over the threads. Operations: 16 d per pair, in fp32. Bytes: every row of a head once per
 * token, from L2.
 */
#include <limits.h>

#include "backward.cuh"

enum { THREADS = 128, NUMBERS = BACKWARD_MAX_HEAD / THREADS };

/* Rows of one head. */
template <typename T> struct rows {
    const T *q, *k, *v, *y, *dy;
    const float *lse;
    int64_t stride, stride_y;
    int size;
};

template <typename T> static __device__ __forceinline__ float dot(const T *a, const T *b, int size)
{
    float sum = 0.0f;
    for (int i = 0; i < size; i++)
        sum += gpt_float(__ldg(a + i)) * gpt_float(__ldg(b + i));
    return sum;
}

/* The weight of a pair, and the gradient of its score. */
template <typename T>
static __device__ __forceinline__ float weigh(const struct rows<T> &rows, int query, int key,
                                              float *ds)
{
    const T *dy = rows.dy + query * rows.stride_y;
    float s = dot(rows.q + query * rows.stride, rows.k + key * rows.stride, rows.size);
    float p = expf(s / sqrtf((float)rows.size) - rows.lse[query]);
    *ds = p * (dot(dy, rows.v + key * rows.stride, rows.size) -
               dot(dy, rows.y + query * rows.stride_y, rows.size));
    return p;
}

/* sum += the rows of `from`, weighted, of `count` tokens. */
template <typename T>
static __device__ __forceinline__ void add(float (&sum)[NUMBERS], const float *weight,
                                           const T *from, int64_t stride, int count, int size)
{
#pragma unroll
    for (int n = 0; n < NUMBERS; n++) {
        int i = threadIdx.x + n * THREADS;
        for (int row = 0; i < size && row < count; row++)
            sum[n] += weight[row] * gpt_float(__ldg(from + row * stride + i));
    }
}

template <typename T>
static __device__ __forceinline__ void store(T *to, const float (&sum)[NUMBERS], float scale,
                                             int size)
{
#pragma unroll
    for (int n = 0; n < NUMBERS; n++)
        if (threadIdx.x + n * THREADS < size)
            gpt_put(to + threadIdx.x + n * THREADS, scale * sum[n]);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) differentiate(const struct backward args)
{
    __shared__ float p[THREADS], ds[THREADS];
    const struct attention &forward = args.forward;
    int line = blockIdx.x / forward.tokens, own = blockIdx.x % forward.tokens;
    const T *q = attention_head<T>(forward, line);
    int64_t y = attention_out<T>(forward, line) - (T *)forward.y;
    const struct rows<T> rows = {
        q, q + forward.stride_y, q + 2 * forward.stride_y, (const T *)forward.y + y,
            (const T *)args.dy + y, args.lse + (int64_t)line *forward.tokens, forward.stride,
            forward.stride_y, forward.size
    };
    float dq[NUMBERS] = {}, dk[NUMBERS] = {}, dv[NUMBERS] = {};
    for (int first = 0; first <= own; first += THREADS) {
        int count = min(THREADS, own + 1 - first);
        if (threadIdx.x < count) weigh(rows, own, first + threadIdx.x, &ds[threadIdx.x]);
        __syncthreads();
        add(dq, ds, rows.k + first * rows.stride, rows.stride, count, rows.size);
        __syncthreads();
    }
    for (int first = own; first < forward.tokens; first += THREADS) {
        int count = min(THREADS, forward.tokens - first);
        if (threadIdx.x < count)
            p[threadIdx.x] = weigh(rows, first + threadIdx.x, own, &ds[threadIdx.x]);
        __syncthreads();
        add(dk, ds, rows.q + first * rows.stride, rows.stride, count, rows.size);
        add(dv, p, rows.dy + first * rows.stride_y, rows.stride_y, count, rows.size);
        __syncthreads();
    }
    float scale = 1.0f / sqrtf((float)rows.size);
    T *to = (T *)args.dqkv + (q - (const T *)forward.qkv) + own * rows.stride;
    store(to, dq, scale, rows.size);
    store(to + rows.stride_y, dk, scale, rows.size);
    store(to + 2 * rows.stride_y, dv, 1.0f, rows.size);
}

static int64_t blocks_of(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return value[ATTENTION_BATCH] * value[ATTENTION_HEADS] * value[ATTENTION_TOKENS];
}

static const char *supports(const struct assay_shape *shape)
{
    return blocks_of(shape) > INT_MAX ? "more than 2147483647 tokens of heads" : NULL;
}

static int launch(struct assay_call *call)
{
    const struct backward args = backward_args(call);
    unsigned blocks = (unsigned)blocks_of(call->shape);
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (backward_precision(call->shape) == GPT_BF16)
        differentiate<uint16_t><<<blocks, THREADS, 0, stream>>>(args);
    else
        differentiate<float><<<blocks, THREADS, 0, stream>>>(args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "naive",
    .summary = "one block per token, its pairs one per thread, on the CUDA cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
