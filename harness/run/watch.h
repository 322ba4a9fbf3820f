/*
 * watch.h - one attempt to measure variants of a group by a worker: what it sends is received,
 * and who is to blame where it fails.
 */
#pragma once

#include "run/runner_state.h"

/* The variants of a group that are still to be measured, and what the worker has sent. */
struct attempt {
    const struct group *group;
    int count;
    int index[PLAN_MAX_VARIANTS]; /* into group->variant */
    bool received[PLAN_MAX_VARIANTS];
    struct wire_case *cases; /* received so far; stored when the group is complete */
    struct timespec begun;
};

/* Why an attempt failed. */
struct culprit {
    int at; /* position in attempt->index; -1: the group as a whole */
    enum case_status status;
    char reason[ASSAY_MAX_REASON];
};

/* Have the worker measure the variants that are left, and receive its results, with a deadline
 * for every step that the status board shows. ATTEMPT_CULPRIT: *culprit says what went wrong,
 * and the worker has ended, as it has after ATTEMPT_AGAIN. */
enum attempt_end watch(struct runner *runner, struct attempt *attempt, struct culprit *culprit);
