/*
 * gate_stats.h - the statistical tests behind a verdict: signed rank for paired launches,
 * rank sum for unpaired launches, Holm's step-down and Benjamini-Hochberg's step-up
 * procedure over several cases. Pure and exact: null distributions are counted, not
 * approximated, and condition on the ties in the data.
 *
 * Sources: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (3rd
 * ed., 2014), sections 3.1 to 3.3 and 4.1 to 4.3; Hodges and Lehmann, Ann. Math.
 * Stat. 34 (1963); Holm, Scand. J. Stat. 6 (1979); Benjamini and Hochberg,
 * J. R. Stat. Soc. B 57 (1995).
 */
#pragma once

#include "base/stats.h"

enum {
    SIGNED_RANK_MAX = 64, /* differences per case */
    RANK_SUM_MAX = 32,    /* values per side, for the exact test */
};

/* The direction of the alternative hypothesis. */
enum side { SIDE_LESS = -1, SIDE_GREATER = 1 };

/* One-sided p-value of the signed-rank test that the differences are centred on `shift`,
 * against a centre above (SIDE_GREATER) or below it. Ties share their mean rank, and the
 * null distribution is that of these ranks. A difference of exactly `shift` counts against
 * the alternative, so the p-value is conservative. 1 without differences; count is at most
 * SIGNED_RANK_MAX. */
double signed_rank_p(const double *differences, int count, double shift, enum side side);

/* How many of the sorted pairwise means lie outside the exact confidence interval at each
 * end; 0 when the count cannot reach `confidence` (5 or fewer at 95 %). */
int signed_rank_outside(int count, double confidence);

/* Hodges-Lehmann estimate (median of all pairwise means) of the centre with its exact
 * signed-rank confidence interval; lo and hi are NAN when `confidence` cannot be reached,
 * all are NAN without differences. */
struct interval signed_rank_interval(const double *differences, int count, double confidence);

/* One-sided p-value of the rank-sum (Mann-Whitney) test that `y` is `x` shifted by `shift`,
 * against y above (SIDE_GREATER) or below that. Ties as above. Exact up to RANK_SUM_MAX
 * values per side, beyond that by the normal approximation with corrections for ties and
 * continuity; 1 when a side is empty. */
double rank_sum_p(const double *x, int x_count, const double *y, int y_count, double shift,
                  enum side side);

/* The smallest p-value that so many values can have: one over the ways to choose the y. */
double rank_sum_least_p(int x_count, int y_count);
/* How many values on each side can have one of at most `p`. */
int rank_sum_values_for(double p);

/* Like signed_rank_outside, for the x_count * y_count differences. */
int rank_sum_outside(int x_count, int y_count, double confidence);

/* Hodges-Lehmann estimate of the shift from x to y (the median of all differences) with its
 * rank-sum confidence interval: exact up to RANK_SUM_MAX values per side, beyond that by the
 * normal approximation. -1 with assay_error when out of memory. */
int rank_sum_interval(const double *x, int x_count, const double *y, int y_count, double confidence,
                      struct interval *shift);

/* stats_mad with the correction that makes it unbiased for the standard deviation of few
 * normal values (two or more): Croux and Rousseeuw, COMPSTAT (1992). Reorders. */
double spread_of_few(double *values, int count);

/* Qn, a standard deviation by the quarter of all differences between two values that are smallest:
 * half of the values may be anything, and it is worth twice as many values as a MAD. With the
 * correction for few values. Sorts; NAN for fewer than two. Rousseeuw and Croux, JASA 88 (1993). */
double spread_by_pairs(double *values, int count);

/* One of several hypotheses that are tested together. */
struct hypothesis {
    double p;
    int index; /* the caller's, unique: where p-values are equal the smaller comes first */
    bool rejected;
};

/* Holm: which are rejected at the family-wise error rate `alpha`. Sorts them by p. */
void holm_reject(struct hypothesis *family, int count, double alpha);

/* Benjamini-Hochberg: which are rejected at the false discovery rate `rate`. The same. */
void bh_reject(struct hypothesis *family, int count, double rate);

/* Minimum detectable effect of a rank test, a fraction: what is significant beyond `floor` at
 * the one-sided level `alpha` with 80 % power, by the normal approximation. `variance` is that
 * of the mean of the log ratios. */
double detectable_effect(double floor, double variance, double alpha);
/* What was detectable at one level, at another. */
double detectable_at(double effect, double floor, double alpha, double other_alpha);

/* Quantile of the standard normal distribution, 0 < p < 1. */
double normal_quantile(double p);
