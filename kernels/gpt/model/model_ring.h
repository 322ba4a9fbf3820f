/*
 * model_ring.h - products of a model by the kernels of model_ring.cuh: Hopper, fp32. By number,
 * 0 to model_rings() - 1.
 */
#pragma once

#include "model_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

int model_rings(void);
const char *model_ring_name(int ring);

/* Once, in setup: lets the kernels take the shared memory they need. */
int model_rings_allow(void);

/* NULL, or why this kernel cannot take the step. `normed`: memory for m rows of k, where the step
 * has a norm. */
const char *model_ring_refused(const struct model_step *step, int ring);
int model_ring_enqueue(const struct model_step *step, int ring, void *normed, void *stream);

#ifdef __cplusplus
}
#endif
