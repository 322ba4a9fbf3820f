/*
 * run_set.h - several stored runs, with what is derived from them.
 */
#ifndef RUN_SET_H
#define RUN_SET_H

#include "show/view.h"

enum { RUN_SET_MAX = 64 };

struct run_set {
    int count;
    struct stored_run run[RUN_SET_MAX];
    struct view view[RUN_SET_MAX];
};

/* Read these runs ([PATH.sqlite:]RUN each), in their order; with none, the latest
 * run of each suite on the device of the latest run, newest first. A set is
 * large: it is not for the stack. -1 with assay_error. */
int run_set_read(struct run_set *set, char *const *specs, int count, const char *db);
void run_set_release(struct run_set *set);

#endif
