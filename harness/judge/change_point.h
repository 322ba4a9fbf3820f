/*
 * change_point.h - where the level of a series changes. Pure and deterministic.
 *
 * After E-divisive (Matteson and James, "A Nonparametric Approach for Multiple
 * Change Point Analysis of Multivariate Data", JASA 109, 2014): the split with
 * the largest energy statistic, kept when a permutation test finds it, then the
 * two parts in turn. What differs:
 * - a part is tested against its own permutations, and the last part always
 *   reaches to the end, so a split costs a square and not a cube;
 * - windows of CHANGE_WINDOW points overlap by half, so that the cost is linear in
 *   the length and an old change does not hide a new one. Each change found in a
 *   window is tested again between its neighbours;
 * - where no split is found, two are looked for at once: a level that was visited and left, which
 *   no single split tells from noise;
 * - the last level may have three points, so that a step is seen early;
 * - a split is kept only if none of 999 permutations splits as well: the p-value is
 *   at most 0.001 per test, and for a series without a change a test mostly ends
 *   after a few permutations.
 *
 * Measured: of 4,000 series of 85 points without a change 0.15 % show one, as a change must pass a
 * second test. A step of two standard deviations with 30 points on each side is found in 98 of
 * 100 cases, a step of three always; one of four with 60 points before it in 86 of 100 after three
 * points and 97 after four; a visit of four points in 93 of 100. With fewer than about 14
 * points (4 and 10) there are too few permutations for that p-value, so no change is ever found.
 */
#pragma once

enum {
    CHANGE_WINDOW = 50,
    CHANGE_LEAST = 4,          /* points of a level */
    CHANGE_LEAST_LAST = 3,     /* of the last one, which is still growing */
    CHANGE_PERMUTATIONS = 999, /* p = 1 / (999 + 1) */
};

/* Write the first point of each new level, ascending, to at[], which has space for
 * count / CHANGE_LEAST; returns how many. Points with different segment[] are in
 * different segments, which are searched separately. NULL: one segment. */
int change_points(const double *values, const int *segment, int count, int *at);
