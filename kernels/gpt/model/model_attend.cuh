/*
 * model_attend.cuh - turns what a model asks for into the arguments of the attention's kernels.
 */
#pragma once

#include "kernels/gpt/attention/attention.cuh"
#include "model_cuda.h"
#include "kernels/cuda/dependent_launch.cuh"

static inline struct attention attention_of(const struct model_attend *attend)
{
    int64_t c = attend->heads * attend->size;
    return (struct attention){
        attend->qkv,         attend->y,        3 * c, c, (int)attend->batch, (int)attend->heads,
        (int)attend->tokens, (int)attend->size};
}
