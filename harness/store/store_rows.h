/*
 * store_rows.h - one function a table that writes one row; used where runs are
 * measured (store_write.c) and where files of other tools are imported (store_foreign.c). None
 * opens a transaction. Each returns 0, or -1 after assay_error.
 *
 * A row that is there already, by its id, is left as it is when `merge`, else
 * an error. Times are ISO 8601, UTC; NULL or "" where unknown.
 */
#pragma once

#include "store/store_internal.h"

struct run_row {
    const struct run_info *run; /* with its id */
    const struct program_info *program;
    const struct host_info *host;
    const char *status, *started_at, *ended_at;
    bool merge;
};
int run_write(struct store *store, const struct run_row *row);

struct launch_row {
    const struct launch_info *launch; /* with its id */
    const char *started_at;
    bool merge;
};
int launch_write(struct store *store, const struct launch_row *row);

struct result_row {
    const char *launch_id;
    int purpose; /* enum group_purpose */
    const char *group_label;
    double threshold;     /* NAN none */
    int32_t expect_wrong; /* 0, 1; -1 unknown */
    const char *begun_at, *measured_at;
    const struct case_result *result;
    bool merge;
};
/* With its metrics and samples; *added: whether the row is new. */
int result_write(struct store *store, const struct result_row *row, bool *added);

/* The comparability key of a launch: a hash of its parts (comparability.h). It always follows from
 * the facts that are stored, so that launches which an older version measured have the key that
 * they would have today. */
void store_key(const struct device_info *device, char key[ID_SIZE]);
/* Give every launch the key of its facts; for rows that came from outside. */
int store_rekey(struct store *store);
