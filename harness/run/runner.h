/*
 * runner.h - the parent process of a run: makes the plan, starts workers, and stores each
 * group as soon as it is complete. It never uses CUDA.
 */
#pragma once

#include "store/store.h"
#include "suite/plan.h"

enum { RUNNER_MAX_SUITES = 16 };

struct runner_options {
    const char *suites[RUNNER_MAX_SUITES]; /* names or paths */
    int suite_count;
    const char *device; /* --device: auto, cuda:N, host, sim:... */
    const char *database;
    const char *label;
    const char *command; /* as typed; stored */
    struct plan_options plan;
    int launches;
    bool resume; /* continue the newest unfinished run of the suite */
    bool use_events;
    int32_t flush;        /* enum cache_flush; -1: the device's default */
    bool check_only;      /* check every result, time nothing */
    bool profile;         /* profile a launch of every case, with a new worker per group */
    const char *counters; /* counter_list of counter_sets.h; NULL: its default */
    double wait_quiet_s;  /* wait so long for other programs to end; 0: not at all */
    bool dry_run;         /* print the plan on standard output, measure nothing */
    uint64_t seed;
    /* The shared object whose variants are twins of those of the same names, measured in turns;
     * NULL: none. Turns end when a change is told from the floor, a fraction; 0: the suite's
     * threshold, or a usual one. */
    const char *twin;
    double twin_floor;
};

/* How a run ended. */
enum runner_end {
    RUNNER_COMPLETE,
    RUNNER_INTERRUPTED, /* by a signal (interrupt.h); complete groups are stored */
    RUNNER_NOTHING,     /* nothing can be profiled on this device; assay_error says why */
    RUNNER_FAILED,      /* assay_error says why */
};

/* run_id: "" when no run was stored. */
enum runner_end runner_run(const struct runner_options *options, char run_id[STORE_ID]);
