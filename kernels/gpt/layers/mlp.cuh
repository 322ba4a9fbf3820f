/*
 * mlp.cuh - the argument of the fp32 kernels that compute an mlp in one launch.
 */
#pragma once

#include "kernels/gpt/gpt.cuh"

struct mlp {
    const float *x, *w1, *b1, *w2, *b2;
    float *y;
    int64_t m;
    int c;
};

static inline struct mlp mlp_args(const struct assay_call *call)
{
    return (struct mlp){(const float *)call->buffer[MLP_X],  (const float *)call->buffer[MLP_W1],
                        (const float *)call->buffer[MLP_B1], (const float *)call->buffer[MLP_W2],
                        (const float *)call->buffer[MLP_B2], (float *)call->buffer[MLP_Y],
                        call->shape->value[MLP_M],           (int)call->shape->value[MLP_C]};
}
