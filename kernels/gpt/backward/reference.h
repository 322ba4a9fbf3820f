/*
 * reference.h - rows of the gradients of attention in double, and how far a right answer may be
 * from them. Pure.
 */
#pragma once

#include "backward.h"

enum backward_part { BACKWARD_DQ, BACKWARD_DK, BACKWARD_DV };

/* `size` elements of one token's row of dq, dk or dv, and their bounds. */
void backward_expect(const struct backward_line *line, const void *const in[],
                     enum backward_part part, int64_t token, double *expected, double *bound);
