/*
 * suite_check.h - whether what a suite's sections say is possible: keys,
 * operations, dims and values that exist. Errors are "FILE:LINE: ...".
 */
#pragma once

#include "suite/suite.h"

int suite_check_head(const struct suite_group *head);
int suite_check_group(const struct suite_group *group);

/* The number of budget, precision, energy or timeout, in range. -1 with
 * assay_error (without file and line). */
int suite_setting(const char *name, const char *text, double *value);

/* Whether `patterns`, the value of a variants key, choose this name: each glob
 * in turn puts in, "!glob" takes out; a list that begins with "!" begins with all. */
bool suite_chooses(const char *patterns, const char *name);
