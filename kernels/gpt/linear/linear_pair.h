/*
 * linear_pair.h - products of a few microseconds on Hopper's tensor cores, one tile per block, the
 * blocks of a cluster sharing operands (linear_pair.cu), for those who choose among their tiles.
 * bf16 and fp16, rows of x, w and y aligned to 16 bytes, w as it lies.
 */
#pragma once

#include <cuda.h>

#include "linear_products.h"

/* What the blocks of a cluster share: nothing, and then there is no cluster; rows of w, two or four
 * of them, one above the other; rows of x, side by side; or both. */
enum linear_pair_share {
    LINEAR_PAIR_NONE,
    LINEAR_PAIR_W,
    LINEAR_PAIR_X,
    LINEAR_PAIR_W4,
    LINEAR_PAIR_X4,
    LINEAR_PAIR_W4_X2,
    LINEAR_PAIR_W2_X4,
    LINEAR_PAIR_SHARES
};

struct linear_pair_plan {
    CUtensorMap x, w, y;
    /* All that comes before the first load, side by side: constants come from memory too. */
    int log_down, log_across; /* blocks of a cluster, one above the other and side by side */
    int below, beside;        /* by their ranks, as bits: those of the first column, and row */
    int across;               /* 1: blocks are numbered along rows of y first, not along columns */
    int steps;                /* stages of k */
    int stages;               /* of the ring */
    int stage_bytes;          /* that arrive */
    int m, n;
    const void *bias; /* NULL: none */
    void *base;       /* y */
    /* Of a step of a model (linear_pair_make_step). */
    const void *residual; /* rows as y's; NULL: none */
    int dependent;        /* 1: dependent_launch.cuh */
    enum linear_finish finish;
};

/* What a launch needs. */
struct linear_pair {
    struct linear_pair_plan plan;
    const struct pair_tile *tile;
    enum linear_pair_share share;
    unsigned down, across; /* blocks */
    int shared_bytes;
};

enum { LINEAR_PAIR_TILES = 15 };
struct linear_pair_how {
    int tile;
    enum linear_pair_share share;
};

/* In setup. 0; or -1, also where the tile does not suit the shape. */
int linear_pair_make(struct linear_pair *product, const struct linear_pair_how *how,
                     const struct linear_operands *operands, enum gpt_precision precision);

/* The `most` that are expected to be the fastest, in that order: how many there are. */
int linear_pair_order(struct linear_pair_how *hows, int most,
                      const struct linear_operands *operands, enum gpt_precision precision);

/* linear_pair_make of these. How many there are, or -1. */
int linear_pair_choose(struct linear_pair *products, int most,
                       const struct linear_operands *operands, enum gpt_precision precision);

/* Before it is enqueued: a product that is a step of a model, y = residual + finish(x w^T + bias),
 * to be launched while the kernel before it still runs, which may write x and the residual, but not
 * w or the bias. Not both a residual (NULL: none) and a finish. */
void linear_pair_make_step(struct linear_pair *product, const void *residual);

int linear_pair_enqueue(const struct linear_pair *product, cudaStream_t stream);

/* Rows of x and of w. */
void linear_pair_tile(int tile, int *rows, int *columns);

/* "pair 128 x 144, x shared", "pair 64 x 96, w by 2, x by 4" */
void linear_pair_name(const struct linear_pair *product, char *out, size_t size);
