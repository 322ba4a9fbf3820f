/*
 * change_point.h - where the level of a series changes. Pure, and the same for
 * the same values.
 *
 * After E-divisive (Matteson and James, "A Nonparametric Approach for Multiple
 * Change Point Analysis of Multivariate Data", JASA 109, 2014): the split with
 * the largest energy statistic, kept when a permutation test finds it, then the
 * two parts in turn. What differs:
 * - a part is tested against its own permutations, and the last part always
 *   reaches to the end, so a split costs a square and not a cube;
 * - windows of CHANGE_WINDOW points, each half over the one before, so that the
 *   cost is linear in the length and an old change does not hide a new one. What
 *   the windows found is tested again between its neighbours;
 * - a split holds only when none of 999 permutations splits as well: p is at
 *   most 0.001 a test, and a series without a change mostly ends its test after
 *   a few permutations.
 *
 * A quiet series shows a change in fewer than one window of a thousand (seen: 12 of
 * 40,000), for a change must pass a second test. A step of two standard deviations
 * between 30 points a side is found 98 times of 100, one of three always. Fewer
 * than about 14 points, 4 beside 10, have too few arrangements for that p and
 * never show one.
 */
#ifndef CHANGE_POINT_H
#define CHANGE_POINT_H

enum {
    CHANGE_WINDOW = 50,
    CHANGE_LEAST = 4,          /* points a side */
    CHANGE_PERMUTATIONS = 999, /* p = 1 / (999 + 1) */
};

/* The first point of each new level, ascending, in at[], which has room for
 * count / CHANGE_LEAST; how many. Neighbours with different segment[] are
 * divided already: no test looks across. NULL: one segment. */
int change_points(const double *values, const int *segment, int count, int *at);

#endif
