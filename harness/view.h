/*
 * view.h - a run as people see it: its stored cases with what is derived from
 * them (rates, share of a ceiling, ratio to the baseline), row by row. Derived
 * figures are made here and in the database's views, and stored nowhere.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "ceiling.h"
#include "stats.h"
#include "store.h"

struct view_row {
    const struct stored_case *stored;
    int group;                     /* rows with one number are one group */
    double rate;                   /* bytes or operations a second; NAN: neither */
    bool rate_is_ops;              /* FLOP/s rather than B/s: what binds */
    char ceiling[ASSAY_MAX_NAME];  /* which one binds; "" unknown */
    double ceiling_fraction;       /* NAN unknown */
    struct interval speedup;       /* against the group's baseline; NANs: none */
    char baseline[ASSAY_MAX_NAME]; /* whose; "" none */
};

struct view {
    const struct stored_run *run;
    struct ceilings ceilings;
    struct view_row *rows;
    int count;
};

/* Rows of every launch; with several, a case's samples stay with their launch. */
int view_make(struct view *view, const struct stored_run *run);
void view_release(struct view *view);

struct show_options {
    const char *format; /* table, md, csv, json */
    bool colour;
    bool ceilings; /* rows of the ceilings too */
    int width;     /* columns of the terminal; 100 when unknown */
};

/* Whether `format` is one of them; assay_error names them when not. */
bool show_knows_format(const char *format);

/* The exit code that a run's rows ask for: 5 when a case crashed, timed out or
 * is missing, 1 when one is wrong, 4 when nothing was measured, else 0. */
int view_exit_code(const struct stored_run *run);

/* -1 with assay_error for an unknown format. */
int show_run(FILE *out, const struct stored_run *run, const struct show_options *options);

#endif
