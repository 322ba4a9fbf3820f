/*
 * weight_tiles.h - the order in which weight_only_linear's kernels on tensor cores read codes, and
 * that by mma.sync activations; host code too, so that tests can follow it without a GPU.
 *
 * Weights are the left operand of m16n8k16: a tile is 16 columns of C. A lane reads 16 bytes of
 * codes at a time, a unit of 128 entries of K (one level) or 64 (two levels). Its four words hold
 * two numbers each (weight_code.h), of blocks 2 t and 2 t + 1 of a chunk of 64 entries, t = lane %
 * 4, and of columns g = lane / 4 and g + 8:
 *
 *   one level    chunk 0, g | chunk 0, g + 8 | chunk 1, g | chunk 1, g + 8
 *   two levels   level 0, g | level 1, g | level 0, g + 8 | level 1, g + 8
 *
 * Words lie as [slice][group][unit][tile][lane][4]: K is cut into slices of so many units, columns
 * into groups of so many tiles. What is beyond K or the last column is the point 0.
 *
 * A word's eight pairs are coordinate i of both blocks. Pairs 2 q and 2 q + 1 are the operand of
 * product q = 0 .. 3 of the chunk, so X is stored in such pairs as well: [row][chunk][half][t], 16
 * bytes each, half h with the pairs 4 h to 4 h + 3, and 64 bytes behind each row. Then eight lanes
 * that read at once, of two rows, find their pieces in 32 banks.
 */
#pragma once

#include "lut.h"

enum { WEIGHT_TILE = 16, WEIGHT_CHUNK = 64, WEIGHT_UNIT_WORDS = 128 };

/* Which number a half of a packed word is: `block` is that of the lower half, the upper one has
 * block + 1. */
struct weight_place {
    int64_t column, block;
    int level;
};

LUT_FUNCTION int weight_unit_entries(int levels)
{
    return 2 * WEIGHT_CHUNK / levels;
}

LUT_FUNCTION int64_t weight_units(const struct lut_geometry *geometry)
{
    int of_unit = weight_unit_entries(geometry->levels);
    return (geometry->k + of_unit - 1) / of_unit;
}

struct weight_order {
    int tiles, slice_units; /* of a group, of a slice */
    int64_t groups;
};

LUT_FUNCTION struct weight_place weight_place(const struct weight_order *order, int64_t word,
                                              int levels)
{
    int lane = (int)(word / 4 % 32), w = (int)(word % 4);
    int64_t rest = word / WEIGHT_UNIT_WORDS, tile = rest % order->tiles;
    int64_t unit = (rest /= order->tiles) % order->slice_units;
    int64_t group = (rest /= order->slice_units) % order->groups;
    int chunk = levels == 1 ? w / 2 : 0, below = levels == 1 ? w % 2 : w / 2;
    struct weight_place place;
    unit += rest / order->groups * order->slice_units;
    place.column = (group * order->tiles + tile) * WEIGHT_TILE + lane / 4 + 8 * below;
    place.block = (unit * (2 / levels) + chunk) * (WEIGHT_CHUNK / 8) + 2 * (lane % 4);
    place.level = levels == 1 ? 0 : w % 2;
    return place;
}

/* Pieces of 16 bytes of a row of X. */
LUT_FUNCTION int weight_x_row(int chunks)
{
    return chunks * 8 + 4;
}

/* Where in its row the piece of half `half` of the entries of part `t` of a chunk lies. */
LUT_FUNCTION int weight_x_piece(int chunk, int half, int t)
{
    return (chunk * 2 + half) * 4 + t;
}
