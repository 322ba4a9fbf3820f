/*
 * backward.cuh - the operands of attention_backward as its kernels take them.
 */
#pragma once

#include "backward.h"
#include "kernels/gpt/attention/attention.cuh"

struct backward {
    struct attention forward; /* qkv and y, and where they lie */
    const float *lse;
    const void *dy;
    void *dqkv;
};

static inline struct backward backward_args(const struct assay_call *call)
{
    return (struct backward){attention_args(call), (const float *)call->buffer[BACKWARD_LSE],
                             call->buffer[BACKWARD_DY], call->buffer[BACKWARD_DQKV]};
}
