/*
 * show_stages.h - the stages of a row, where its variant reports them as figures: X_ns, the
 * sum over the calls, and X_each_ns, one call's.
 */
#ifndef SHOW_STAGES_H
#define SHOW_STAGES_H

#include "base/units.h"
#include "show/view.h"

enum { SHOW_STAGES = 5 };

/* One stage in words. */
struct show_stage {
    const char *name;
    int64_t calls;
    char total[UNITS_MAX], each[UNITS_MAX];
};

/* The stages that the case has, in the order of a batch; how many. None of a case that is
 * not ok. */
int show_stages(const struct case_result *result, struct show_stage out[SHOW_STAGES]);

#endif
