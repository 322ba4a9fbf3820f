/*
 * view.h - a run as people see it: its stored cases with what is derived from
 * them (rates, share of a ceiling, ratio to the baseline), row by row. Derived
 * figures are made here, stored nowhere, and those that SQL can make are in the
 * database's views too, where a test holds them to these.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "base/stats.h"
#include "case/ceiling.h"
#include "store/store.h"

/*
 * One case of the run. Measured in one launch, its figures are that launch's
 * own. Measured in several, a figure is the median over the launches' medians,
 * its interval the sign interval over launches where there are six or more and
 * smallest to largest where there are fewer: samples of one launch share that
 * launch's luck, so pooling them would claim a certainty that is not there.
 * The status is the worst of any launch: a case that was wrong once is wrong.
 */
struct view_row {
    const struct stored_case *stored; /* the launch with that status, the first such */
    struct case_result result;        /* the combined figures; its sample arrays are empty */
    int launches;                     /* that measured it */
    int samples;                      /* of all launches, marked ones too */
    int group;                        /* rows with one number are one group; from 0 */
    bool is_ceiling;                  /* measured for its ceiling only */
    double rate;                      /* bytes or operations a second; NAN: neither */
    bool rate_is_ops;                 /* FLOP/s rather than B/s: what binds */
    int32_t arithmetic;               /* of rate_is_ops; enum assay_arithmetic, -1 several */
    char ceiling[ASSAY_MAX_NAME];     /* which one binds; "" unknown */
    double ceiling_fraction;          /* NAN unknown */
    struct interval speedup;          /* against the group's baseline; NANs: none */
    char baseline[ASSAY_MAX_NAME];    /* whose; "" none */
};

struct view {
    const struct stored_run *run;
    struct ceilings ceilings;
    struct view_row *rows; /* group by group as measured; see view_row_order */
    int count;
    int group_count;
};

/* A row for each case. Ratios are taken within a launch, then their median. The
 * run must outlive the view, and needs its samples for ratios. */
int view_make(struct view *view, const struct stored_run *run);
void view_release(struct view *view);

/* Order within a group: ok rows by time, then the others, the worst first. For qsort. */
int view_row_order(const void *a, const void *b);

/* Bytes read and written, and operations of every arithmetic. */
double view_bytes(const struct assay_work *work);
double view_ops(const struct assay_work *work);

struct show_options {
    const char *format; /* table, md, csv, json */
    bool colour;
    bool ceilings; /* rows of the ceilings too */
    int width;     /* columns of the terminal; 100 when unknown */
};

/* The exit code that a run's rows ask for: 5 when a case crashed, timed out or
 * is missing, 1 when one is wrong, or right where the suite expects it wrong
 * (expect_wrong), 4 when nothing was measured, else 0. */
int view_exit_code(const struct stored_run *run);

/* -1 with assay_error for an unknown format. */
int show_run(FILE *out, const struct stored_run *run, const struct show_options *options);

#endif
