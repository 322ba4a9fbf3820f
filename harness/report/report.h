/*
 * report.h - a run as one page that a person can read and keep: what was measured
 * on what, what failed and why, tables, plots, claims. The HTML needs no network
 * and no script; a small script makes its tables sort and filter.
 *
 * Names in a report may come from a file that somebody sent. All text goes through
 * markup.h, plots through svg.h, and the page's own policy forbids every script but
 * the one that is in it.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "claims/claim_ledger.h"
#include "judge/comparison.h"
#include "plot/plot_place.h"
#include "show/view.h"

/* A plot with more links than REPORT_LINKS says how many more cases it shows. */
enum { REPORT_PLOTS = 12, REPORT_LINKS = 2000, REPORT_SENTENCE = 640, REPORT_SENTENCES = 3 };

struct report_plot {
    char title[2 * ASSAY_MAX_NAME]; /* "sweep of int8_quantize" */
    char operation[ASSAY_MAX_NAME]; /* whose rows it shows; "" all */
    char text[ASSAY_MAX_REASON];    /* the text alternative */
    char *svg;                      /* owned */
    struct plot_places places;      /* of the cases in it, owned */
};

struct report {
    const struct view *view;
    const struct comparison *comparison; /* against another run; NULL: none */
    const struct stored_run *base;       /* that other run; NULL: none */
    const struct claim_ledger *ledger;   /* NULL: claims_lost says why */
    char claims_lost[ASSAY_MAX_REASON];
    struct report_plot plots[REPORT_PLOTS];
    int plot_count;
    char plots_lost[2 * ASSAY_MAX_REASON]; /* "" or what could not be drawn and why */
};

/* Draw the plots that fit the run (gnuplot). Never fails: what cannot be drawn is
 * said in the report. */
void report_draw(struct report *report);
void report_release(struct report *report); /* the plots */

int report_write(FILE *out, const struct report *report, const char *format);

/* ------------------------------------------------------- between its parts -- */

/* Three sentences: what was measured, how it stands against the baselines, and
 * what that means beside another run or the claims. */
void report_summary(const struct report *report, char out[REPORT_SENTENCES][REPORT_SENTENCE]);

/* Cases that have no time, by what they have in common. */
struct report_problem {
    int status; /* enum case_status */
    char operation[ASSAY_MAX_NAME], variant[ASSAY_MAX_NAME];
    char reason[ASSAY_MAX_REASON];
    int cases, first_row; /* how many, and the first one's index in the view */
};
/* Worst first; *list is the caller's to free. Returns how many, or -1. */
int report_problems(const struct view *view, struct report_problem **list);

/* Each fact of the provenance in turn: "driver", "580.159". */
void report_provenance(const struct stored_run *run,
                       void (*each)(void *context, const char *name, const char *value),
                       void *context);

int report_html(FILE *out, const struct report *report);
int report_md(FILE *out, const struct report *report);

/* Sections of the page. */
void report_html_head(FILE *out, const struct report *report);
void report_html_foot(FILE *out);
void report_html_rows(FILE *out, const struct view *view);
void report_html_comparison(FILE *out, const struct comparison *comparison);
void report_html_claims(FILE *out, const struct report *report);
void report_html_plots(FILE *out, const struct report *report);

#endif
