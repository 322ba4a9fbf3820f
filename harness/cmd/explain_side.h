/*
 * explain_side.h - a side of an explanation (show/explanation.h) that is measured first: a stored
 * run with its profiles.
 */
#pragma once

#include "case/run_record.h"
#include "gate/program_launch.h"

/* One launch of the call's program, which says neither label nor counters, kept in `db`: times and
 * counters; where the device counts nothing, and `counted_only` is not set, times alone. EXIT_FINE,
 * or the exit code after assay_error. */
int explain_side_measure(struct stored_run *side, const struct program_call *program,
                         bool counted_only, const char *db);
