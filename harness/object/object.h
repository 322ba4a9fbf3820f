/*
 * object.h - the shared objects that are loaded into this process.
 */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "case/run_record.h"
#include "case/twins.h"

/* As many as the command of a worker has room for. */
enum { OBJECTS_MOST = 32 };

struct object {
    struct object_info info;
    char path[PATH_MAX]; /* absolute */
    struct stat about;   /* when it was loaded */
    int twin;            /* enum twin (case/twins.h): its variants are twins; -1: they are not */
};

/* Load files and register what they bring, in an order in which each finds the operations of its
 * variants. Each is rehearsed first, and what it prints is on standard error. A file that is loaded
 * is not loaded again. -1 with assay_error, which names the file. */
int objects_load(const char *const *paths, int count);

/* Load the objects of $XDG_DATA_HOME/assay/variants (~/.local/share/assay/variants), by name. None
 * where there is no such folder. -1 with assay_error: others can write to it, or one of them
 * cannot be loaded. */
int objects_load_folder(void);

/* Load files that a suite names, if suites may load; -1 with assay_error where they may not, which
 * says how they may. At first they may not. */
void objects_allow_suites(bool allowed);
int objects_load_for_suite(const char *const *paths, int count);

/* Files whose names end in `ending` are loaded by `load` instead of the dynamic linker: it
 * registers what they describe; `name` is what messages call the file. Once it is loaded, `digest`
 * is the SHA-256 of it and of the files that it names. Both -1 with assay_error. Said once, when
 * the program starts. */
void objects_describe(const char *ending, int (*load)(const char *path, const char *name),
                      int (*digest)(const char *path, char sha256[SHA256_TEXT]));

/* Load the object `name`, once all others are loaded, for its variants to be twins. Each twin is
 * loaded from a copy of the file of its own, as two loads of one file would be one. Rehearsed too.
 * -1 with assay_error. */
int objects_load_twins(const char *name, const char *const copy[TWINS]);

/* Another process of this program loads what is loaded here, without the rehearsal, by these
 * arguments of its command line: OBJECTS_MOST at most, valid until something else is loaded.
 * Returns how many. */
int objects_arguments(const char **arguments);
int objects_load_again(const char *const *arguments, int count);

/* Those loaded so far, in order; returns how many. */
int objects_loaded(const struct object **list);

/* Whether files and what they describe are as loaded: a worker loads anew. -1 with assay_error. */
int objects_unchanged(void);

/* rehearse.h for what this process does with functions of all loaded objects ("when the plan was
 * made"); then does it. Without an object it is done at once. -1 with assay_error. */
int objects_try(const char *when, int (*act)(void *), void *argument);
