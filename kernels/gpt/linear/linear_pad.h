/*
 * linear_pad.h - copies of x and w whose rows are padded with zeros to a multiple of 16 bytes, for
 * kernels that need such rows.
 */
#pragma once

#include "linear_steps.h"

struct linear_pad {
    struct linear_operands operands, padded; /* as they are; and of the copies */
    enum gpt_precision precision;
    void *memory;
};

/* In setup, for w that is not transposed. 0, -1 or ASSAY_SKIP; to be released in each case. */
int linear_pad_init(struct linear_pad *pad, const struct linear_operands *operands,
                    enum gpt_precision precision, struct assay_call *call);
/* Makes the copies: in each launch, before the product. */
int linear_pad_enqueue(const struct linear_pad *pad, cudaStream_t stream);
void linear_pad_release(struct linear_pad *pad);
