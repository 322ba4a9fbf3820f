/*
 * program_launch.h - one launch of a suite by a program: a build of assay that
 * may be another than this one. It writes a database of its own, which is merged
 * into ours when it has ended.
 */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "case/fingerprint.h"
#include "judge/timings.h"

struct store;

/* Looks at what a launch has stored of its run so far: whether it is to go on. */
typedef bool launch_watch(void *about, struct store *so_far, const char *run_id);

struct program_call {
    const char *program;
    const char *suite;
    const char *device;
    const char *filter;             /* as of assay run; NULL: everything */
    const char *budget, *precision; /* as typed; NULL: the suite's */
    const char *label;
    const char *const *objects; /* to load, ended by NULL; NULL: none */
    const char *twin;           /* the object to measure beside them, in turns; NULL: none */
    const char *twin_floor;     /* as typed */
    bool allow_load;            /* a suite may name some too */
    uint64_t seed;
    int timeout_s;
    const char *counters; /* these are read, and nothing is timed; NULL: times */
    bool times_too;       /* beside counters */
    /* Asked twice a second, once there is a run; where it says no the program is ended, and what it
     * stored counts as the launch. NULL: to its end. */
    launch_watch *watch;
    void *about;
};

enum launch_end {
    LAUNCH_DONE,
    LAUNCH_REFUSED, /* it is no assay, or does not know what it was asked for */
    LAUNCH_DIED,    /* by a signal, or it was still running after its time */
    LAUNCH_EMPTY,   /* it measured nothing */
    LAUNCH_STOPPED, /* a signal asks this process to end */
    LAUNCH_FAILED,  /* on our side */
};

/* The file that a program is, as far as a rebuild changes it. */
struct program_file {
    char path[PATH_MAX];
    struct stat about;
};

/* 0, or -1 with assay_error where it cannot be started: before minutes of launches of another. */
int program_find(const char *program, struct program_file *file);
/* -1 with assay_error where it is another file by now. */
int program_unchanged(const struct program_file *file);

/* Whether the program would launch this: its --dry-run ends with 0. Nothing is measured. *plan is
 * what it printed, for free(3), or NULL; `plan` may be NULL. false has its reason in assay_error.
 */
bool program_plans(const struct program_call *call, char **plan);

/* The fingerprints of the cases that each of the programs would launch, side by side, and the runs
 * that made them, which have no times. Whatever is not DONE has its reason in assay_error; else
 * fingerprints_release and timings_release free all. */
enum { PASSES_MOST = 2 };
enum launch_end program_fingerprints(const struct program_call *calls, int count,
                                     struct fingerprints *prints, struct timings *about);

/* Whatever is not DONE has its reason in assay_error. timings_release frees. */
enum launch_end program_launch(const struct program_call *call, struct store *store,
                               struct timings *timings);
