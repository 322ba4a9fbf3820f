/*
 * plan_parts.h - what the files of the plan share (plan.h is for everyone else).
 */
#pragma once

#include "suite/plan.h"

enum { PLAN_MAX_GROUPS = 4096 };

/* The group with this shape and temperature, or NULL. */
struct group *plan_find(const struct plan *plan, const struct assay_shape *shape,
                        enum assay_temperature temperature);

/* Fill an empty plan with the groups of a suite that the device can have, in the
 * suite's order. A shape and temperature that come again only add variants. */
int plan_expand(struct plan *plan, const struct suite *suite, const struct device_info *device);

/* Give every variant of `group` that cannot run on the device the reason why. */
void plan_skip(struct group *group, const struct device_info *device);

/* Add the variants of `more` that `group` lacks, as they are there. -1 with assay_error. */
int plan_merge(struct group *group, const struct group *more);
