/*
 * arithmetic.h - the dims and constants of the operation `arithmetic`.
 *
 * Each step x <- fma(x, SCALE, SHIFT) rounds once, so fmaf on the host and FMA on a GPU agree in
 * every bit. x starts in [0, 1) and approaches 8; each step takes it 2^-13 of the remaining
 * distance. So different chains keep different values, no value becomes denormal, and one step more
 * or less changes the result, even after the largest number of iterations.
 */
#pragma once

#include "assay.h"

enum arithmetic_dim { ARITHMETIC_KIND, ARITHMETIC_ITERATIONS, ARITHMETIC_CHAINS };
enum arithmetic_kind { ARITHMETIC_FP32, ARITHMETIC_KINDS };
enum arithmetic_buffer { ARITHMETIC_IN, ARITHMETIC_OUT };

#define ARITHMETIC_SCALE 0.9998779296875f /* 1 - 2^-13 */
#define ARITHMETIC_SHIFT 0.0009765625f    /* 2^-10 */
