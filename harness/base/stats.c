#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

/* Of intervals over launches. */
static const double CONFIDENCE = 0.95;

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void stats_sort(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
}

double stats_median(double *values, int count)
{
    if (count <= 0) return NAN;
    int half = count / 2;
    stats_sort(values, count);
    return count % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double stats_quantile_sorted(const double *sorted, int count, double q)
{
    if (count <= 0) return NAN;
    double at = (count - 1) * fmin(fmax(q, 0), 1);
    int below = (int)at;
    double part = at - below;
    if (part == 0) return sorted[below];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/* Sum the weights of Binomial(count, 1/2) from the middle down, in units of the largest
 * weight, until the sum reaches `enough` or the weights are negligible; *reached is where
 * it stopped. The distribution is symmetric, so this is one half of it; the middle weight
 * of an even count belongs half to either side. Starting in the middle takes about
 * sqrt(count) steps and cannot underflow. */
static double half_binomial(int count, double enough, int *reached)
{
    int k = count / 2;
    double weight = 1, sum = count % 2 ? 1 : 0.5;
    while (k > 0 && sum < enough && weight > 1e-20) {
        weight *= (double)k / (count - k + 1);
        sum += weight;
        k--;
    }
    *reached = k;
    return sum;
}

int stats_median_rank(int count, double confidence)
{
    /* The sums are good to about 1e-13; a coverage that equals the confidence
     * (five values, 15/16) must not fall short by their rounding. */
    const double rounding = 1e-12;
    if (count <= 0 || confidence >= 1) return 0;
    int rank;
    double whole = half_binomial(count, INFINITY, &rank);
    half_binomial(count, whole * confidence * (1 - rounding), &rank);
    return rank;
}

struct interval stats_median_interval(double *values, int count, double confidence)
{
    struct interval interval = {stats_median(values, count), NAN, NAN};
    int rank = stats_median_rank(count, confidence);
    if (rank > 0) {
        interval.lo = values[rank - 1];
        interval.hi = values[count - rank];
    }
    return interval;
}

bool stats_is_range(int count)
{
    return count > 1 && stats_median_rank(count, CONFIDENCE) == 0;
}

struct interval stats_over_launches(double *values, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    struct interval over = stats_median_interval(values, kept, CONFIDENCE);
    if (kept > 1 && isnan(over.lo)) {
        over.lo = values[0];
        over.hi = values[kept - 1];
    }
    return over;
}

double stats_mad(double *values, int count)
{
    /* 1 / upper quartile of the normal distribution: makes the MAD estimate its sigma. */
    const double normal_scale = 1.4826;
    double middle = stats_median(values, count);
    for (int i = 0; i < count; i++)
        values[i] = fabs(values[i] - middle);
    return normal_scale * stats_median(values, count);
}

/* Where the round that starts at `begin` ends. */
static int round_end(struct paired series, int begin)
{
    int end = begin;
    while (end < series.count && series.round[end] == series.round[begin])
        end++;
    return end;
}

static double round_median(struct paired series, int begin, int end, double *scratch)
{
    int kept = 0;
    for (int i = begin; i < end; i++)
        if (!series.mark[i]) scratch[kept++] = series.time_ns[i];
    return stats_median(scratch, kept);
}

/* Write the ratio of every round that both have to `scratch`; returns how many. The
 * samples of a round are sorted in the space after the ratios found so far: there are
 * never more ratios than samples already read, so both fit. */
static int round_ratios(struct paired base, struct paired candidate, double *scratch)
{
    int ratios = 0;
    int b = 0, c = 0;
    while (b < base.count && c < candidate.count) {
        int base_round = base.round[b], candidate_round = candidate.round[c];
        int base_end = base_round <= candidate_round ? round_end(base, b) : b;
        int candidate_end = candidate_round <= base_round ? round_end(candidate, c) : c;
        double base_ns = round_median(base, b, base_end, scratch + ratios);
        double candidate_ns = round_median(candidate, c, candidate_end, scratch + ratios);
        /* Also false for NAN: a side without samples. */
        if (base_ns > 0 && candidate_ns > 0) scratch[ratios++] = base_ns / candidate_ns;
        b = base_end;
        c = candidate_end;
    }
    return ratios;
}

struct interval stats_paired_ratio(struct paired base, struct paired candidate, double *scratch)
{
    int rounds = round_ratios(base, candidate, scratch);
    struct interval ratio = stats_median_interval(scratch, rounds, 0.95);
    if (rounds > 0 && rounds % 2 == 0)
        ratio.mid = sqrt(scratch[rounds / 2 - 1] * scratch[rounds / 2]);
    return ratio;
}
