/*
 * linear_steps.h - the steps before and after the product, for our kernels and the library's alike:
 * the transposed copy of the weight, and the separate bias.
 *
 * The copy is [k, leading], where leading is n rounded up to a multiple of 8, so that rows are
 * aligned to 16 bytes; the columns after n are zero.
 */
#pragma once

#include "kernels/gpt/gpt.h"

/* The epilogue of an output, after the bias. */
enum linear_finish { LINEAR_PLAIN, LINEAR_GELU };

/* The operands of a product. w is [n, k], or [k, leading] if transposed. */
struct linear_operands {
    const void *x, *w, *bias; /* bias: NULL unless the product adds it */
    void *y;
    int64_t m, n, k;
    int64_t leading; /* elements from one row of w to the next */
    bool transposed;
    char unused[3]; /* no bytes without a value: a gate compares arguments whole */
    enum linear_finish finish;
};

#ifdef __cplusplus
extern "C" {
#endif

/* In setup: if the shape needs a copy, allocate it in *copy (to be freed with cudaFree) and add its
 * size to call->workspace_bytes; if it is cached, also write it. 0, -1 or ASSAY_SKIP. */
int linear_prepare(struct assay_call *call, void **copy);

/* In launch, before the product: enqueue the transposition if each call has one, and set the
 * operands. */
int linear_begin(const struct assay_call *call, void *copy, struct linear_operands *operands);

/* In launch, after the product: enqueue the bias if it is separate. */
int linear_end(const struct assay_call *call);

#ifdef __cplusplus
}
#endif
