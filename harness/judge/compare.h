/*
 * compare.h - two stored runs, case by case. Pure.
 *
 * The launch is the unit: with two or more on a side the ratio is the
 * Hodges-Lehmann estimate over launches, and its 95 % interval inverts the
 * rank-sum test (four launches a side are the fewest that have one). With one a
 * side the interval comes from the medians' own, taken at their far ends.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "judge/comparison.h"
#include "judge/noise.h"
#include "judge/timings.h"

/* In which launches the candidate must have a case that it has at all. */
enum compare_presence {
    PRESENT_SOMEWHERE, /* a run may have been interrupted */
    PRESENT_IN_ALL,
    PRESENT_IN_PAIRS, /* launches of one number are a round: where the base has it, and the
                         base where the candidate has it */
};

/* All zero: what `assay compare` does without options. NAN is as good as 0. */
struct compare_options {
    bool speedup;              /* compare ratios to the baseline of the same launch */
    bool across;               /* also where the comparability differs */
    double threshold;          /* smallest change that counts, a fraction; 0: the suite's */
    int clock_launches;        /* the first so many decide how steady a case's clock is; 0: all */
    double fdr;                /* Benjamini-Hochberg at this rate; 0: each case by itself */
    const struct noise *noise; /* NULL: nothing known */
    unsigned fail_on;          /* bits 1 << verdict */
    int least_launches;        /* a side, to say anything; 0: as few as there are */
    bool at_most_suspect;      /* launches of other sessions prove no change */
    enum compare_presence presence;
};

/* The smallest change that counts when nobody says: where the SM clock stayed the same
 * in all launches of the case (or is the simulator's), and otherwise. */
#define COMPARE_STEADY_THRESHOLD 0.02
#define COMPARE_LOOSE_THRESHOLD  0.05

/* A false discovery rate is below this: at a half and more, cases that did not change
 * would be called changed by the toss of a coin. */
#define COMPARE_MOST_FDR 0.5

/* With launches enough, a case is judged by the exact one-sided rank-sum test against
 * base x (1 + floor), at the 2.5 % that the ends of its interval have. With a rate
 * in options.fdr the tests of all cases are taken together (Benjamini and Hochberg,
 * J. R. Stat. Soc. B 57, 1995), slower and faster apart: of the cases that are then called
 * changed, that share is wrong in the mean.
 *
 * -1 with assay_error when out of memory. comparison_release frees. */
int compare_runs(struct comparison *comparison, const struct timings *base,
                 const struct timings *candidate, const struct compare_options *options);

/* Where two launches' comparability differs, in words ("driver 580.1 and 590.2");
 * "" nowhere. The parts are those of comparability.h. */
void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size);

/* Two steps of the clock, as a fraction of the time: nothing smaller can be seen. */
double clock_quantum(const struct device_info *device, double time_ns);

/* Whether launch medians (as logarithms; sorted in place) fall into two groups. */
bool is_bimodal(double *logs, int count);

#endif
