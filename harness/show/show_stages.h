/*
 * show_stages.h - the stages of a case whose variant reports them as metrics: X_ns, the sum
 * over all calls, and X_each_ns, the time of one call.
 */
#ifndef SHOW_STAGES_H
#define SHOW_STAGES_H

#include "base/units.h"
#include "show/view.h"

enum { SHOW_STAGES = 5 };

/* One stage as text. */
struct show_stage {
    const char *name;
    int64_t calls;
    char total[UNITS_MAX], each[UNITS_MAX];
};

/* Write the stages of a case in the order of a batch; returns how many. A case that is not ok
 * has none. */
int show_stages(const struct case_result *result, struct show_stage out[SHOW_STAGES]);

#endif
