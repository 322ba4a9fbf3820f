/*
 * claim_ledger.h - claims held against runs: what was measured, the verdict, and
 * one line why. One struct is the source of every format.
 */
#pragma once

#include <stdio.h>

#include "show/view.h"
#include "suite/claim.h"

enum claim_verdict {
    CLAIM_HOLDS,
    CLAIM_NEAR,         /* the claimed side of 1, at most CLAIM_NEAR_FACTOR from the size */
    CLAIM_IN_DIRECTION, /* the claimed side of 1, another size */
    CLAIM_FAILS,
    CLAIM_INCOMPARABLE, /* measured or not, a verdict would say nothing */
    CLAIM_UNMEASURED,
    CLAIM_VERDICTS,
};

enum { CLAIM_WHY = 640, CLAIM_NEAR_FACTOR = 2 };

struct claim_finding {
    const struct claim *claim;
    enum claim_verdict verdict;
    struct interval measured; /* the ratio or the value; NANs: none. Without lo and hi: too few */
    bool by_wall;             /* a time, taken by the host's clock for both */
    bool apart;               /* the two cases were not measured in turns */
    const struct view *view;  /* the run it is taken from; NULL: none */
    const struct view_row *row[CLAIM_SIDES]; /* in that view; NULL: none */
    char why[CLAIM_WHY];
};

struct claim_ledger {
    struct claim_finding *item; /* one a claim, in their order */
    int count;
    int verdicts[CLAIM_VERDICTS];
    const struct view *views; /* those it was held against, borrowed */
    int view_count;
};

/* Hold every claim against the views of runs, of which the first that has its
 * cases counts. The cases of one claim always come from one run. Claims and views
 * must outlive the ledger. -1 with assay_error when out of memory. */
int claim_ledger_make(struct claim_ledger *ledger, const struct claims *claims,
                      const struct view *views, int count);
void claim_ledger_release(struct claim_ledger *ledger);

const char *claim_verdict_name(enum claim_verdict verdict);

/* The verdict on a measured figure. A range is widened by a tenth of its
 * distance from 1 at either end, since documents round (and by half a hundredth at least). HOLDS:
 * the figure is inside, and where the range itself excludes 1 the interval does too. NEAR and IN
 * DIRECTION: outside, but all of the interval is on the claimed side of 1 ("1x" and "at most 2x"
 * claim none); NEAR where the factor from the range is at most CLAIM_NEAR_FACTOR.
 * A figure inside whose interval reaches 1 is INCOMPARABLE: too uncertain to say. A difference
 * likewise, about 0. */
enum claim_verdict claim_judge(const struct claim *claim, struct interval measured);

/* How many times as large as claimed the measured effect is, or the inverse, so that it is 1 or
 * more, for a figure outside of the range and on the claimed side. The effect is the distance from
 * no effect: 1.3x beside a claimed 1.1x is three times the effect. */
double claim_factor(const struct claim *claim, double measured);

/* "8.05x [8.02, 8.09]", "0.0712"; "-" for none. */
void claim_measured_text(const struct claim_finding *finding, char *out, size_t size);

/* "31 claims: 4 HOLDS, 2 NOT MEASURED". */
void claim_counts_text(const struct claim_ledger *ledger, char *out, size_t size);

/* As table (in `width` columns), md or json. */
int claim_ledger_write(FILE *out, const struct claim_ledger *ledger, const char *format, int width);

/* ------------------------------------------------------- between its parts -- */

/* The figure of one case that the claim is about. */
double claim_figure(const struct claim_finding *finding, const struct case_result *result);

/* Whether a time of it is of a noisy row. */
bool claim_is_noisy(const struct claim_finding *finding);

/* The ratio of a claim's two cases, or the value of its one, from one run. */
int claim_measure(struct claim_finding *finding);

/* Write why: what the verdict rests on, then the claim's note. */
void claim_explain(struct claim_finding *finding);
