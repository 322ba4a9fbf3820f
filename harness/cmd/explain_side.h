/*
 * explain_side.h - a side of an explanation (show/explanation.h): a stored run with its profiles,
 * or a program that is measured with its counters first.
 */
#pragma once

#include "case/run_record.h"
#include "gate/program_launch.h"

struct profile;

struct explain_side {
    struct stored_run run;
    struct profile **profiles;
    bool is_read;
};

/* A run of the database `db`. 0, or -1 with assay_error. */
int explain_side_read(struct explain_side *side, const char *spec, const char *db);
/* One launch of the call's program, which says neither label nor counters, kept in `db`: times and
 * counters; where the device counts nothing, and `counted_only` is not set, times alone. EXIT_FINE,
 * or the exit code after assay_error. */
int explain_side_measure(struct explain_side *side, const struct program_call *program,
                         bool counted_only, const char *db);
void explain_side_release(struct explain_side *side);
