/*
 * model_attend.cuh - what the attention kernels of the models share: their argument, and where
 * a sequence's and head's q lies.
 */
#ifndef MODEL_ATTEND_CUH
#define MODEL_ATTEND_CUH

#include "model_cuda.h"
#include "model_launch.cuh"

struct attend_args {
    const void *qkv;
    void *y;
    int tokens, heads, size;
    float scale; /* log2(e) / sqrt(size): powers of two in the place of e */
};

static __device__ __forceinline__ float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* q of token 0 of this block's sequence and head; k is c behind, v 2 c. */
template <typename T>
static __device__ __forceinline__ const T *head_of(const attend_args &args, int index)
{
    int64_t c = (int64_t)args.heads * args.size;
    return (const T *)args.qkv + (int64_t)(index / args.heads) * args.tokens * 3 * c +
           (int64_t)(index % args.heads) * args.size;
}

static inline struct attend_args args_of(const struct model_attend *attend)
{
    struct attend_args args = {};
    args.qkv = attend->qkv;
    args.y = attend->y;
    args.tokens = (int)attend->tokens;
    args.heads = (int)attend->heads;
    args.size = (int)attend->size;
    args.scale = 1.4426950408889634f / sqrtf((float)attend->size);
    return args;
}

#endif
