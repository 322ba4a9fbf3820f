/*
 * store.h - the SQLite database: the only file that includes sqlite3.h beside
 * its own parts (store_*.c). docs/schema.md is the public contract.
 *
 * One writer transaction a case: a kill at any moment leaves every complete
 * case and no half of one. IDs are random 128-bit or content hashes, as hex.
 * Every function returns 0, or -1 after assay_error with a clear sentence
 * (read-only, locked, full, not a database, made by a newer version).
 */
#pragma once

#include <stdio.h>

#include "case/run_record.h"
#include "suite/plan.h"

struct store;

enum store_mode {
    STORE_READ,
    STORE_CHANGE, /* write to a database that is there */
    STORE_WRITE,  /* the same; create it where it is not */
};

/* Open the database at `path`, and bring one of an older release to this version. */
int store_open(struct store **store, const char *path, enum store_mode mode);
void store_close(struct store *store);

/* Check that a run could be stored there, before long work; makes no database, and its folder where
 * that is missing. 0, or -1 with assay_error. */
int store_try(const char *path);

/* Begin a run: makes run->id. The expected cases are written with it, so that
 * what is missing later is known and --resume can go on. */
int store_begin_run(struct store *store, struct run_info *run, const struct program_info *program,
                    const struct host_info *host);
int store_begin_launch(struct store *store, struct launch_info *launch, const struct plan *plan);

/* Hand cases over that the plan of one launch named to another launch of the run, which measures
 * them: `count` of them, from the one in place `first` of the plan (from 1). */
int store_hand_over(struct store *store, const char *from_launch, const char *to_launch, int first,
                    int count);

/* Complete cases of one group, in one transaction: what was measured together
 * is there together, or not at all. `begun`: when measuring them began; NULL: not known. */
int store_cases(struct store *store, const char *launch_id, const struct group *group,
                const struct case_result *results, int count, const struct timespec *begun);

/* What a launch of that case, which is stored already, was found to consist of. */
struct profile;
int store_profile(struct store *store, const char *launch_id, const struct case_id *id,
                  const struct profile *profile);

int store_end_launch(struct store *store, const char *launch_id, const struct device_state *end,
                     const struct surroundings *around);
/* status: "complete" or "interrupted". */
int store_end_run(struct store *store, const char *run_id, const char *status);

/* Whether the launch has this case already (for --resume). */
int store_has_case(struct store *store, const char *launch_id, const struct case_id *id, bool *has);

/* RUN: an id prefix, a label, a named baseline, `latest`, `latest~N`. The path
 * before a colon is the caller's business (store_split_run). */
int store_find_run(struct store *store, const char *spec, char id[STORE_ID]);

/* The same, or the name of a job: the id then stands for all of its shares that are complete and
 * were cut from one plan, and store_read_run and store_read_timings have them as one run. */
int store_find_run_or_job(struct store *store, const char *spec, char id[STORE_ID]);

/* The id of the newest run, launches of gates and calibrations too. 0 or -1. */
int store_find_newest(struct store *store, char id[STORE_ID]);
int store_split_run(const char *spec, const char *default_path, char *path, size_t path_size,
                    const char **run);

/* The newest run with that label. 1: found, 0: there is none, -1: reported. */
int store_find_label(struct store *store, const char *label, char id[STORE_ID]);

/* The newest run of a suite that did not complete, for --resume. */
int store_find_unfinished(struct store *store, const char *suite, char id[STORE_ID]);

/* The last launch of a run that is not complete, for --resume; "" if none. */
int store_open_launch(struct store *store, const char *run_id, struct launch_info *launch);

/* The number of a run's last launch; 0 when it has none. */
int store_last_launch(struct store *store, const char *run_id, int *number);

/* -1 with assay_error unless the launch was begun with exactly this plan. */
int store_check_plan(struct store *store, const char *run_id, int launch, const struct plan *plan);

/* ------------------------------------------------------------- reading -- */

/* The profile of a stored case; *found is false where it has none. */
int store_read_profile(struct store *store, const char *launch_id, const struct case_id *id,
                       struct profile *profile, bool *found);

/* run->profiles of a run that was read, which has them as its own, whatever happens. */
int store_read_profiles(struct store *store, struct stored_run *run);

int store_read_run(struct store *store, const char *run_id, bool with_samples,
                   struct stored_run *run);

/* A line for each run, newest first, through `each`; stops when it returns -1. The
 * launches of a gate or a calibration are runs of their own, of which `gates_as_one`
 * makes one line: id, label and start are those of the first. */
struct run_line {
    char id[STORE_ID], suite[ASSAY_MAX_NAME], label[RESULT_MAX_PROPERTY],
        device[RESULT_MAX_PROPERTY];
    char started_at[32], status[24];
    char gate[9];       /* whose launch it is, as labels have it; "" nobody's */
    char gate_mode[16]; /* "paired", "stored", "calibrate"; "" the gate did not come to an end */
    int gate_exit;      /* what it came to; -1: to nothing */
    int launches;
    int cases, ok, wrong; /* as rows of `show` */
};
int store_each_run(struct store *store, bool gates_as_one,
                   int (*each)(const struct run_line *line, void *context), void *context);

/* "operation/variant" of every result, sorted; stops when `each` returns -1. */
int store_each_case_name(struct store *store, int (*each)(const char *name, void *context),
                         void *context);

/* Whether a case matches the pattern (case_name.h). 1: yes, or there is no case at all; 0: none
 * does, and `hint` is case_hint's; -1: reported. A central store has nothing fetched for it. */
int store_hint_case(struct store *store, const char *pattern, char hint[TEXT_HINT]);

/* The version of SQLite that runs. */
const char *store_library(void);

/* Lossless exchange, one JSON object a line; import is idempotent. `name` is
 * what messages call the input. */
int store_export_ndjson(struct store *store, const char *run_id, FILE *out);
int store_import_ndjson(struct store *store, const char *name, FILE *in, int *rows_added);
/* A wide table, a row per case, for spreadsheets and scripts: figures and where they come from, but
 * no samples, suite, plan or states of the device. 1: the filter (case_name.h; NULL: all) matches
 * no case. */
int store_export_csv(struct store *store, const char *run_id, const char *filter, FILE *out);

/* All rows of another database, by their ids: idempotent, in any order, all of it or nothing. A row
 * whose id is here with another content is a conflict: counted, and what is here stays. */
struct merge_outcome {
    int64_t added, conflicts;
    char where[256]; /* the conflicts by table: "2 of result, 2 of sample" */
};
int store_merge(struct store *store, const char *path, struct merge_outcome *outcome);
/* One run of another database, and nothing else that it holds: no noise, no names, no verdicts. -1
 * with assay_error where any of its rows is there already. */
int store_take_run(struct store *store, const char *path, const char *run_id);
