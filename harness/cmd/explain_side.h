/*
 * explain_side.h - a side of an explanation (show/explanation.h): a stored run with its profiles,
 * or a program that is measured with its counters first.
 */
#pragma once

#include "case/run_record.h"

struct profile;

struct explain_side {
    struct stored_run run;
    struct profile **profiles;
    bool is_read;
};

/* What a program is asked for. */
struct explain_request {
    const char *suite, *device, *cases; /* names; a pattern of cases, NULL: all */
    const char *const *objects;         /* to load, ended by NULL; NULL: none */
    bool allow_load;
    uint64_t seed;
    int timeout_s;
    bool counted_only; /* a device that counts nothing is not measured */
};

/* A run of the database `db`. 0, or -1 with assay_error. */
int explain_side_read(struct explain_side *side, const char *spec, const char *db);
/* One launch of a program, kept in `db`: times and counters, or times alone where the device counts
 * nothing. EXIT_FINE, or the exit code after assay_error. */
int explain_side_measure(struct explain_side *side, const char *program,
                         const struct explain_request *request, const char *db);
void explain_side_release(struct explain_side *side);
