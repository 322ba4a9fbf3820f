/*
 * program.h - one run of somebody's program: started with the library's environment, watched, and
 * waited for. Its streams, its terminal and its process group are those of this process.
 */
#pragma once

#include <time.h>

#include "case/run_record.h"

struct program_run {
    /* in */
    const char *const *argv; /* ended by NULL; a name without a slash is looked for in PATH */
    const char *folder;      /* where its processes record */
    /* out */
    struct timespec started;
    int status;    /* as waitpid(2) has it */
    char uuid[48]; /* of the device that the states are of; "" none was seen */
    struct device_state start, end;
    uint64_t clock_reasons; /* all that were seen, about once a second */
    struct surroundings around;
};

/* The library that is loaded into programs, held within this one: a copy of that is enough. */

/* Whether there is one. -1 with assay_error: built without CUDA or without CUPTI. */
int injected_check(void);

/* Have the programs that follow load it and record in `folder`, into which it is written unless
 * ASSAY_TIME_LIBRARY names a file to take in its place. 0, or -1 with assay_error. */
int program_inject(const char *folder);

/* Run it to its end. A signal that asks this process to end is handed on to it, and after a while
 * it is killed. 0, or -1 with assay_error where it did not start. Signals are those of
 * interrupt.h. */
int program_run(struct program_run *run);
