/*
 * stats.h - statistics of samples. Pure: no I/O, no state.
 *
 * Times are skewed and have outliers, so nothing here assumes a normal distribution:
 * medians, order statistics, and sign tests.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct interval {
    double mid, lo, hi;
};

/* Ascending; no NAN among them. */
void stats_sort(double *values, int count);

/* Median; sorts `values` in place. NAN for none. */
double stats_median(double *values, int count);

/* Quantile q in [0, 1] of sorted values, interpolated (type 7 of Hyndman and Fan, 1996). */
double stats_quantile_sorted(const double *sorted, int count, double q);

/* Median with its distribution-free confidence interval from order statistics (David
 * and Nagaraja, Order Statistics, 3rd ed., section 7.1): the innermost pair of ranks
 * whose binomial coverage is at least `confidence`. lo and hi are NAN when the count
 * cannot reach it (5 or fewer at 95 %). Sorts in place. */
struct interval stats_median_interval(double *values, int count, double confidence);

/* Of one value per launch: that interval at 95 %, or from the least to the greatest of two to five.
 * Leaves NAN out; sorts in place. */
struct interval stats_over_launches(double *values, int count);
/* Whether that is smallest to largest, of so many values: the median lies between them in
 * 1 - 2^(1 - count) of all cases, which is 50, 75, 88 and 94 % of 2 to 5. */
bool stats_is_range(int count);

/* The rank r (1-based) of that interval, from r to count + 1 - r; 0 when it cannot be reached. */
int stats_median_rank(int count, double confidence);

/* Median absolute deviation from the median, times 1.4826. Reorders. */
double stats_mad(double *values, int count);

/* Time ratio base/candidate of two cases of one group: the median over rounds of the
 * ratio of their medians in that round (pairing by round cancels drift), with the
 * sign-test confidence interval over rounds. Rounds that lack either case are left out;
 * lo and hi are NAN with too few rounds for an interval, mid too with none. For an even
 * count the median is the geometric mean of the middle two, so that swapping the sides
 * inverts the ratio. Rounds ascend within each series.
 * `scratch` holds at least base.count + candidate.count doubles. */
struct paired {
    const float *time_ns;
    const uint16_t *round;
    const uint8_t *mark; /* a sample with a mark is left out */
    int count;
};
struct interval stats_paired_ratio(struct paired base, struct paired candidate, double *scratch);
