/*
 * linear_order.h - the order in which the tiles of a product are taken: down `group` bands (rows of
 * tiles), then the next column of tiles, so that tiles which are computed at the same time share
 * operands in L2. Pure, for the host too.
 */
#pragma once

#include <stdint.h>

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

/* The same for a kernel, whose divisions by what is known before would be a large part of what
 * comes before its first load: factors to multiply by. */
enum { LINEAR_ORDER_BITS = 44 };
struct linear_order_plan {
    int bands, columns, group;
    uint64_t of_group; /* its tiles, inverted: times 2 ^ LINEAR_ORDER_BITS, rounded up */
    uint64_t of_full;  /* the bands of a whole group, inverted */
    uint64_t of_last;  /* those of the last group */
};

/* Exact for number * divisor < 2 ^ LINEAR_ORDER_BITS. */
LINEAR_ORDER_FUNCTION uint64_t linear_order_inverse(int divisor)
{
    return ((UINT64_C(1) << LINEAR_ORDER_BITS) - 1) / (unsigned)divisor + 1;
}

LINEAR_ORDER_FUNCTION struct linear_order_plan linear_order_plan_of(int bands, int columns,
                                                                    int group)
{
    const int last = bands % group ? bands % group : group;
    struct linear_order_plan plan = {bands, columns, group, 0, 0, 0};
    plan.of_group = linear_order_inverse(group * columns);
    plan.of_full = linear_order_inverse(group);
    plan.of_last = linear_order_inverse(last);
    return plan;
}

LINEAR_ORDER_FUNCTION struct linear_tile linear_order_by(const struct linear_order_plan *plan,
                                                         int index)
{
    struct linear_tile tile = {0, index};
    if (plan->bands == 1) return tile;
    int group = (int)(index * plan->of_group >> LINEAR_ORDER_BITS), first = group * plan->group;
    int inside = index - first * plan->columns, left = plan->bands - first;
    int height = left < plan->group ? left : plan->group;
    tile.column =
        (int)(inside * (left < plan->group ? plan->of_last : plan->of_full) >> LINEAR_ORDER_BITS);
    tile.band = first + inside - tile.column * height;
    return tile;
}
