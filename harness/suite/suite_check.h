/*
 * suite_check.h - whether what a suite's sections say is possible: keys,
 * operations, dims and values that exist. Errors are "FILE:LINE: ...".
 */
#pragma once

#include <stddef.h>

#include "suite/suite.h"

int suite_check_head(const struct suite_group *head);
int suite_check_group(const struct suite_group *group);

/* A number that a group may give, and [suite] for all groups that do not. */
struct suite_setting {
    const char *name;
    double max;
    bool may_be_zero;
    const char *unit;
    double fallback;
    size_t in_suite, in_group; /* offsets in struct suite and struct group */
};
enum { SUITE_SETTINGS = 5 };
extern const struct suite_setting suite_settings[SUITE_SETTINGS];

/* The number of its key, in range. -1 with assay_error (without file and line). */
int suite_setting_read(const struct suite_setting *setting, const char *text, double *value);

/* Whether `patterns`, the value of a variants key, choose this name: each glob
 * in turn puts in, "!glob" takes out; a list that begins with "!" begins with all. */
bool suite_chooses(const char *patterns, const char *name);
