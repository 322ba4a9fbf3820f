/*
 * object.h - the shared objects that are loaded into this process.
 */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "case/run_record.h"

/* As many as the command of a worker has room for. */
enum { OBJECTS_MOST = 32 };

struct object {
    struct object_info info;
    char path[PATH_MAX]; /* absolute */
    struct stat about;   /* when it was loaded */
};

/* Load a file and register what it brings: rehearsed first, and what it prints is on standard
 * error. A file that is loaded is not loaded again. -1 with assay_error, which names the file. */
int objects_load(const char *path);

/* Load the objects of $XDG_DATA_HOME/assay/variants (~/.local/share/assay/variants), by name. None
 * where there is no such folder. -1 with assay_error: others can write to it, or one of them
 * cannot be loaded. */
int objects_load_folder(void);

/* Load a file that a suite names, if suites may load; -1 with assay_error where they may not, which
 * says how they may. At first they may not. */
void objects_allow_suites(bool allowed);
int objects_load_for_suite(const char *path);

/* The same of files that another process of this program has loaded so, without the rehearsal. */
int objects_load_again(const char *const *paths, int count);

/* Those loaded so far, in order; returns how many. */
int objects_loaded(const struct object **list);

/* Whether their files are still what was loaded: a worker loads them anew. -1 with assay_error. */
int objects_unchanged(void);

/* rehearse.h for what this process does with functions of all loaded objects ("when the plan was
 * made"); then does it. Without an object it is done at once. -1 with assay_error. */
int objects_try(const char *when, int (*act)(void *), void *argument);
