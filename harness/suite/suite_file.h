/*
 * suite_file.h - one suite file as it stands: its sections and keys with their
 * lines, before anything is looked up. The only user of inih.
 */
#pragma once

#include "suite/suite.h"

struct suite_file {
    char path[256];
    char *text;              /* all of it */
    struct suite_group head; /* keys of [suite]; line 0: it has none */
    struct suite_group *groups;
    int group_count;
    struct suite_group *claims; /* keys of each [claim ID]; claim.h reads them */
    int claim_count;
    struct suite_group
        *benches; /* keys of each [bench NAME], a described kernel; bench/ reads them */
    int bench_count;
    struct suite_group
        *kernels; /* keys of each [kernel NAME], which belongs to the bench above it */
    int kernel_count;
};

/* -1 with assay_error("FILE:LINE: ..."); suite_file_release is for success only. */
int suite_file_read(struct suite_file *file, const char *path);
void suite_file_release(struct suite_file *file);

/* The key of this name, or NULL. */
const struct suite_key *suite_key_find(const struct suite_group *section, const char *name);

/* Append a key without a text. NULL with assay_error: there are as many as may be. */
struct suite_key *suite_key_add(struct suite_group *section, int line);

/* Append a copy of a section, with the keys that it has: there is space for many, which would take
 * a large suite tens of megabytes. Returns it; NULL with assay_error. */
struct suite_group *suite_group_add(struct suite_group **list, int *count,
                                    const struct suite_group *group);

/* assay_error with "FILE:LINE: " in front; _here puts it before the last error. */
int suite_error(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int suite_error_here(const char *file, int line);
