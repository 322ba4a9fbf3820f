/*
 * gate_stats.h - the tests behind a verdict: signed rank for paired launches,
 * rank sum for launches that are not paired, Holm's step-down and
 * Benjamini-Hochberg's step-up over several cases. Pure, and exact: null distributions are counted,
 * not approximated, and condition on the ties that the data have.
 *
 * Sources: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (3rd
 * ed., 2014), sections 3.1 to 3.3 and 4.1 to 4.3; Hodges and Lehmann, Ann. Math.
 * Stat. 34 (1963); Holm, Scand. J. Stat. 6 (1979); Benjamini and Hochberg,
 * J. R. Stat. Soc. B 57 (1995).
 */
#ifndef GATE_STATS_H
#define GATE_STATS_H

#include "base/stats.h"

enum {
    SIGNED_RANK_MAX = 64, /* differences of one case */
    RANK_SUM_MAX = 32,    /* values of one side, for the exact test */
};

/* Which way the alternative lies. */
enum side { SIDE_LESS = -1, SIDE_GREATER = 1 };

/* One-sided p of the signed-rank test that the differences are centred on `shift`,
 * against a centre above (SIDE_GREATER) or below it. Ties share their mean rank,
 * and the distribution is that of these very ranks. A difference of exactly
 * `shift` speaks against the alternative, so p errs to the large side. 1 without
 * differences; count at most SIGNED_RANK_MAX. */
double signed_rank_p(const double *differences, int count, double shift, enum side side);

/* How many of the sorted means of pairs lie outside the exact interval at each
 * end; 0 when the count cannot reach `confidence` (5 or fewer at 95 %). */
int signed_rank_outside(int count, double confidence);

/* Hodges-Lehmann estimate (median of the means of all pairs) of the centre and
 * its exact signed-rank interval; lo and hi NAN when out of reach, all NAN
 * without differences. */
struct interval signed_rank_interval(const double *differences, int count, double confidence);

/* One-sided p of the rank-sum (Mann-Whitney) test that `y` is `x` moved by `shift`,
 * against y above (SIDE_GREATER) or below that. Ties as above; they are shared
 * by mid-ranks. Exact up to RANK_SUM_MAX a side, beyond that by the normal law with
 * corrections for ties and continuity; 1 when a side is empty. */
double rank_sum_p(const double *x, int x_count, const double *y, int y_count, double shift,
                  enum side side);

/* As signed_rank_outside, of the x_count * y_count differences. */
int rank_sum_outside(int x_count, int y_count, double confidence);

/* Hodges-Lehmann estimate of how far y lies above x (the median of all
 * differences), and its rank-sum interval: exact up to RANK_SUM_MAX a side,
 * beyond that by the normal law. -1 with assay_error when out of memory. */
int rank_sum_interval(const double *x, int x_count, const double *y, int y_count, double confidence,
                      struct interval *shift);

/* stats_mad of few values (two or more), which is too small in the mean, times what makes it the
 * standard deviation of normal ones: Croux and Rousseeuw, COMPSTAT (1992). Reorders. */
double spread_of_few(double *values, int count);

/* Holm: which of `count` hypotheses are rejected at the family-wise level
 * `alpha`. `order` is room for `count` indices. */
void holm_reject(const double *p, int count, double alpha, int *order, bool *rejected);

/* Benjamini-Hochberg: which are rejected at the false discovery rate `rate`. */
void bh_reject(const double *p, int count, double rate, int *order, bool *rejected);

/* Quantile of the standard normal law, 0 < p < 1. */
double normal_quantile(double p);

#endif
