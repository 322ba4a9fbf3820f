/*
 * comparison_formats.h - a comparison as people, programs and CI read it. All formats escape
 * what they are given. 0, or -1 with assay_error.
 */
#ifndef COMPARISON_FORMATS_H
#define COMPARISON_FORMATS_H

#include <stdio.h>

#include "judge/comparison.h"

struct comparison_options {
    const char *format; /* table, md, json, html */
    bool colour;
    int width; /* columns of the terminal; 100 when unknown */
};

int comparison_write(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options);

/* Each format; all escape what they are given. */
int comparison_table(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options);
int comparison_md(FILE *out, const struct comparison *comparison,
                  const struct comparison_options *options);
int comparison_json(FILE *out, const struct comparison *comparison,
                    const struct comparison_options *options);
int comparison_html(FILE *out, const struct comparison *comparison,
                    const struct comparison_options *options);
/* JUnit XML: one testcase a case; REGRESSED is a failure, ERROR and MISSING are
 * errors, what is undecided is skipped with its message. One error more where nothing could be
 * compared. */
int comparison_junit(FILE *out, const struct comparison *comparison);
/* GitHub workflow commands, worst first, at most ten of a kind as its runner shows. */
int comparison_annotations(FILE *out, const struct comparison *comparison);

#endif
