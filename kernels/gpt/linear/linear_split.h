/*
 * linear_split.h - operands in fp32 as three parts in bf16 each, so that tensor cores can multiply
 * them: x = x0 + x1 + x2, each part the bf16 that is nearest to what those before leave. Three have
 * the 24 bits of x. Of the nine products of parts the three smallest, below 2^-23 of x w together,
 * are left out (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype
 * For Higher-Precision Computations", ARITH 2019, arXiv:1904.06376).
 *
 * A number that is infinite has parts that are no numbers, so outputs to which it contributes are
 * NaN.
 */
#pragma once

#include "linear_steps.h"

enum {
    LINEAR_SPLIT_PARTS = 3,
    /* Of k: a sum of fewer products, of one say, may be off by more than fp32 allows, since tensor
     * cores cut it off once. */
    LINEAR_SPLIT_LEAST = 64,
};

struct linear_split {
    struct linear_operands operands; /* in fp32 */
    struct linear_operands parts;    /* x: [3][m][k], w: [3][n][k], k filled up with zeros to rows
                                      * of whole 16 bytes */
    void *memory;                    /* of the parts */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The memory that the parts take, and where they are in it; for w that is not transposed. */
int64_t linear_split_bytes(const struct linear_operands *operands);
struct linear_split linear_split_in(void *memory, const struct linear_operands *operands);

/* In setup: the same, with memory of its own. 0, -1 or ASSAY_SKIP; to be released in each case. */
int linear_split_init(struct linear_split *split, const struct linear_operands *operands,
                      struct assay_call *call);
/* Makes the parts: in each launch, before the product. */
int linear_split_enqueue(const struct linear_split *split, cudaStream_t stream);
void linear_split_release(struct linear_split *split);

#ifdef __cplusplus
}
#endif
