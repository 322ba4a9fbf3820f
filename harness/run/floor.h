/*
 * floor.h - the least time that a case can take on its device: what launches, memory and arithmetic
 * were measured to need earlier in the run. A time far below it is not a fast kernel: the work was
 * not done, was done before, or its time was not seen.
 */
#pragma once

#include "case/ceiling.h"
#include "suite/plan.h"

/* An honest case may take this much less than its floor. Published runs reach 1.11 times a measured
 * limit: the clock under a power limit depends on the data. */
#define FLOOR_MARGIN 1.25

/* Learn the limit that this case of a group measures, if it measures one. */
void floor_learn(struct ceilings *ceilings, const struct group *group,
                 const struct case_result *result);

/* Makes the result of a case wrong if its time is below its floor by more than the margin. Only on
 * a GPU: a host's limits depend on what else runs there. A case that measures a limit is not held
 * against those that were measured before it. */
void floor_judge(const struct ceilings *ceilings, const struct device_info *device,
                 const struct group *group, struct case_result *result);
