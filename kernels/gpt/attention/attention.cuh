/*
 * attention.cuh - where q, k, v and y of a sequence and head lie.
 */
#pragma once

#include "kernels/gpt/gpt.cuh"

struct attention {
    const void *qkv;
    void *y;
    int64_t stride;   /* elements from token to token of qkv: 3 heads d */
    int64_t stride_y; /* of y: heads d, which is also from q to k and from k to v */
    int batch, heads, tokens, size;
};

static inline struct attention attention_args(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t width = value[ATTENTION_HEADS] * value[ATTENTION_HEAD_SIZE];
    return (struct attention){call->buffer[ATTENTION_QKV],
                              call->buffer[ATTENTION_Y],
                              3 * width,
                              width,
                              (int)value[ATTENTION_BATCH],
                              (int)value[ATTENTION_HEADS],
                              (int)value[ATTENTION_TOKENS],
                              (int)value[ATTENTION_HEAD_SIZE]};
}

/* q of token 0 of sequence and head number `index`; k and v are stride_y behind each. */
template <typename T>
static __device__ __forceinline__ const T *attention_head(const struct attention &args, int index)
{
    int64_t batch = index / args.heads, head = index % args.heads;
    return (const T *)args.qkv + batch * args.tokens * args.stride + head * args.size;
}

template <typename T>
static __device__ __forceinline__ T *attention_out(const struct attention &args, int index)
{
    int64_t batch = index / args.heads, head = index % args.heads;
    return (T *)args.y + batch * args.tokens * args.stride_y + head * args.size;
}

/* supports of the kernels that are made for one precision. */
template <enum gpt_precision PRECISION>
static const char *attention_only(const struct assay_shape *shape)
{
    return gpt_only(PRECISION, shape->value[ATTENTION_PRECISION]);
}

/* The largest, and the sum, of a value over the four lanes that hold a row of an accumulator of
 * mma.sync or wgmma. */
static __device__ __forceinline__ float attention_row_max(float value)
{
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

static __device__ __forceinline__ float attention_row_sum(float value)
{
    value += __shfl_xor_sync(0xffffffffu, value, 1);
    return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/* The factor of scores before gpt_exp2, which has powers of 2 in place of e. */
static inline float attention_scale(int size)
{
    return GPT_LOG2_E / sqrtf((float)size);
}

/* Word j of each of the four lanes that share a row goes to lane j of these: 16 bytes in one piece
 * instead of four times 4. */
static __device__ __forceinline__ void attention_transpose(uint32_t (&word)[4], int lane)
{
    bool odd = lane & 1, upper = lane & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint32_t swap = __shfl_xor_sync(0xffffffffu, odd ? word[i] : word[i + 1], 1);
        (odd ? word[i] : word[i + 1]) = swap;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t swap = __shfl_xor_sync(0xffffffffu, upper ? word[i] : word[i + 2], 2);
        (upper ? word[i] : word[i + 2]) = swap;
    }
}
