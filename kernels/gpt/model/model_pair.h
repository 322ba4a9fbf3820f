/*
 * model_pair.h - products of a model by the kernels of linear_pair.cuh, after a separate layernorm
 * where one is due: Hopper, bf16 and fp16. By number, 0 to model_pairs() - 1.
 */
#pragma once

#include "model_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

int model_pairs(void);
/* "p128x144", and behind it what blocks share: "w" or "x" */
void model_pair_name(int pair, char *out, size_t size);

/* NULL, or why this kernel cannot take the step, or is not expected to be among the fastest. */
const char *model_pair_refused(const struct model_step *step, int pair);
/* `normed` holds m rows of k where the step has a norm. */
int model_pair_enqueue(const struct model_step *step, int pair, void *normed, void *stream);

#ifdef __cplusplus
}
#endif
