/*
 * compare.h - compares two stored runs case by case. Pure.
 *
 * The launch is the unit of replication: with two or more launches on a side the ratio is
 * the Hodges-Lehmann estimate over launches, and its 95 % confidence interval inverts the
 * rank-sum test, which takes at least four launches on each side. With one launch on each
 * side, the interval is derived from the confidence intervals of the two medians, at their
 * far ends.
 */
#pragma once

#include "judge/comparison.h"
#include "judge/history.h"
#include "judge/noise.h"
#include "judge/timings.h"

/* In which launches the candidate must have a case, if it has it in any. */
enum compare_presence {
    PRESENT_SOMEWHERE, /* a run may have been interrupted */
    PRESENT_IN_ALL,
    PRESENT_IN_PAIRS, /* launches with the same number are a pair: both sides or neither */
};

/* The reason of a row that could be compared, had its sides been timed. */
#define COMPARE_NO_TIME "no time"

/* All zero: what `assay compare` does without options. NAN means the same as 0. */
struct compare_options {
    const char *filter;        /* these cases only (case/case_name.h); NULL: all */
    bool speedup;              /* compare ratios to the baseline of the same launch */
    bool across;               /* compare even if the comparability differs; of two models by what
                                  both have a measure for (compare.c) */
    double threshold;          /* smallest change that counts, a fraction; 0: the suite's */
    int clock_launches;        /* launches that decide whether a case's clock is steady; 0: all */
    double fdr;                /* Benjamini-Hochberg at this rate; 0: test each case by itself */
    const struct noise *noise; /* NULL: unknown */
    unsigned fail_on;          /* bits 1 << verdict */
    int least_launches;        /* required on each side; 0: any number */
    bool at_most_suspect;      /* the launches are from different sessions, which proves nothing */
    const struct history *history; /* sessions of before, whose fences hold; NULL: none is asked */
    int setting;                   /* of the history: that of the base */
    enum compare_presence presence;
    /* The sides are of one launch, whose turns are judged later (twin.h): the smallest change that
     * counts is TWIN_THRESHOLD where nobody says. */
    bool twins;
};

/* Default for the smallest change that counts: if the SM clock was the same in all launches
 * of the case (or the device is simulated), and otherwise. */
#define COMPARE_STEADY_THRESHOLD 0.02
#define COMPARE_LOOSE_THRESHOLD  0.05

/* Level of a case that is tested by itself, one-sided: one end of a 95 % interval. */
#define COMPARE_ALPHA 0.025

/* Upper limit of a false discovery rate: from one half on, being called changed would mean
 * nothing. */
#define COMPARE_MOST_FDR 0.5

/* With enough launches, a case is judged by the exact one-sided rank-sum test against
 * base x (1 + floor), at the 2.5 % that each end of a 95 % interval has. With a rate in
 * options.fdr the tests of all cases are corrected together (Benjamini and Hochberg,
 * J. R. Stat. Soc. B 57, 1995), separately for slower and faster: the expected share of
 * wrong ones among the cases called changed is then that rate. A rate at which so few launches
 * could not find one changed case among all is refused, with how many launches it takes.
 *
 * -1 with assay_error, also when out of memory. comparison_release frees. */
int compare_runs(struct comparison *comparison, const struct timings *base,
                 const struct timings *candidate, const struct compare_options *options);

/* Describe where the comparability of two launches differs: "driver 580.1 and 590.2"; "" if
 * nowhere. The parts are those of comparability.h. */
void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size);

/* Whether launch medians (as logarithms; sorted in place) fall into two groups. */
bool is_bimodal(double *logs, int count);
