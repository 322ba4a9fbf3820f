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

/* A number below 2^31 is divided by multiplying with `factor`, which is 2^shift over the divisor,
 * rounded up, and less than 2^33 (Granlund and Montgomery, "Division by invariant integers using
 * multiplication", PLDI 1994, section 4). */
struct linear_inverse {
    uint64_t factor;
    int shift, unused; /* no bytes without a value: a gate compares arguments whole */
};

LINEAR_ORDER_FUNCTION struct linear_inverse linear_inverse_of(int divisor)
{
    struct linear_inverse inverse = {0, 32, 0};
    while ((int64_t)1 << (inverse.shift - 32) < divisor)
        inverse.shift++;
    inverse.factor = ((UINT64_C(1) << inverse.shift) - 1) / (unsigned)divisor + 1;
    return inverse;
}

LINEAR_ORDER_FUNCTION int linear_divided(int number, struct linear_inverse by)
{
    return (int)((unsigned)number * by.factor >> by.shift);
}

/* The same for a kernel, whose divisions by what is known before would be a large part of what
 * comes before its first load. */
struct linear_order_plan {
    int bands, columns, group, unused;
    struct linear_inverse of_group; /* of its tiles */
    struct linear_inverse of_full;  /* of the bands of a whole group */
    struct linear_inverse of_last;  /* of those of the last group */
};

LINEAR_ORDER_FUNCTION struct linear_order_plan linear_order_plan_of(int bands, int columns,
                                                                    int group)
{
    const int last = bands % group ? bands % group : group;
    struct linear_order_plan plan = {bands,
                                     columns,
                                     group,
                                     0,
                                     linear_inverse_of(group * columns),
                                     linear_inverse_of(group),
                                     linear_inverse_of(last)};
    return plan;
}

LINEAR_ORDER_FUNCTION struct linear_tile linear_order_by(const struct linear_order_plan *plan,
                                                         int index)
{
    struct linear_tile tile = {0, index};
    if (plan->bands == 1) return tile;
    int first = linear_divided(index, plan->of_group) * plan->group;
    int inside = index - first * plan->columns, left = plan->bands - first;
    int height = left < plan->group ? left : plan->group;
    tile.column = linear_divided(inside, left < plan->group ? plan->of_last : plan->of_full);
    tile.band = first + inside - tile.column * height;
    return tile;
}
