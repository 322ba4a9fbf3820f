/*
 * linear_choice.h - the fastest of our products for a shape, measured in setup, as the case will be
 * timed (cuda_trial.h), for operands that keep their addresses.
 */
#pragma once

#include "kernels/cuda/cuda_graph.h"
#include "linear_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

struct linear_choice;

/* In setup: `before` is what each launch does before the product, and leaves in L2 what is timed
 * there; NULL: nothing. 0, -1, or ASSAY_SKIP where none of them is for this card and shape; to be
 * released in each case. */
int linear_choice_make(struct linear_choice **made, const struct linear_operands *operands,
                       enum gpt_precision precision, const struct cuda_work *before,
                       struct assay_call *call);
int linear_choice_enqueue(const struct linear_choice *choice, cudaStream_t stream);
/* Accepts NULL. */
void linear_choice_release(struct linear_choice *choice);

/* "swapped 32 x 64, k in 4, of 87" */
void linear_choice_name(const struct linear_choice *choice, char *out, size_t size);

#ifdef __cplusplus
}
#endif
