/*
 * gate_run.h - a gate from its programs to a comparison: launches, stages, and
 * what is kept of them. The decision itself is gate.h.
 */
#pragma once

#include "judge/comparison.h"
#include "store/store.h"

/* Sampling time of a case where nobody says: a launch is one number, and its own
 * interval need not be as narrow as that of a row that is shown. */
#define GATE_BUDGET_S "0.05"

/* Launches a side without which a stored run says nothing. */
enum { GATE_STORED_LAUNCHES = 5 };

struct gate_options {
    const char *suite;
    const char *base, *candidate; /* programs */
    const char *null; /* a second build of the base, for the null arm of all rounds; NULL: none */
    const char *base_device, *candidate_device; /* --device of each */
    /* The shared objects that each loads, ended by NULL; NULL: none. */
    const char *const *base_objects, *const *candidate_objects;
    bool allow_load;                         /* its suites may load objects */
    const char *baseline;                    /* stored mode: a named run; NULL: paired */
    const char *pinned;                      /* a named run to look back to; NULL: none */
    const char *filter, *budget, *precision; /* handed on; NULL: GATE_BUDGET_S, the suite's */
    double threshold;                        /* a fraction; NAN: by the clocks */
    double least_judged;                     /* a fraction of the cases (verdict.h) */
    bool speedup;                            /* the ratio to the baseline, not the time */
    bool twin;        /* both builds in one process where that can be; paired mode */
    int processes;    /* such processes, by which a case is judged (judge/twin_processes.h); 0: one,
                       * and a few more for what changed there */
    const char *self; /* this program, which measures them then; NULL: it has no file of its own */
    bool counts;      /* what launches count, in the place of times (judge/counts.h); paired mode */
    bool proof;       /* what is proven unchanged is not measured (judge/proof.h); paired mode */
    bool extend;
    bool resume; /* go on with the suite's newest gate that did not end; paired mode */
    bool allow_simulated, allow_stored;
    unsigned fail_on;
    bool fail_fast; /* paired: no stage that could not change the exit code */
    int max_time_s; /* paired: no round that would end later; 0: no limit */
    int launches;   /* of the candidate, in stored mode only */
    int timeout_s;
    bool has_seed; /* else a random one */
    uint64_t seed; /* those of all launches follow from it */
};

/* One verdict over nodes that each gated the same two programs: their gates are in these files, or
 * in one that they were merged into. */
struct over_options {
    char *const *files; /* ended by NULL */
    int nodes;          /* so many are expected; 0: as many as there are */
};

/* As gate_run, from `over` and of `options` what judges and reports. A node without its share (a
 * file that cannot be read, a gate that did not end, other programs) is named in the notes, and the
 * exit code of the comparison is EXIT_LOST. */
int gate_over(const struct gate_options *options, const struct over_options *over,
              struct comparison *comparison);

/* 0, or -1 with assay_error: a device of all GPUs, whose launches are not compared. */
int gate_refuse_all(const char *device);

/* Whether both programs would launch what a gate asks of them: suite, filter, device, objects.
 * 0, or -1 with assay_error. */
int gate_try(const struct gate_options *options);

/* Exit code of the failure after assay_error, or -1 with the comparison made (its
 * own exit code is in it). comparison_release frees. */
int gate_run(struct store *store, const struct gate_options *options,
             struct comparison *comparison);
