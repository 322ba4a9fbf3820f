/*
 * view_group.h - the cases of a run by group: those of one operation, shape, temperature and
 * label, of all launches. Found by sorting once, since every case beside every other takes
 * seconds for a few thousand.
 */
#ifndef VIEW_GROUP_H
#define VIEW_GROUP_H

#include "store/store.h"

struct view_groups {
    const struct stored_case **item; /* group by group, within one as in the run */
    int *begin;                      /* of each group in `item`; one more, the end */
    int *number;                     /* of the group of each case of the run */
    int count;                       /* in the order in which their first cases are in the run */
};

struct view_group {
    const struct stored_case **item; /* as in the run */
    int count;
    int number;
};

/* The run must outlive it. 0, or -1 with assay_error. */
int view_groups_make(struct view_groups *groups, const struct stored_run *run);
struct view_group view_group_at(const struct view_groups *groups, int number);
void view_groups_release(struct view_groups *groups);

#endif
