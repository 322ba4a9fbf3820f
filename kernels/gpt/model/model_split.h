/*
 * model_split.h - a model's products in fp32 on Hopper's tensor cores, by parts in bf16
 * (kernels/gpt/linear/linear_split.h).
 */
#pragma once

#include "model_cuda.h"

struct model_split; /* memory for the parts of the largest product, and for divided tiles */

#ifdef __cplusplus
extern "C" {
#endif

/* In setup. NULL where the model or the card has no use for it, or there is no memory for it. 0 or
 * -1; to be released in each case. */
int model_split_init(struct model_split **made, const struct model *model, struct assay_call *call);
void model_split_release(struct model_split *split);

/* How many kernels there are, in each way of dividing tiles, and the name of one ("s128x96e"). */
int model_splits(void);
void model_split_name(int number, char *out, size_t size);
/* NULL, or why it cannot take the step. */
const char *model_split_refused(const struct model_split *split, const struct model_step *step,
                                int number);
/* `normed` holds m rows of k where the step has a norm. */
int model_split_enqueue(const struct model_split *split, const struct model_step *step, int number,
                        void *normed, void *stream);

#ifdef __cplusplus
}
#endif
