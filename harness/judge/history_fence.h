/*
 * history_fence.h - how much a case usually changes from run to run: a change below this
 * is not significant. Pure. It is Tukey's outer fence, as rustc-perf uses it.
 */
#ifndef HISTORY_FENCE_H
#define HISTORY_FENCE_H

#include "judge/history.h"

enum { FENCE_LEAST_CHANGES = 10, FENCE_MOST_CHANGES = 100 };

/* Q3 + 3 (Q3 - Q1) of the absolute changes between successive points with this setting,
 * newest FENCE_MOST_CHANGES, as a fraction; NAN with fewer than FENCE_LEAST_CHANGES. */
double history_fence(const struct history_series *series, int setting);

#endif
