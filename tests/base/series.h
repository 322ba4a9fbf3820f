/*
 * series.h - what the tests of the statistics share: a series of samples made up for a test,
 * with its rounds and marks, and when two figures are one.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/stats.h"

enum { MOST_VALUES = 512 };

/* Fails the test unless both are one number to rounding, or both NAN. */
static inline void assert_near(double got, double expected, const char *line)
{
    bool same = isnan(expected) ? isnan(got) : fabs(got - expected) <= 1e-12 * fabs(expected);
    if (!same) fail_msg("got %.17g, expected %.17g: %.60s", got, expected, line);
}

/* A series of a test: the arrays that a `struct paired` points to. */
struct series {
    float time_ns[MOST_VALUES];
    uint16_t round[MOST_VALUES];
    uint8_t mark[MOST_VALUES];
    int count;
};

static inline void series_add(struct series *series, double time_ns, int round, int mark)
{
    assert_true(series->count < MOST_VALUES);
    int i = series->count++;
    series->time_ns[i] = (float)time_ns;
    series->round[i] = (uint16_t)round;
    series->mark[i] = (uint8_t)mark;
}

static inline struct interval ratio_of(const struct series *base, const struct series *candidate)
{
    struct paired left = {base->time_ns, base->round, base->mark, base->count};
    struct paired right = {candidate->time_ns, candidate->round, candidate->mark, candidate->count};
    /* As small as the contract allows, so that the sanitizer sees a step too far. */
    int room = base->count + candidate->count;
    double *scratch = malloc((size_t)(room + !room) * sizeof *scratch);
    assert_non_null(scratch);
    struct interval ratio = stats_paired_ratio(left, right, scratch);
    free(scratch);
    return ratio;
}
