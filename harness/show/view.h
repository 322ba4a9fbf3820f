/*
 * view.h - the rows of a run: its stored cases, combined over launches, with derived figures
 * (rate, fraction of a ceiling, speed-up over the baseline). Derived figures are computed here
 * and never stored; those that SQL can compute are in the database's views too, where a test
 * compares them with these.
 */
#pragma once

#include <stdio.h>

#include "base/stats.h"
#include "case/ceiling.h"
#include "case/surroundings.h"
#include "store/store.h"

/*
 * One case of the run. If it was measured in one launch, its figures are those of the
 * launch. If in several, a figure is the median over the launches' medians; its interval is
 * the sign-test confidence interval over launches if there are six or more, else smallest to
 * largest. Samples are not pooled over launches, because those of one launch are correlated
 * and the interval would be too narrow. The status is the worst of any launch: a case that
 * was wrong once is wrong. Only a case that is ok has times.
 */
struct view_row {
    const struct stored_case *stored; /* the first launch with that status */
    struct case_result result;        /* the combined figures; its sample arrays are empty */
    int launches;                     /* number of launches that measured it */
    int samples;                      /* in all launches, marked ones included */
    int group;                        /* rows with the same number are one group; from 0 */
    bool is_ceiling;                  /* measured only for its ceiling */
    bool is_hidden;                   /* that, in a run with other rows: shown on request only */
    bool is_noisy;                    /* its time is not known to view.most_spread */
    double rate;                      /* bytes or operations per second; NAN: neither */
    bool rate_is_ops;                 /* operations rather than bytes, whichever limits it */
    int32_t arithmetic;               /* if rate_is_ops: enum assay_arithmetic, -1 several */
    char ceiling[ASSAY_MAX_NAME];     /* the one that binds; "" unknown */
    double ceiling_fraction;          /* NAN unknown, as that ceiling's rate may be */
    struct interval speedup;          /* over the group's baseline; NANs: none */
    double median_ratio;              /* the same of the two times alone; NAN none */
    char baseline[ASSAY_MAX_NAME];    /* its name; "" none */
    int32_t base_kind;                /* its enum assay_kind: a bound where there is no other */
};

struct view {
    const struct stored_run *run;
    struct ceilings ceilings;
    struct view_row *rows; /* group by group as measured; see view_row_order */
    int count;
    int group_count;
    double most_spread; /* rows of more are noisy */
};

/* Cases of a run, over all launches, with the same operation, shape, temperature and label. */
struct view_group {
    const struct stored_case **item; /* in the order of the run */
    int count;
};

struct view_groups {
    const struct stored_case **item; /* owned: where the groups' cases are */
    struct view_group *group;        /* ordered by their first case */
    int count;
};

/* Find them by sorting, as comparing all pairs takes seconds for a few thousand cases. The run must
 * outlive them. 0, or -1 with assay_error. */
int view_groups_make(struct view_groups *groups, const struct stored_run *run);
void view_groups_release(struct view_groups *groups);

/* Make one row per case. A speed-up is computed within each launch; the row has the median
 * over launches. The run must outlive the view, and needs its samples for speed-ups. Rows are noisy
 * above NOISY_SPREAD, or above the spread given. */
int view_make(struct view *view, const struct stored_run *run);
int view_make_noisy_above(struct view *view, const struct stored_run *run, double most_spread);
void view_release(struct view *view);

/* By group; within a group ok rows by time, then the others, worst first. For qsort. */
int view_row_order(const void *a, const void *b);

/* The row of this case; NULL: none. */
const struct view_row *view_row_of(const struct view *view, const struct case_id *id);

/* Bytes read and written, and operations of every arithmetic. */
double view_bytes(const struct case_work *work);
double view_ops(const struct case_work *work);

/* The work as it was stored, and whether it crosses the link, which only the operation knows. */
struct case_work view_work(const struct case_result *result);

/* The enum assay_arithmetic that a ceiling of this name limits; -1: it limits bytes. */
int view_arithmetic(const char *ceiling);

/* A metric of a case by its name; NAN if it has none. */
double view_metric(const struct case_result *result, const char *name);

/* The device times of a case by round; empty if it has not all of them. */
struct paired view_paired(const struct samples *samples);

/* Add the ceilings that the run itself measured to view->ceilings. */
void view_collect_ceilings(struct view *view);

/* For a row whose time and work are set: call first for its ceiling ("" if none binds), then
 * for its rate, in the unit of that ceiling. */
void view_row_ceiling(struct view_row *row, const struct view *view);
void view_row_rate(struct view_row *row);

/* Which rows are shown, and in which order; all 0: every row, in the order of view_row_order. */
struct view_selection {
    const char *filter; /* a pattern of cases (case/case_name.h); NULL: all */
    const char *sort;   /* time, name, rate, speedup or ceiling, the best first, within a group */
    bool best;          /* of each group the fastest kernel only; `sort` then orders the groups */
};

/* Hide the rows that are not selected, and sort. How many are shown, or -1 with assay_error. */
int view_select(struct view *view, const struct view_selection *selection);

struct profile;
struct view_noise {
    int rows, noisy; /* of the rows shown, those with a time, and those of them that are noisy */
    struct causes causes; /* seen in the run, whether rows are noisy or not */
};

void view_noise(const struct view *view, struct view_noise *noise);

/* "load 9.1 on 2 processors: 28 of 34 rows unreliable (± above 5 %)", and a second line if more
 * was seen. False: none is noisy, and there is nothing to say. */
enum { NOISE_TEXT = 512 };
bool view_noise_text(const struct view *view, char text[NOISE_TEXT]);

struct show_options {
    const char *format; /* table, md, csv, json */
    bool colour;
    bool ceilings; /* show rows that were measured only for their ceiling */
    int width;     /* columns of a table; 0: as many as it needs */
    bool wide;     /* intervals and notes, though they do not fit */
    struct view_selection selection;
    struct profile *const *profiles; /* for what is said with `best`; NULL: none were read */
};

/* The exit code for a run: 5 when a case crashed, timed out or is missing, 1 when one is
 * wrong, or right although the suite expects it to be wrong (expect_wrong), 4 when nothing
 * was measured, else 0. */
int view_exit_code(const struct stored_run *run);

/* The selected rows; options->ceilings hides none of them. 0; 1: the filter matches no row, and
 * nothing is written; -1 with assay_error, as for an unknown format. */
int show_view(FILE *out, struct view *view, const struct show_options *options);

/* The same of a run whose rows are made as view_make has them. */
int show_run(FILE *out, const struct stored_run *run, const struct show_options *options);
