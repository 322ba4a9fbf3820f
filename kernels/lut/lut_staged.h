/*
 * lut_staged.h - the two halves of a launch of decode_imma_staged, for a variant of another
 * operation that writes its operands itself. `call` is one that lut_decode_imma_staged has set up.
 */
#pragma once

#include "lut_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the operands go, int8: all rows of A, then all of B, of the decoded stride; and the points
 * of the code. Both are of the call. */
int8_t *lut_staged_operands(const struct assay_call *call, const struct lut_points **points);
/* Enqueue: their product. 0, or -1 with assay_error. */
int lut_staged_multiply(const struct assay_call *call);

#ifdef __cplusplus
}
#endif
