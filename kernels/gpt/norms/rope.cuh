/*
 * rope.cuh - the argument of the rope kernels.
 */
#pragma once

#include "kernels/gpt/gpt.cuh"
#include "norms.h"

template <typename T> struct rope {
    const T *x;
    const float *cosine, *sine; /* [tokens, half] */
    T *y;
    int64_t groups; /* batch times tokens */
    int tokens, heads, half;
    int neighbours; /* no bool: a gate compares arguments whole, the bytes behind it too */
};

template <typename T> static inline struct rope<T> rope_args(const struct assay_call *call) {
    const int64_t *value = call->shape->value;
    return (struct rope<T>){(const T *)call->buffer[ROPE_X],
                            (const float *)call->buffer[ROPE_COS],
                            (const float *)call->buffer[ROPE_SIN],
                            (T *)call->buffer[ROPE_Y],
                            value[ROPE_BATCH] * value[ROPE_TOKENS],
                            (int)value[ROPE_TOKENS],
                            (int)value[ROPE_HEADS],
                            (int)value[ROPE_SIZE] / 2,
                            value[ROPE_PAIRS] == ROPE_NEIGHBOURS};
}
