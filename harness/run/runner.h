/*
 * runner.h - the parent of a run: plans it, keeps a worker at it, stores each
 * case as soon as it is complete. It never touches CUDA.
 */
#ifndef RUNNER_H
#define RUNNER_H

#include "store/store.h"
#include "suite/plan.h"

enum { RUNNER_MAX_SUITES = 16 };

struct runner_options {
    const char *suites[RUNNER_MAX_SUITES]; /* names or paths */
    int suite_count;
    const char *device; /* --device: auto, cuda:N, host, sim:... */
    const char *database;
    const char *label;
    const char *command; /* as typed, for the record */
    struct plan_options plan;
    int launches;
    bool resume; /* go on with the newest unfinished run of the suite */
    bool use_events;
    int32_t flush;        /* enum cache_flush; -1: the device's own choice */
    bool check_only;      /* check every answer, time nothing */
    bool profile;         /* take a launch of every case apart, in a fresh worker a group */
    const char *counters; /* counter_list of counter_sets.h; NULL: its default */
    bool dry_run;         /* print the plan on standard output, measure nothing */
    uint64_t seed;
};

/* How a run ended. */
enum runner_end {
    RUNNER_COMPLETE,
    RUNNER_INTERRUPTED, /* by a signal (interrupt.h); what is complete is stored */
    RUNNER_NOTHING,     /* nothing can be profiled here; assay_error says why */
    RUNNER_FAILED,      /* assay_error says why */
};

/* run_id: "" when nothing was begun. */
enum runner_end runner_run(const struct runner_options *options, char run_id[STORE_ID]);

#endif
