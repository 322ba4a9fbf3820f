/*
 * runner_state.h - shared by runner.c (launches), run_plan.c (what to measure), run_twins.c (beside
 * which other build), attempt.c (one group, through workers) and lanes.c (several GPUs at once).
 */
#pragma once

#include "base/out_file.h"
#include "base/temp_folder.h"
#include "case/ceiling.h"
#include "case/surroundings.h"
#include "object/object.h"
#include "run/child.h"
#include "run/progress.h"
#include "run/runner.h"

struct runner {
    const struct runner_options *options;
    struct child child;
    int32_t pick;           /* as in struct device_options */
    int32_t threads;        /* of the worker's own, for checks; 0: all that it can have */
    bool child_uses_events; /* it has not loaded CUPTI */
    int suite_count;
    struct suite suite[RUNNER_MAX_SUITES];
    struct plan plan;
    struct store *store;
    struct run_info run;
    struct object_info objects[OBJECTS_MOST]; /* of `run` */
    char resumed[STORE_ID], began[32];        /* the run that is resumed and when it began, or "" */
    struct launch_info launch;
    struct machine_use use; /* when the launch began */
    struct progress progress;
    struct out_file prints;   /* of options->fingerprints */
    struct ceilings ceilings; /* of the device, measured so far in this process */
    struct ceilings
        *known; /* those that results are held against: of this runner, or of all GPUs */
    char *suite_text;
    struct temp_folder twins; /* the copies of options->twin that are loaded */
    bool resuming;
};

/* Read the suites. Called before the device is opened, which may take seconds, and before
 * signals are blocked, since reading a pipe may wait for ever. */
int run_plan_read(struct runner *runner);

/* Load the object of options->twin. It stays as long as runner->twins. */
int run_twins_load(struct runner *runner);
/* Pair the variants of the plan with their twins. */
int run_twins_plan(struct runner *runner);

/* Expand the suites into the plan for the device, ceilings first, and keep its share. */
int run_plan_make(struct runner *runner);
void run_plan_print(const struct plan *plan);
int run_plan_cases(const struct plan *plan);

/* How measuring a group ended. */
enum attempt_end {
    ATTEMPT_DONE,    /* every case has an outcome, stored */
    ATTEMPT_CULPRIT, /* a variant crashed the worker; not returned by attempt_group */
    ATTEMPT_GOES_ON, /* likewise: more messages are to come */
    ATTEMPT_GARBLED, /* likewise: a variant sent the parent what is no message of the worker's */
    ATTEMPT_AGAIN,   /* likewise: a stop of the run (Ctrl-Z) is in its times */
    ATTEMPT_STOPPED, /* by a signal */
    ATTEMPT_FAILED,  /* assay_error says why */
};

/* Make sure that a worker is ready, with kernel timestamps unless use_events: ATTEMPT_DONE. */
enum attempt_end ensure_child(struct runner *runner, bool use_events);

/* Measure a group and store every case of it, in one or more attempts. */
enum attempt_end attempt_group(struct runner *runner, const struct group *group);

/* The part of the plan that this launch, of one round after the other, measures. */
struct plan launch_plan(const struct plan *plan, int round);
/* Begin a launch on the device of the worker, which is ready, to measure the plan; and end it. */
int launch_begin(struct runner *runner, const struct plan *plan, int number);
int launch_end(struct runner *runner);

/* Wait up to options->wait_quiet_s until no other program uses the processors or the GPU, and say
 * on standard error what was waited for, and what there still is when the time is over. The worker
 * must be ready. -1: interrupted. */
int quiet_wait(struct runner *runner);
