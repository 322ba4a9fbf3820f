/*
 * attention_steps.cu - see attention_steps.h. One block per row, three passes over it: the largest
 * score, the sum of exponentials, the weights. Bytes: 4 read for every pair up to the diagonal
 * (three times, the last two from L1 or L2), 4 or 2 written for every pair.
 */
#include "attention_steps.h"
#include "kernels/gpt/gpt.cuh"

enum { THREADS = 128 };

static const int64_t SCORES_MAX = (int64_t)32 << 30;

static __device__ __forceinline__ float block_max(float value, float *warps)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (lane == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < THREADS / 32 ? warps[lane] : -INFINITY;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    softmax(float *scores, T *half, int tokens, float scale)
{
    __shared__ float warps[2][THREADS / 32];
    float *row = scores + (int64_t)blockIdx.x * tokens;
    int query = blockIdx.x % tokens;
    float peak = -INFINITY, sum = 0.0f;
    for (int j = threadIdx.x; j <= query; j += THREADS)
        peak = fmaxf(peak, row[j]);
    peak = block_max(peak, warps[0]);
    for (int j = threadIdx.x; j <= query; j += THREADS)
        sum += expf(scale * (row[j] - peak));
    float inverse = 1.0f / gpt_block_sum(sum, warps[1]);
    for (int j = threadIdx.x; j < tokens; j += THREADS) {
        float p = j <= query ? expf(scale * (row[j] - peak)) * inverse : 0.0f;
        if (half)
            gpt_put(half + (int64_t)blockIdx.x * tokens + j, p);
        else
            row[j] = p;
    }
}

int attention_softmax(float *scores, void *half, int64_t precision, int64_t rows, int64_t tokens,
                      float scale, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    if (precision == GPT_FP16)
        softmax<<<(unsigned)rows, THREADS, 0, on>>>(scores, (fp16_t *)half, (int)tokens, scale);
    else
        softmax<<<(unsigned)rows, THREADS, 0, on>>>(scores, (uint16_t *)half, (int)tokens, scale);
    return assay_launched();
}

int64_t attention_scores_bytes(const struct assay_shape *shape)
{
    int64_t tokens = shape->value[ATTENTION_TOKENS];
    return 4 * shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] * tokens * tokens;
}

const char *attention_scores_refused(const struct assay_shape *shape)
{
    return attention_scores_bytes(shape) > SCORES_MAX ? "the scores would take more than 32 GiB"
                                                      : NULL;
}
