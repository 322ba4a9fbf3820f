/*
 * report.h - a run as one self-contained page: what was measured on which device, what failed and
 * why, charts, every case, profiles, claims. The HTML needs no network. Its scripts draw cases,
 * changes and kernels from the documents that `--format json` prints (show/page.h); the rest is
 * there without them.
 */
#pragma once

#include <stdio.h>

#include "claims/claim_ledger.h"
#include "judge/comparison.h"
#include "show/view.h"

enum { REPORT_SENTENCE = 640, REPORT_SENTENCES = 3 };

struct profile;

struct report {
    const struct view *view;
    struct profile *const *profiles;     /* of the run's cases (store_read_profiles) */
    const struct comparison *comparison; /* against another run; NULL: none */
    const struct claim_ledger *ledger;   /* NULL: claims_lost says why */
    char claims_lost[ASSAY_MAX_REASON];
    bool no_charts; /* they were not asked for */
};

int report_write(FILE *out, const struct report *report, const char *format);

/* ------------------------------------------------------- between its parts -- */

/* Three sentences: what was measured, how it compares with the baselines, and with another
 * run or the claims. */
void report_summary(const struct report *report, char out[REPORT_SENTENCES][REPORT_SENTENCE]);

/* Cases without a time that have the same operation, variant, status and reason. */
struct report_problem {
    int status; /* enum case_status */
    char operation[ASSAY_MAX_NAME], variant[ASSAY_MAX_NAME];
    char reason[ASSAY_MAX_REASON];
    int cases, first_row; /* how many, and the index of the first one in the view */
};
/* Worst first; the caller frees *list. Returns how many, or -1 with assay_error. */
int report_problems(const struct view *view, struct report_problem **list);

/* Call `each` for every fact of the provenance: "driver", "580.159". */
void report_provenance(const struct stored_run *run,
                       void (*each)(void *context, const char *name, const char *value),
                       void *context);

int report_html(FILE *out, const struct report *report);
int report_md(FILE *out, const struct report *report);
