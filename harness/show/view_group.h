/*
 * view_group.h - groups the cases of a run over all launches: those with the same operation,
 * shape, temperature and label. Found by sorting, since comparing all pairs takes seconds for
 * a few thousand cases.
 */
#ifndef VIEW_GROUP_H
#define VIEW_GROUP_H

#include "store/store.h"

struct view_groups {
    const struct stored_case **item; /* group by group; within a group in the order of the run */
    int *begin;                      /* index in `item` of each group; one more for the end */
    int *number;                     /* the group of each case of the run */
    int count;                       /* groups are ordered by their first case */
};

struct view_group {
    const struct stored_case **item; /* in the order of the run */
    int count;
    int number;
};

/* The run must outlive it. 0, or -1 with assay_error. */
int view_groups_make(struct view_groups *groups, const struct stored_run *run);
struct view_group view_group_at(const struct view_groups *groups, int number);
void view_groups_release(struct view_groups *groups);

#endif
