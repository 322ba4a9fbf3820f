/*
 * attention_fp8_naive.cu - `attention_fp8` with a warp per query, which goes over its keys one at a
 * time and adds in fp32 on the CUDA cores: right by its simplicity, on every card.
 *
 * Operations: 4 d per pair in fp32, and two exponentials in each lane. Bytes: k and v of a head
 * once per query, from L2.
 */
#include "attention_fp8.h"
#include "kernels/gpt/gpt.cuh"

enum { WARPS = 4, LANE_NUMBERS = AFP8_MAX_HEAD / 32 };

struct arguments {
    const uint8_t *qkv;
    const float *scales;
    uint16_t *y;
    int64_t rows; /* queries of all heads */
    int heads, tokens, size;
    float scale;
    bool causal;
};

static __global__ void __launch_bounds__(32 * WARPS) attention_fp8_naive(const struct arguments of)
{
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= of.rows) return;
    const int head = (int)(row % of.heads), token = (int)(row / of.heads % of.tokens);
    const int64_t width = (int64_t)of.heads * of.size, sequence = row / of.heads / of.tokens;
    const uint8_t *first = of.qkv + sequence * of.tokens * 3 * width + head * of.size;
    const float scale = of.scale * of.scales[head] * of.scales[of.heads + head];
    float q[LANE_NUMBERS] = {}, sum[LANE_NUMBERS] = {}, peak = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < LANE_NUMBERS; i++)
        if (32 * i + lane < of.size) q[i] = e4m3_float(first[token * 3 * width + 32 * i + lane]);
    for (int key = 0; key < (of.causal ? token + 1 : of.tokens); key++) {
        const uint8_t *k = first + (3 * (int64_t)key + 1) * width, *v = k + width;
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < LANE_NUMBERS; i++)
            if (32 * i + lane < of.size) score = fmaf(q[i], e4m3_float(k[32 * i + lane]), score);
        score = scale * gpt_warp_sum(score);
        const float most = fmaxf(peak, score), keep = expf(peak - most), p = expf(score - most);
        peak = most;
        total = fmaf(total, keep, p);
#pragma unroll
        for (int i = 0; i < LANE_NUMBERS; i++)
            if (32 * i + lane < of.size)
                sum[i] = fmaf(sum[i], keep, p * e4m3_float(v[32 * i + lane]));
    }
    const float factor = of.scales[2 * of.heads + head] / total;
#pragma unroll
    for (int i = 0; i < LANE_NUMBERS; i++)
        if (32 * i + lane < of.size) of.y[row * of.size + 32 * i + lane] = bf16_of(sum[i] * factor);
}

static int launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const int64_t rows = value[AFP8_BATCH] * value[AFP8_TOKENS] * value[AFP8_HEADS];
    const struct arguments arguments = {(const uint8_t *)call->buffer[AFP8_QKV],
                                        (const float *)call->buffer[AFP8_SCALES],
                                        (uint16_t *)call->buffer[AFP8_Y],
                                        rows,
                                        (int)value[AFP8_HEADS],
                                        (int)value[AFP8_TOKENS],
                                        (int)value[AFP8_HEAD_SIZE],
                                        1.0f / sqrtf((float)value[AFP8_HEAD_SIZE]),
                                        value[AFP8_MASK] == AFP8_CAUSAL};
    attention_fp8_naive<<<gpt_blocks(rows, WARPS), 32 * WARPS, 0, (cudaStream_t)call->stream>>>(
        arguments);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "attention_fp8",
    .name = "naive",
    .summary = "a warp per query, a key at a time, fp32 arithmetic",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
