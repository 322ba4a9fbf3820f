/*
 * attempt.h - what attempt.c (a group, attempt by attempt) and attempt_watch.c (one
 * attempt, watched) share.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "run/runner_state.h"

/* The variants of a group that are still to be measured, and how the last
 * attempt at them ended. */
struct attempt {
    const struct group *group;
    int count;
    int index[PLAN_MAX_VARIANTS]; /* into group->variant */
    bool received[PLAN_MAX_VARIANTS];
    struct profile **profiles;   /* as they come; NULL where there is none */
    struct case_result *results; /* as they come; stored when the group is through */
};

/* What an attempt failed of. */
struct culprit {
    int at; /* position in attempt->index; -1: the group as a whole */
    enum case_status status;
    char reason[ASSAY_MAX_REASON];
};

/* Have the runner's worker measure the variants that are left, and take what it
 * reports. ATTEMPT_CULPRIT: *culprit says what went wrong, and the worker is gone. */
enum attempt_end attempt_watch(struct runner *runner, struct attempt *attempt,
                               struct culprit *culprit);

#endif
