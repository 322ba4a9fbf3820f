/*
 * linear_order.h - the order in which the tiles of a product are taken: down `group` bands (rows of
 * tiles), then the next column of tiles, so that tiles which are computed at the same time share
 * operands in L2. Pure, for the host too.
 */
#pragma once

#ifdef __CUDACC__
#define LINEAR_ORDER_FUNCTION static __host__ __device__ __forceinline__
#else
#define LINEAR_ORDER_FUNCTION static inline
#endif

struct linear_tile {
    int band, column;
};

/* The tile with number `index` of bands x columns; the last group may have fewer bands. */
LINEAR_ORDER_FUNCTION struct linear_tile linear_order(int index, int bands, int columns, int group)
{
    struct linear_tile tile = {0, index};
    if (bands == 1) return tile; /* few rows: no division before the first load */
    int first = index / (group * columns) * group, inside = index % (group * columns);
    int height = bands - first < group ? bands - first : group;
    tile.band = first + inside % height;
    tile.column = inside / height;
    return tile;
}
