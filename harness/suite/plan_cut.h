/*
 * plan_cut.h - divides a plan into shares that take about equally long. The same plan and costs
 * give the same shares in every process: all is computed in whole numbers.
 *
 * The longest group first, each to the share that has least so far, which is at most 4/3 of the
 * best (Graham, Bounds on multiprocessing timing anomalies, 1969).
 */
#pragma once

#include "suite/plan.h"

/* Write the share of each group, from 1, to share[0 ... plan->count). cost_us: how long measuring
 * each group took before, in microseconds; -1: not known, so it is estimated from its work. NULL:
 * none is known. 0, or -1 with assay_error. */
int plan_cut(const struct plan *plan, int shares, const int64_t *cost_us, int *share);

/* Keep the groups of this share, in their order. */
void plan_keep(struct plan *plan, const int *share, int index);
