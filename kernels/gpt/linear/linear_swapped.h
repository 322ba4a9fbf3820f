/*
 * linear_swapped.h - products on Hopper's tensor cores with rows of w as wgmma's rows and rows of x
 * as its columns (linear_swapped.cu), for those who choose among their tiles. w as it lies.
 */
#pragma once

#include <cuda.h>

#include "linear_products.h"

/* How outputs get to y: from registers; turned in shared memory and by TMA; or added in shared
 * memory first. */
enum { LINEAR_SWAPPED_DIRECT, LINEAR_SWAPPED_PANELS, LINEAR_SWAPPED_SUMS };

struct linear_swapped_plan {
    CUtensorMap x, w, y;
    struct linear_operands operands;
    int bands, columns; /* tiles */
    int rows;           /* of x, of a band */
    int parts;          /* of k, by the blocks of a cluster */
    int finish;
    int stages; /* of the ring */
};

/* What a launch needs. */
struct linear_swapped {
    struct linear_swapped_plan plan;
    const struct swapped_tile *tile;
    int shared_bytes;
};

/* In setup, for tf32 or bf16, k aligned to 16 bytes: a tile, and in how many parts k is divided. 0;
 * or -1, also if k is too short for them. */
enum { LINEAR_SWAPPED_TILES = 17 };
int linear_swapped_make(struct linear_swapped *product, int tile, int parts,
                        const struct linear_operands *operands, enum gpt_precision precision);

/* The same of the `most` products that are expected to be the fastest, in that order. How many
 * there are, or -1. */
int linear_swapped_choose(struct linear_swapped *products, int most,
                          const struct linear_operands *operands, enum gpt_precision precision);
int linear_swapped_enqueue(const struct linear_swapped *product, cudaStream_t stream);

/* "32 x 64 swapped, k in 4" */
void linear_swapped_name(const struct linear_swapped *product, char *out, size_t size);
