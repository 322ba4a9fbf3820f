/*
 * store_foreign.h - results of other tools on their way into the store. A file is
 * read whole, its runs are made in memory, and then stored in one transaction or
 * not at all.
 *
 * What another tool does not say stays unknown. The id of a run is a hash of what
 * the file (and its files of samples) said, so importing twice changes nothing.
 */
#pragma once

#include "store/store_internal.h"

struct foreign_run {
    struct run_info run;
    struct program_info program;
    struct host_info host;
    struct launch_info launch; /* number 1 */
    struct case_result *cases; /* by foreign_case_add */
    int case_count;
};

/* A file under import. */
struct foreign {
    struct store *store;
    const char *name;    /* of the input, for messages */
    char *text;          /* its JSON, checked to be that */
    char started_at[32]; /* what the file says, else when it was written, else now */
    struct foreign_run *runs;
    int run_count;
};

/* Read the input, hold it against what `check` says of such files, let `read` make its runs, and
 * store them all: a case that is there twice fails. Both return 0, or -1 with assay_error. */
int foreign_import(struct store *store, const char *name, FILE *in, int *rows_added,
                   int (*check)(struct foreign *foreign), int (*read)(struct foreign *foreign));

/* Empty ones; NULL with assay_error. Adding moves the others. */
struct foreign_run *foreign_run_add(struct foreign *foreign);
struct case_result *foreign_case_add(struct foreign_run *run);

/* Room for the times of `count` samples, in rounds to come; marks are 0. -1 with assay_error. */
int foreign_samples_alloc(struct samples *samples, int count);
/* Bytes of the case, of which the file does not say how many are written; NAN: not known. */
void foreign_set_bytes(struct case_result *result, double bytes);
/* STATUS_OK: the case is ok if it has a time, else skipped. Any other status has its reason; a
 * case that is not ok keeps no time. */
void foreign_set_status(struct case_result *result, enum case_status status, const char *reason);

/* Copy a name; one that is too long ends in ~ and a hash of all of it. */
void foreign_name(char *out, size_t size, const char *name);
/* Copy the beginning of a name that stands for others too, then ~ and a hash of `whole`. */
void foreign_name_hashed(char *out, size_t size, const char *name, const char *whole);
/* Add the word "name=value" to a shape; blanks and = within become _. */
void foreign_shape_add(char shape[RESULT_MAX_SHAPE], const char *name, const char *value);
/* The last part of a path. */
const char *foreign_basename(const char *path);

/* NVBench's JSON, of files of version 1, with the files of samples that it names
 * where they can be found; and Google Benchmark's. As store_import_ndjson. */
int store_import_nvbench(struct store *store, const char *name, FILE *in, int *rows_added);
int store_import_gbench(struct store *store, const char *name, FILE *in, int *rows_added);

/* The `count` samples of `file`, as NVBench's JSON at `json_path` names it: from where NVBench ran.
 * It is looked for beside the JSON and below, as a regular file and not through links, and nowhere
 * else. 1: read, 0: there is no such file, -1: assay_error (a file of another length, no times). */
int nvbench_samples_read(const char *json_path, const char *file, double count,
                         struct samples *samples);
