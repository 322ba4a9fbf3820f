/*
 * expression.h - arithmetic over named sizes: "ceil(n/256)", "2*rows*columns + 4Ki". Pure.
 *
 *   + - * / % ( )  ceil() floor() min(,) max(,) log2()
 *   numbers: 12, 0.5, 1e-5, 64Ki, 1.5M (k M G T; Ki Mi Gi Ti)
 *
 * Whole numbers and fractions are exact, so ceil(n/3) is right for every n; what does not fit into
 * 64 bits is an error, not a wrong number. log2 of what is no power of two, and numbers with an
 * exponent, are doubles.
 *
 * The sizes are the dims of a shape; NULL: there are none.
 *
 * Each returns 0, or -1 with assay_error("'EXPRESSION': why").
 */
#pragma once

#include "assay.h"

/* Whether no size may have this name. */
bool expression_is_function(const char *name);

/* The value where it must be a whole number: a grid, a count. */
int expression_whole(const char *text, const struct assay_shape *shape, int64_t *value);

/* The value as a double: bytes, operations, a scalar argument. Finite. */
int expression_real(const char *text, const struct assay_shape *shape, double *value);
