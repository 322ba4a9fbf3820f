/*
 * attention_steps.h - the causal softmax of a matrix of scores, for the variants that write one to
 * memory: our own kernels and the library's products.
 */
#pragma once

#include "kernels/gpt/gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue the softmax of `rows` rows of `tokens` scores (row r is query r % tokens): the weights of
 * keys up to the query, and 0 after it: as fp32 in place of the scores, or in `half`, of the
 * precision's 16 bits. */
int attention_softmax(float *scores, void *half, int64_t precision, int64_t rows, int64_t tokens,
                      float scale, void *stream);

/* NULL, or that the matrix of scores would be too large. */
const char *attention_scores_refused(const struct assay_shape *shape);

/* Bytes of the matrix of scores, fp32. */
int64_t attention_scores_bytes(const struct assay_shape *shape);

#ifdef __cplusplus
}
#endif
