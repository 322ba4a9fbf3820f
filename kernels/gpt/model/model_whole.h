/*
 * model_whole.h - products of a model by the kernels of model_whole.cuh: Hopper, bf16 and fp16. By
 * number, 0 to model_wholes() - 1.
 */
#pragma once

#include "model_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

int model_wholes(void);
const char *model_whole_name(int whole);

/* Once, in setup: lets the kernels take the shared memory they need. */
int model_wholes_allow(void);

/* NULL, or why this kernel cannot take the step. */
const char *model_whole_refused(const struct model_step *step, int whole);
int model_whole_enqueue(const struct model_step *step, int whole, void *stream);

#ifdef __cplusplus
}
#endif
