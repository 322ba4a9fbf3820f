/*
 * linear_steps.h - the steps before and after the product, for our kernels and the vendor's alike:
 * the transposed copy of the weight, and the separate bias.
 *
 * The copy is [k, leading], where leading is n rounded up to a multiple of 8, so that rows start
 * on 16 bytes; the columns behind n are zero.
 */
#pragma once

#include "kernels/gpt/gpt.h"

/* The operands as a product finds them. w is [n, k], or [k, leading] if transposed. */
struct linear_operands {
    const void *x, *w, *bias; /* bias: NULL unless the product adds it */
    void *y;
    int64_t m, n, k;
    int64_t leading; /* elements from one row of w to the next */
    bool transposed;
};

#ifdef __cplusplus
extern "C" {
#endif

/* In setup: where the shape needs a copy, allocate it in *copy (to be freed with cudaFree), add its
 * size to call->workspace_bytes, and write it where it is cached. 0, -1 or ASSAY_SKIP. */
int linear_prepare(struct assay_call *call, void **copy);

/* In launch, before the product: enqueue the transposition if it is due, and say
 * what the operands are. */
int linear_begin(const struct assay_call *call, void *copy, struct linear_operands *operands);

/* In launch, behind the product: enqueue the bias if it is separate. */
int linear_end(const struct assay_call *call);

#ifdef __cplusplus
}
#endif
