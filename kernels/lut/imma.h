/*
 * imma.h - the tiles and the shared-memory layout of imma.cuh; host code too, so
 * that tests can follow the indices without a GPU.
 */
#pragma once

#include "lut.h"

enum {
    IMMA_ROWS = 128,                  /* of A, and of C, in a tile */
    IMMA_COLUMNS = 256,               /* rows of B, columns of C */
    IMMA_K = 128,                     /* bytes of K in a stage */
    IMMA_GROUP = 128,                 /* threads of a warpgroup */
    IMMA_WARPS = 2 * IMMA_GROUP / 32, /* warps that multiply */
    IMMA_THREADS = 3 * IMMA_GROUP,    /* of a block: one group fills the stages */
    IMMA_ALIGN = 1024,                /* bytes that a stage is aligned to */
    IMMA_STAGE_BYTES = (IMMA_ROWS + IMMA_COLUMNS) * IMMA_K,
    IMMA_BAND = 8,   /* tile rows that are walked together, for the L2 cache */
    IMMA_PARTS = 32, /* of K, at most: as many as a lane has quads of sums */
};

/* Into how many parts K is divided, where `at_once` tiles are computed at a time: the fewest of
 * those that take least, if all parts of all tiles are. To meet takes as long as 6 stages (0.65 us
 * each on an H200). */
LUT_FUNCTION int imma_parts(int64_t tiles, int stages, int at_once)
{
    int64_t most = tiles < at_once ? at_once / tiles : 1;
    if (most > IMMA_PARTS) most = IMMA_PARTS;
    if (most > stages) most = stages;
    const int each = (stages + (int)most - 1) / (int)most;
    return stages - each > 6 ? (stages + each - 1) / each : 1;
}

/* The offset of 16-byte piece `piece` of row `row`; A's rows come first, then B's. */
LUT_FUNCTION int imma_offset(int row, int piece)
{
    return row * IMMA_K + (piece ^ (row & 7)) * 16;
}

struct imma_tile {
    int64_t row, column;
};

/* Tiles of `high` rows and IMMA_COLUMNS columns. */
LUT_FUNCTION int64_t imma_tiles(int64_t rows, int64_t columns, int high)
{
    return ((rows + high - 1) / high) * ((columns + IMMA_COLUMNS - 1) / IMMA_COLUMNS);
}

/* Tile number `index`: bands of IMMA_BAND tile rows, column by column in a band. */
LUT_FUNCTION struct imma_tile imma_tile_of(int64_t index, int64_t rows, int64_t columns, int high)
{
    int64_t down = (rows + high - 1) / high;
    int64_t across = (columns + IMMA_COLUMNS - 1) / IMMA_COLUMNS;
    int64_t band = index / (IMMA_BAND * across), rest = index % (IMMA_BAND * across);
    int64_t left = down - band * IMMA_BAND;
    int64_t height = left < IMMA_BAND ? left : (int64_t)IMMA_BAND;
    struct imma_tile tile;
    tile.row = (band * IMMA_BAND + rest % height) * high;
    tile.column = rest / height * IMMA_COLUMNS;
    return tile;
}
