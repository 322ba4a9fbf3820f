/* compare_parts.h - what compare.c (two runs), compare_case.c (one case of them) and
 * compare_change.c (its change) have for each other. */
#pragma once

#include "judge/compare.h"

/* The rows of one case on one side. */
struct side_figures {
    const struct timing *rows; /* one per launch */
    int count;
    double *logs; /* logarithms of the metric, `valid` of them */
    int valid;
    double time_ns, sm_mhz; /* medians; NAN none */
};

struct comparing {
    struct comparison *comparison;
    const struct timings *base, *candidate;
    const struct compare_options *options;
    double *logs[2]; /* space for the logarithms of one case, one array per side */
    double *scratch;
    char difference[ASSAY_MAX_REASON]; /* between the comparability of the sides; "" none */
    bool is_divided; /* each GPU's launch had a part of the cases: each case may differ or not */
    unsigned key_tags;
    bool by_limits; /* launches of two models, which `across` judges by ratios and ceilings */
    double
        laxest_refused;  /* threshold of the candidate's suite, above that of the base's; 0 none */
    double laxest_taken; /* threshold of suites, above the default; 0 none */
};

/* What keeps the times of this case from being compared, in its comparability; "" nothing does.
 * Kept in `out` where it is this case's own. */
const char *compare_difference(struct comparing *comparing, const struct side_figures *base,
                               const struct side_figures *candidate, char out[ASSAY_MAX_REASON]);

/* Add the row of a case that neither side has, although its suite names it. */
void compare_lost_case(struct comparing *comparing, const struct case_id *id);
/* Judge one case; a row is added unless both sides skipped it or the filter leaves it out. -1 with
 * assay_error. */
int compare_case(struct comparing *comparing, struct side_figures *base,
                 struct side_figures *candidate);

/* The log ratio with its interval; sets row->evidence. -1 with assay_error. */
int compare_find_change(struct comparison_row *row, const struct comparing *comparing,
                        const struct side_figures *base, const struct side_figures *candidate,
                        struct interval *change);
/* Symmetric: swapping the sides mirrors the verdict, except that PASS means "not slower". */
enum verdict compare_judge(struct comparison_row *row, const struct comparing *comparing,
                           const struct side_figures *base, const struct side_figures *candidate,
                           struct interval change);
/* The minimum detectable effect, from the spread of these launches; NAN unknown. */
double compare_detectable(const struct comparison_row *row, const struct comparing *comparing,
                          const struct side_figures *base, const struct side_figures *candidate);
