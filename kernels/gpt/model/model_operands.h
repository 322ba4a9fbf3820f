/*
 * model_operands.h - a model's step as a product of the family `linear`, and where its pointers
 * must lie for kernels that load several numbers at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernels/gpt/linear/linear_products.h"
#include "model_cuda.h"

/* `normed` holds the rows of x where the step has a norm. */
static inline struct linear_operands model_operands(const struct model_step *step,
                                                    const void *normed)
{
    struct linear_operands operands = {step->scale ? normed : step->x,
                                       step->w,
                                       step->bias,
                                       step->y,
                                       step->m,
                                       step->n,
                                       step->k,
                                       step->k,
                                       false};
    operands.finish = step->gelu ? LINEAR_GELU : LINEAR_PLAIN;
    return operands;
}

/* NULL is on any. */
static inline bool model_on(const void *pointer, uintptr_t bytes)
{
    return (uintptr_t)pointer % bytes == 0;
}
