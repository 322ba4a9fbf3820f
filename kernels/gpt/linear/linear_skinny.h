/*
 * linear_skinny.h - products of few rows of x on tensor cores by mma.sync, for those who choose
 * among their divisions of the work. w as it lies, any k.
 */
#pragma once

#include "linear_products.h"

/* Columns of a block, and in how many parts of k; more than one part only on Hopper. */
enum { LINEAR_SKINNY_DIVISIONS = 8 };

/* More rows are for larger tiles. */
enum { LINEAR_SKINNY_MOST = 1024 };

/* What a launch needs. */
struct linear_skinny {
    struct linear_operands operands;
    const void *kernel;
    int threads, shared_bytes;
    int columns, log_parts; /* of a block; of k */
    int chunks;             /* of k */
    unsigned blocks;        /* parts of tiles of columns */
    unsigned row_blocks;
};

/* In setup, for tf32 or bf16. 0; or -1, also where the card cannot divide k so, or k is too short
 * for it. */
int linear_skinny_init(struct linear_skinny *product, int division,
                       const struct linear_operands *operands, enum gpt_precision precision);
int linear_skinny_enqueue(const struct linear_skinny *product, cudaStream_t stream);

/* "skinny, 32 columns, k in 4" */
void linear_skinny_name(const struct linear_skinny *product, char *out, size_t size);
