/*
 * compare_parts.h - what the parts of comparing share: compare.c (two runs),
 * compare_case.c (the rows of one case to its verdict), compare_tags.c (causes).
 */
#ifndef COMPARE_PARTS_H
#define COMPARE_PARTS_H

#include "judge/compare.h"

/* What the rows of one case say on one side. */
struct side_figures {
    const struct timing *rows; /* one a launch */
    int count;
    double *logs; /* of the metric, where there is one; `valid` of them */
    int valid;
    double time_ns, sm_mhz; /* medians; NAN none */
};

struct comparing {
    struct comparison *comparison;
    const struct timings *base, *candidate;
    const struct compare_options *options;
    double *logs[2]; /* room for the logarithms of one case, a side each */
    double *scratch;
    char difference[ASSAY_MAX_REASON]; /* of the comparability keys */
    unsigned key_tags;
};

/* Judge one case; a row is added unless both sides skipped it. -1 with assay_error. */
int compare_case(struct comparing *comparing, struct side_figures *base,
                 struct side_figures *candidate);

/* Take the rows' tests together, at options.fdr. -1 with assay_error. */
int compare_fdr(struct comparison *comparison, double rate);

/* The tags of a row that has its ratio, floor and verdict. */
void compare_tags(struct comparison_row *row, const struct comparing *comparing,
                  const struct side_figures *base, const struct side_figures *candidate);

#endif
