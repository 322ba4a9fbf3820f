/*
 * suite.h - a suite file, read but not yet multiplied out.
 *
 * An INI file (docs/suites.md has the manual):
 *
 *   [suite]
 *   title = what it is for
 *   budget = 0.5            ; seconds of sampling a case
 *   include = smoke, int8   ; groups of other suites come first
 *
 *   [group seed sizes]
 *   operation = int8_quantize
 *   n = 500k, 1M..8M*2, l2, vram, 2*l2
 *   input = fp32, bf16
 *   variants = *, !unfused5
 *   temperature = cold, hot
 *
 * Every error is one line, "FILE:LINE: what is wrong (what would be right)".
 */
#pragma once

#include "assay.h"

enum { SUITE_MAX_KEYS = 48, SUITE_MAX_VALUE = 1000, SUITE_MOST_THRESHOLD_PCT = 1000 };

struct suite_key {
    char name[ASSAY_MAX_NAME];
    char value[SUITE_MAX_VALUE];
    int line;
};

struct suite_group {
    char label[ASSAY_MAX_NAME];
    char file[256]; /* where it stands (an included suite has its own) */
    int line;
    int key_count;
    struct suite_key keys[SUITE_MAX_KEYS];
};

struct suite {
    char name[ASSAY_MAX_NAME];
    char file[256];
    char title[128];
    char *text; /* the file as read; stored with the run */
    double budget_s, precision_pct, energy_s, timeout_s;
    double threshold_pct; /* smallest change that counts; 0: not said */
    struct suite_group *groups;
    int group_count;
};

/* Read a suite by name (suites/NAME.ini, looked for beside the program and in
 * the installed data folder) or by path (has a slash or ends in .ini).
 * -1 with assay_error; an unknown name gets a suggestion. */
int suite_read(struct suite *suite, const char *name_or_path);
void suite_release(struct suite *suite);

/* Names of the suites found, sorted; *names is one block, free() it. */
int suite_names(char (**names)[ASSAY_MAX_NAME], int *count);
