/*
 * view_group.h - groups the cases of a run over all launches: those with the same operation,
 * shape, temperature and label. Found by sorting, since comparing all pairs takes seconds for
 * a few thousand cases.
 */
#pragma once

#include "store/store.h"

struct view_group {
    const struct stored_case **item; /* in the order of the run */
    int count;
};

struct view_groups {
    const struct stored_case **item; /* owned: where the groups' cases are */
    struct view_group *group;        /* ordered by their first case */
    int count;
};

/* The run must outlive it. 0, or -1 with assay_error. */
int view_groups_make(struct view_groups *groups, const struct stored_run *run);
void view_groups_release(struct view_groups *groups);
