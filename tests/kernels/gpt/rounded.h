/*
 * rounded.h - products as kernels round them: their operands, and their sums as tensor cores align
 * terms.
 */
#pragma once

#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"

/* What the operands of a product are taken as. */
enum operand { AS_STORED, NEAREST_TF32, TRUNCATED_TF32, NEAREST_BF16, NEAREST_FP16 };

static inline float operand(enum operand how, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (how == NEAREST_FP16) {
        uint16_t half;
        gpt_store(&half, GPT_FP16, 0, value);
        return half_widen(half);
    }
    if (how == NEAREST_BF16) return gpt_widen(gpt_narrow(value));
    if (how == NEAREST_TF32) bits += 0x1000;
    if (how != AS_STORED) bits &= ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Towards zero. */
static inline float truncated(double sum)
{
    float nearest = (float)sum;
    return fabs((double)nearest) > fabs(sum) ? nextafterf(nearest, 0) : nearest;
}

/* sum + a . b, of `count` terms, those of b `stride` apart. If it truncates, once in 8 terms. */
static inline float dot(enum operand how, bool truncates, float sum, const float *a, const float *b,
                        int64_t count, int64_t stride)
{
    enum { STEP = 8 };
    for (int64_t i = 0; i < count; i += STEP) {
        double all = (double)sum;
        for (int64_t j = i; j < i + STEP && j < count; j++) {
            float x = operand(how, a[j]), w = operand(how, b[j * stride]);
            if (truncates)
                all += (double)x * (double)w;
            else
                sum += x * w;
        }
        if (truncates) sum = truncated(all);
    }
    return sum;
}
