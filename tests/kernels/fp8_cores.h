/* fp8_cores.h - a step of Hopper's tensor cores in FP8, for tests of bounds. */
#pragma once

#include "tests/kernels/arithmetics.h"

/* Up to 32 products and the sum so far, all cut off at `bits` of the largest, and added. */
static inline double fp8_step(const double *term, int count, double sum, int bits)
{
    double most = fabs(sum);
    int exponent;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(term[i]));
    if (most == 0) return 0;
    frexp(most, &exponent);
    double quantum = ldexp(1, exponent - bits), total = trunc(sum / quantum) * quantum;
    for (int i = 0; i < count; i++)
        total += trunc(term[i] / quantum) * quantum;
    return cut_off(total, bits);
}
