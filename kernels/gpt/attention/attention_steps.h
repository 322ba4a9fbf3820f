/*
 * attention_steps.h - the causal softmax of a matrix of scores, for the variants that
 * write one: their own kernels and the vendor's product.
 */
#pragma once

#include "kernels/gpt/gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue, for `rows` rows of `tokens` scores (row r is query r % tokens): the weights of
 * keys up to the query, 0 behind, as fp32 over the scores or as bf16 into `half`. */
int attention_softmax(float *scores, void *half, int64_t rows, int64_t tokens, float scale,
                      void *stream);

/* NULL, or why a matrix of scores is not to be written for this shape. */
const char *attention_scores_refused(const struct assay_shape *shape);

/* Bytes of the matrix of scores, fp32. */
int64_t attention_scores_bytes(const struct assay_shape *shape);

#ifdef __cplusplus
}
#endif
