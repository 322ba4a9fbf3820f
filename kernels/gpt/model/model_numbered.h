/*
 * model_numbered.h - the kernels of ours that are several of a kind, tiles, say, under one number
 * for each: first the tiles, then the rings, then the tiles that are whole in shared memory, the
 * pairs and the splits.
 */
#pragma once

#include "model_cuda.h"
#include "model_split.h"

/* How many there are for a precision. */
int model_numbered(int64_t precision);
void model_numbered_name(int64_t precision, int number, char *out, size_t size);
/* NULL, or why it cannot take the step. */
const char *model_numbered_refused(const struct model_split *split, const struct model_step *step,
                                   int number);
/* `normed` holds m rows of k where the step has a norm. */
int model_numbered_enqueue(const struct model_split *split, const struct model_step *step,
                           int number, void *normed, void *stream);
