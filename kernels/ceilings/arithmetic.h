/*
 * arithmetic.h - the dims and constants of the operation `arithmetic`.
 *
 * Every chain runs x <- fma(x, SCALE, SHIFT), one rounding per step, so that the
 * host's fmaf and a GPU's FMA agree in every bit. x starts in [0, 1) and creeps
 * towards 8 by about 2^-13 of the distance per step: chains stay apart, stay
 * normal, and one step more or less shows in the result up to the largest
 * number of iterations.
 */
#pragma once

#include "assay.h"

enum arithmetic_dim { ARITHMETIC_KIND, ARITHMETIC_ITERATIONS, ARITHMETIC_CHAINS };
enum arithmetic_kind { ARITHMETIC_FP32, ARITHMETIC_KINDS };
enum arithmetic_buffer { ARITHMETIC_IN, ARITHMETIC_OUT };

#define ARITHMETIC_SCALE 0.9998779296875f /* 1 - 2^-13 */
#define ARITHMETIC_SHIFT 0.0009765625f    /* 2^-10 */
