/*
 * linear_swapped.h - products on Hopper's tensor cores with rows of w as wgmma's rows and rows of x
 * as its columns (linear_swapped.cu), for those who choose among their tiles. w as it lies.
 */
#pragma once

#include <cuda.h>

#include "linear_parts.cuh"
#include "linear_products.h"

/* How outputs get to y: from registers; turned in shared memory and by TMA; or added first, in
 * shared memory or through the device's. */
enum { LINEAR_SWAPPED_DIRECT, LINEAR_SWAPPED_PANELS, LINEAR_SWAPPED_SUMS, LINEAR_SWAPPED_APART };

/* Of blocks that stay (linear_swapped_turns.cuh): the tiles, numbered as the grid would number
 * them, and what finds the place of one. */
struct linear_swapped_turns {
    int tiles, group;                      /* all, and of a group of bands */
    int last, last_height;                 /* the number of the last group, and its bands */
    float per_group, per_height, per_last; /* one divided by these */
};

/* The grid: along x the parts of `height` bands, along y the columns of tiles, along z groups of
 * bands. Of parts that are apart: all bands and the columns, or the columns and all bands, and the
 * parts. So tiles that are computed at the same time share operands in L2. */
struct linear_swapped_plan {
    CUtensorMap x, w, y;
    /* All that comes before the first load, 64 bytes together. */
    int bands, height; /* all, and of a group */
    int rows;          /* of x, of a band */
    int wide;          /* rows of w of a tile */
    int log_parts;     /* bits of the rank in a cluster that divides k */
    int each, more;    /* stages of a part; so many parts have one more */
    int stages;        /* of the ring */
    int finish;
    int shares; /* 1: two blocks share rows of w */
    int across; /* 1: the columns come first, of parts that are apart */
    struct linear_operands operands;
    int parts;                         /* of k */
    struct tile_parts sums;            /* theirs, where they meet in memory */
    struct linear_swapped_turns turns; /* tiles: 0 where each has a block */
    const float *x_scales, *w_scales;  /* of e4m3 (linear_fp8.h) */
};

/* Tiles to choose from (linear_swapped_tile.cuh). */
struct swapped_table {
    const struct swapped_tile *tile;
    int count;
};

/* What a launch needs. */
struct linear_swapped {
    struct linear_swapped_plan plan;
    const struct swapped_tile *tile;
    int shared_bytes;
};

/* A tile, `narrow` of whose rows of w are left out, and in how many parts k is divided. */
enum { LINEAR_SWAPPED_TILES = 31, LINEAR_SWAPPED_NARROW = 16 };
struct linear_swapped_how {
    int tile;
    int narrow;  /* a multiple of LINEAR_SWAPPED_NARROW */
    int parts;   /* 1, 2, 4 or 8 by the blocks of a cluster */
    bool shares; /* rows of w by two blocks: an even number of bands, one part, TMA */
    bool apart;  /* up to LINEAR_SWAPPED_PARTS, through memory */
    bool turns;  /* blocks stay: one part, TMA, nothing shared */
};
enum { LINEAR_SWAPPED_PARTS = 64 };

/* In setup, for all but fp32, k aligned to 16 bytes; `sums`, of tile_parts_init, for parts that
 * are apart. 0; or -1, also if k is too short for the parts, n too large, or the tile's outputs
 * leave it no choice of rows. */
int linear_swapped_make(struct linear_swapped *product, const struct linear_swapped_how *how,
                        const struct linear_operands *operands, enum gpt_precision precision,
                        const struct tile_parts *sums);

/* The same of the `most` products that are expected to be the fastest, in that order. How many
 * there are, or -1. Of the tiles for a precision, or of other ones. */
int linear_swapped_choose(struct linear_swapped *products, int most,
                          const struct linear_operands *operands, enum gpt_precision precision,
                          const struct tile_parts *sums);
int linear_swapped_choose_of(struct linear_swapped *products, int most,
                             const struct swapped_table *tiles,
                             const struct linear_operands *operands, const struct tile_parts *sums);

/* Whether its tiles leave out rows of w. */
bool linear_swapped_cut(const struct linear_swapped *product);
int linear_swapped_enqueue(const struct linear_swapped *product, cudaStream_t stream);

/* "swapped 32 x 64, k in 4" */
void linear_swapped_name(const struct linear_swapped *product, char *out, size_t size);
