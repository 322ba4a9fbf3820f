/*
 * comparison_formats.h - writes a comparison in each format. All formats escape their input.
 * Functions return 0, or -1 with assay_error.
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

int comparison_table(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options);
int comparison_md(FILE *out, const struct comparison *comparison,
                  const struct comparison_options *options);
int comparison_json(FILE *out, const struct comparison *comparison,
                    const struct comparison_options *options);
int comparison_html(FILE *out, const struct comparison *comparison,
                    const struct comparison_options *options);
/* JUnit XML: one testcase per case. REGRESSED is a failure, ERROR and MISSING are errors, an
 * undecided case is skipped with its message. If nothing could be compared, there is one more
 * error. */
int comparison_junit(FILE *out, const struct comparison *comparison);
/* GitHub workflow commands, worst first, at most ten of each kind, as the runner shows no more. */
int comparison_annotations(FILE *out, const struct comparison *comparison);

#endif
