/*
 * runner_state.h - what the parts of a run share: runner.c (launches),
 * run_plan.c (what to measure), attempt.c (one group, through a worker).
 */
#ifndef RUNNER_STATE_H
#define RUNNER_STATE_H

#include "run/child.h"
#include "run/progress.h"
#include "run/runner.h"

struct runner {
    const struct runner_options *options;
    struct child child;
    bool child_uses_events; /* it never loaded the recorder of kernels */
    int suite_count;
    struct suite suite[RUNNER_MAX_SUITES];
    struct plan plan;
    struct store *store;
    struct run_info run;
    struct launch_info launch;
    struct progress progress;
    char *suite_text;
    bool resuming;
};

/* Read the suites: before the device is opened, which may take seconds, and
 * before signals are held back, for a file may be a pipe that nobody fills. */
int run_plan_read(struct runner *runner);

/* Multiply them out for the device; ceilings go in front. */
int run_plan_make(struct runner *runner);
void run_plan_print(const struct plan *plan);
int run_plan_cases(const struct plan *plan);

/* How measuring a group ended. */
enum attempt_end {
    ATTEMPT_DONE,    /* every case has an outcome, stored */
    ATTEMPT_CULPRIT, /* a variant took the worker down; only inside an attempt */
    ATTEMPT_STOPPED, /* by a signal */
    ATTEMPT_FAILED,  /* assay_error says why */
};

/* A worker that is ready (ATTEMPT_DONE), with kernel timestamps or without;
 * starts one where there is none. */
enum attempt_end ensure_child(struct runner *runner, bool use_events);

/* Measure a group and store every case of it. */
enum attempt_end attempt_group(struct runner *runner, const struct group *group);

#endif
