/*
 * history_fence.h - how far a case moves from run to run when nobody has changed
 * anything much: a change below that fence is none. Pure. The rule is rustc-perf's
 * for what it calls significant, itself Tukey's far fence.
 */
#ifndef HISTORY_FENCE_H
#define HISTORY_FENCE_H

#include "judge/history.h"

enum { FENCE_LEAST_CHANGES = 10, FENCE_MOST_CHANGES = 100 };

/* Q3 + 3 (Q3 - Q1) of the absolute changes between neighbours among the newest points
 * with this setting, as a fraction; NAN with fewer than FENCE_LEAST_CHANGES. */
double history_fence(const struct history_series *series, int setting);

#endif
