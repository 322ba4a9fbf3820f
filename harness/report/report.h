/*
 * report.h - a run as one self-contained page: what was measured on which device, what
 * failed and why, tables, plots, claims. The HTML needs no network and no script; a small
 * script lets its tables be sorted and filtered.
 *
 * Names in a report may come from an untrusted file: all text goes through markup.h, plots
 * through svg.h.
 */
#pragma once

#include <stdio.h>

#include "claims/claim_ledger.h"
#include "judge/comparison.h"
#include "plot/plot_place.h"
#include "show/view.h"

/* A plot with more links than REPORT_LINKS says how many more cases it shows. */
enum { REPORT_PLOTS = 12, REPORT_LINKS = 2000, REPORT_SENTENCE = 640, REPORT_SENTENCES = 3 };

struct report_plot {
    char title[2 * ASSAY_MAX_NAME]; /* "sweep of int8_quantize" */
    char operation[ASSAY_MAX_NAME]; /* the one whose rows it shows; "" all */
    char text[ASSAY_MAX_REASON];    /* the text alternative */
    char *svg;                      /* owned */
    struct plot_places places;      /* positions of its cases, owned */
};

struct report {
    const struct view *view;
    const struct comparison *comparison; /* against another run; NULL: none */
    const struct stored_run *base;       /* that other run; NULL: none */
    const struct claim_ledger *ledger;   /* NULL: claims_lost says why */
    char claims_lost[ASSAY_MAX_REASON];
    struct report_plot plots[REPORT_PLOTS];
    int plot_count;
    char plots_lost[2 * ASSAY_MAX_REASON]; /* what could not be drawn and why; "" */
};

/* Draw the plots that suit the run (gnuplot). Never fails: the report says what could not
 * be drawn. */
void report_draw(struct report *report);
void report_release(struct report *report); /* the plots */

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

/* Sections of the page. */
void report_html_rows(FILE *out, const struct view *view);
void report_html_plots(FILE *out, const struct report *report);
