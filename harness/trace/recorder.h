/*
 * recorder.h - runs a program one or more times, each a launch of one run, and stores what its
 * kernels took.
 */
#pragma once

#include "store/store.h"

struct recorder_options {
    const char *const *argv; /* the program and its arguments, ended by NULL */
    const char *name;        /* the operation of its cases; NULL: the program's file name */
    const char *label;       /* of the run; NULL none */
    const char *database;
    int launches;
    bool keep_command; /* store the arguments; else a hash of them, for they may hold a secret */
};

enum recorder_end {
    RECORDER_COMPLETE,
    RECORDER_INTERRUPTED, /* by a signal; what was recorded is stored */
    RECORDER_LOST,        /* a launch failed: assay_error says how; what it recorded is stored */
    RECORDER_NOTHING,     /* no kernel in any launch: assay_error says why; nothing is stored */
    RECORDER_UNSTARTED,   /* assay_error: there is no such program, or it is none */
    RECORDER_FAILED,      /* assay_error */
};

/* run_id: "" when no run was stored. */
enum recorder_end recorder_run(const struct recorder_options *options, char run_id[STORE_ID]);
