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
    struct shard shard; /* the part of the suite to measure; its cut is the runner's to make */
    bool is_own_job;    /* shard.group is the job that this process is of: no other process of it
                         * may write to the database, or measure on the GPU */
    const char *times;  /* the database whose runs say how long groups take; NULL: none does */
    int32_t pick;       /* as in struct device_options */
    int launches;
    bool resume;       /* continue the newest unfinished run of the suite */
    bool replicate;    /* of all GPUs: each measures every case, in place of a part of them */
    bool side_by_side; /* of all GPUs: also what shares the host's link or its cores */
    bool use_events;
    int32_t flush;            /* enum cache_flush; -1: the device's default */
    bool check_only;          /* check every result, time nothing */
    const char *fingerprints; /* into this file, and time nothing; NULL: not wanted */
    bool profile;             /* profile a launch of every case, with a new worker per group */
    const char *counters;     /* counter_list of counter_sets.h; NULL: its default */
    double wait_quiet_s;      /* wait so long for other programs to end; 0: not at all */
    bool dry_run;             /* print the plan on standard output, measure nothing */
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

/* run_id: "" when no run was stored. A share that has no group is a run without cases. */
enum runner_end runner_run(const struct runner_options *options, char run_id[STORE_ID]);
