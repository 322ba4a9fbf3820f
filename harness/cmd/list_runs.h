/* list_runs.h - the runs in a database, for `assay list runs`. */
#ifndef LIST_RUNS_H
#define LIST_RUNS_H

#include "base/json.h"

struct list_options {
    const char *database;
    bool all; /* runs: each launch of a gate as well */
};

/* A table on standard output, or where there is a json, the members of its array. -1 with
 * assay_error. */
int list_runs(struct json *json, const struct list_options *options);

#endif
