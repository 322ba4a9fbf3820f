/*
 * gate_stats.c - mid-ranks are multiples of one half, so ranks are doubled to keep sums
 * integer. A null distribution is built by adding one value at a time; p[s] is the
 * probability of the sum s.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "judge/gate_stats.h"

enum {
    SIGNED_SUMS = SIGNED_RANK_MAX * (SIGNED_RANK_MAX + 1) + 1, /* doubled ranks */
    BOTH_MAX = 2 * RANK_SUM_MAX,
    PAIRS_MAX = RANK_SUM_MAX * RANK_SUM_MAX,
};

/* The doubled mid-rank of every value among all of them. */
static void doubled_ranks(const double *values, int count, int *rank)
{
    for (int i = 0; i < count; i++) {
        rank[i] = 2;
        for (int j = 0; j < count; j++)
            rank[i] += 2 * (values[j] < values[i]) + (values[j] == values[i] && j != i);
    }
}

/* ---------------------------------------------------------- signed rank -- */

/* p[s] = P(sum of the ranks with a positive sign = s), where signs are random. */
static void signed_distribution(const int *rank, int count, double *p, int *most)
{
    p[0] = 1;
    *most = 0;
    for (int i = 0; i < count; i++) {
        memset(p + *most + 1, 0, (size_t)rank[i] * sizeof *p);
        *most += rank[i];
        for (int s = *most; s >= 0; s--)
            p[s] = 0.5 * (p[s] + (s >= rank[i] ? p[s - rank[i]] : 0));
    }
}

double signed_rank_p(const double *differences, int count, double shift, enum side side)
{
    double size[SIGNED_RANK_MAX], p[SIGNED_SUMS], tail = 0;
    int rank[SIGNED_RANK_MAX], sum = 0, most;
    if (count <= 0) return 1;
    for (int i = 0; i < count; i++)
        size[i] = fabs(differences[i] - shift);
    doubled_ranks(size, count, rank);
    for (int i = 0; i < count; i++)
        if ((double)side * (differences[i] - shift) > 0) sum += rank[i];
    signed_distribution(rank, count, p, &most);
    for (int s = most; s >= sum; s--)
        tail += p[s];
    return fmin(tail, 1);
}

/* How many values at each end of a distribution over 0 to `most` can be left out so that
 * the rest still has `confidence`. */
static int outside(const double *p, int most, double confidence)
{
    const double rounding = 1e-12; /* so that 2/64 does not miss 3.125 % by its last bit */
    double tail = 0;
    int count = 0;
    while (count <= most / 2) {
        tail += p[count];
        if (2 * tail > (1 - confidence) * (1 + rounding)) break;
        count++;
    }
    return count;
}

int signed_rank_outside(int count, double confidence)
{
    double p[SIGNED_SUMS];
    int rank[SIGNED_RANK_MAX], most;
    for (int i = 0; i < count; i++)
        rank[i] = i + 1; /* without ties ranks need no doubling */
    signed_distribution(rank, count, p, &most);
    return outside(p, most, confidence);
}

/* Median of `sorted` and the values `left_out` from each end. */
static struct interval order_interval(const double *sorted, int count, int left_out)
{
    struct interval interval = {NAN, NAN, NAN};
    if (count == 0) return interval;
    interval.mid = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    if (left_out > 0) {
        interval.lo = sorted[left_out - 1];
        interval.hi = sorted[count - left_out];
    }
    return interval;
}

struct interval signed_rank_interval(const double *differences, int count, double confidence)
{
    double mean[SIGNED_RANK_MAX * (SIGNED_RANK_MAX + 1) / 2];
    int means = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++)
            mean[means++] = 0.5 * (differences[i] + differences[j]);
    stats_sort(mean, means);
    return order_interval(mean, means, signed_rank_outside(count, confidence));
}

/* ------------------------------------------------------------- rank sum -- */

/* Count the subsets of the values by size and sum of ranks: ways[k][s] subsets of k values
 * have the sum s. Counts below 2^64 are not all exact as doubles, but their sums have a
 * relative error of about 1e-15. */
static double *rank_sum_ways(const int *rank, int count, int chosen, int most)
{
    size_t row = (size_t)most + 1;
    double *ways = calloc(row * ((size_t)chosen + 1), sizeof *ways);
    if (!ways) return NULL;
    ways[0] = 1;
    for (int i = 0; i < count; i++) {
        for (int k = chosen < i + 1 ? chosen : i + 1; k > 0; k--) {
            double *to = ways + row * (size_t)k, *from = to - row;
            for (int s = most; s >= rank[i]; s--)
                to[s] += from[s - rank[i]];
        }
    }
    return ways;
}

/* Value `i` of both sides, x first. */
static double both_at(const double *x, int x_count, const double *y, double shift, int i)
{
    return i < x_count ? x[i] : y[i - x_count] - shift;
}

/* By the normal approximation of the number of pairs in which y is ahead. */
static double rank_sum_normal_p(const double *x, int x_count, const double *y, int y_count,
                                double shift, enum side side)
{
    int count = x_count + y_count;
    double ahead = 0, ties = 0; /* ties: the sum of t^3 - t over groups of t equal values */
    for (int i = 0; i < count; i++) {
        double value = both_at(x, x_count, y, shift, i);
        double equal = 0;
        for (int j = 0; j < count; j++) {
            double other = both_at(x, x_count, y, shift, j);
            equal += other == value;
            if (i < x_count || j >= x_count) continue;
            ahead += (double)side * (value - other) > 0 ? 1 : other == value ? 0.5 : 0;
        }
        ties += equal * equal - 1;
    }
    double pairs = (double)x_count * y_count;
    double variance = pairs / 12 * (count + 1 - ties / ((double)count * (count - 1)));
    if (!(variance > 0)) return 1; /* all equal */
    double z = (ahead - pairs / 2 - 0.5) / sqrt(variance);
    return fmin(0.5 * erfc(z / sqrt(2)), 1);
}

double rank_sum_p(const double *x, int x_count, const double *y, int y_count, double shift,
                  enum side side)
{
    double both[BOTH_MAX], tail = 0, all = 0;
    int rank[BOTH_MAX], count = x_count + y_count, most = 0, sum = 0;
    if (x_count <= 0 || y_count <= 0) return 1;
    if (x_count > RANK_SUM_MAX || y_count > RANK_SUM_MAX)
        return rank_sum_normal_p(x, x_count, y, y_count, shift, side);
    for (int i = 0; i < x_count; i++)
        both[i] = (double)side * x[i];
    for (int i = 0; i < y_count; i++)
        both[x_count + i] = (double)side * (y[i] - shift);
    doubled_ranks(both, count, rank);
    for (int i = 0; i < count; i++) {
        most += rank[i];
        if (i >= x_count) sum += rank[i];
    }
    double *ways = rank_sum_ways(rank, count, y_count, most);
    if (!ways) return 1; /* no evidence */
    const double *of_y = ways + ((size_t)most + 1) * (size_t)y_count;
    for (int s = 0; s <= most; s++) {
        all += of_y[s];
        if (s >= sum) tail += of_y[s];
    }
    free(ways);
    return fmin(tail / all, 1);
}

double rank_sum_least_p(int x_count, int y_count)
{
    double p = 1;
    for (int i = 1; i <= y_count; i++)
        p *= (double)i / (x_count + i);
    return p;
}

int rank_sum_values_for(double p)
{
    int count = 1;
    while (rank_sum_least_p(count, count) > p)
        count++;
    return count;
}

/* The distribution of U without ties: the Gaussian binomial coefficient, one
 * factor (1 - q^(y + i)) / (1 - q^i) after another. Only its lower half is used,
 * where no large number meets a small one. */
static void u_distribution(int x_count, int y_count, double *p)
{
    int most = x_count * y_count;
    double all = 0;
    memset(p, 0, ((size_t)most + 1) * sizeof *p);
    p[0] = 1;
    for (int i = 1; i <= x_count; i++) {
        for (int u = most; u >= y_count + i; u--)
            p[u] -= p[u - y_count - i];
        for (int u = i; u <= most; u++)
            p[u] += p[u - i];
    }
    for (int u = 0; u <= most; u++)
        all += p[u];
    for (int u = 0; u <= most; u++)
        p[u] /= all;
}

int rank_sum_outside(int x_count, int y_count, double confidence)
{
    double p[PAIRS_MAX + 1], pairs = (double)x_count * y_count;
    if (x_count <= 0 || y_count <= 0) return 0;
    if (x_count <= RANK_SUM_MAX && y_count <= RANK_SUM_MAX) {
        u_distribution(x_count, y_count, p);
        return outside(p, x_count * y_count, confidence);
    }
    double deviation = sqrt(pairs * (x_count + y_count + 1) / 12);
    double at = floor(pairs / 2 - normal_quantile(0.5 + confidence / 2) * deviation - 0.5);
    return at > 0 ? (int)at : 0;
}

int rank_sum_interval(const double *x, int x_count, const double *y, int y_count, double confidence,
                      struct interval *shift)
{
    int count = 0;
    double *difference = calloc((size_t)x_count * (size_t)y_count + 1, sizeof *difference);
    if (!difference) return assay_error("out of memory for the differences of launches");
    for (int i = 0; i < x_count; i++)
        for (int j = 0; j < y_count; j++)
            difference[count++] = y[j] - x[i];
    stats_sort(difference, count);
    *shift = order_interval(difference, count, rank_sum_outside(x_count, y_count, confidence));
    free(difference);
    return 0;
}

/* --------------------------------------------------------------- spread -- */

double spread_of_few(double *values, int count)
{
    static const double few[] = {NAN, NAN, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
    enum { FEW = sizeof few / sizeof few[0] };
    double factor = count < FEW ? few[count] : count / (count - 0.8);
    return factor * stats_mad(values, count);
}

/* How many pairs of sorted values differ by at most `most`. */
static int64_t pairs_within(const double *sorted, int count, double most)
{
    int64_t pairs = 0;
    for (int low = 0, high = 0; high < count; high++) {
        while (sorted[high] - sorted[low] > most)
            low++;
        pairs += high - low;
    }
    return pairs;
}

/* The order statistic is found by halving the range down to neighbouring numbers, which needs no
 * list of all pairs. */
double spread_by_pairs(double *values, int count)
{
    static const double few[] = {NAN, NAN, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872};
    static const double normal_scale = 2.2191444659850757; /* 1 / (sqrt(2) * quantile of 5/8) */
    enum { FEW = sizeof few / sizeof few[0] };
    int64_t half = count / 2 + 1, wanted = half * (half - 1) / 2;
    if (count < 2) return NAN;
    stats_sort(values, count);
    double low = 0, high = values[count - 1] - values[0];
    if (pairs_within(values, count, 0) >= wanted) high = 0;
    for (double middle = 0.5 * high; low < middle && middle < high; middle = 0.5 * (low + high))
        if (pairs_within(values, count, middle) >= wanted)
            high = middle;
        else
            low = middle;
    double factor = count < FEW ? few[count] : count / (count + (count % 2 ? 1.4 : 3.8));
    return factor * normal_scale * high;
}

/* --------------------------------------------------------- several tests -- */

static int by_p(const void *left, const void *right)
{
    const struct hypothesis *a = left, *b = right;
    return a->p != b->p ? (a->p > b->p) - (a->p < b->p) : a->index - b->index;
}

void holm_reject(struct hypothesis *family, int count, double alpha)
{
    if (count) qsort(family, (size_t)count, sizeof *family, by_p);
    bool passes = true;
    for (int i = 0; i < count; i++)
        family[i].rejected = passes = passes && family[i].p * (count - i) <= alpha;
}

void bh_reject(struct hypothesis *family, int count, double rate)
{
    if (count) qsort(family, (size_t)count, sizeof *family, by_p);
    int last = count; /* the largest p-value that passes rejects all smaller ones too */
    while (last > 0 && family[last - 1].p * count > rate * last)
        last--;
    for (int i = 0; i < count; i++)
        family[i].rejected = i < last;
}

/* How many standard errors beyond the floor are found in 80 % of trials. */
static double reach(double alpha)
{
    const double power = 0.8;
    return normal_quantile(1 - alpha) + normal_quantile(power);
}

double detectable_effect(double floor, double variance, double alpha)
{
    /* Efficiency of rank tests against the t test on normal data. */
    const double efficiency = 0.955;
    return expm1(log1p(floor) + reach(alpha) * sqrt(variance / efficiency));
}

double detectable_at(double effect, double floor, double alpha, double other_alpha)
{
    double beyond = log1p(effect) - log1p(floor);
    return expm1(log1p(floor) + beyond * reach(other_alpha) / reach(alpha));
}

/* By bisection of erfc: it is rarely called. */
double normal_quantile(double p)
{
    double below = -40, above = 40;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (below + above);
        if (0.5 * erfc(-middle / sqrt(2)) < p)
            below = middle;
        else
            above = middle;
    }
    return 0.5 * (below + above);
}
