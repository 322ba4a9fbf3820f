/*
 * test_stats.c - the statistics: against laws that must hold, and by simulation.
 * test_stats_golden.c has NumPy's and SciPy's figures.
 */
#include "base/fill.h"
#include "base/rng.h"
#include "series.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ------------------------------------------------------------------ laws -- */

TEST(median_of_an_even_count_is_the_mean_of_the_middle_two)
{
    double values[] = {4, 1, 3, 10};
    assert_true(stats_median(values, 4) == 3.5);
}

TEST(nothing_has_no_median_quantile_or_deviation)
{
    double none[1] = {0};
    assert_true(isnan(stats_median(none, 0)));
    assert_true(isnan(stats_mad(none, 0)));
    assert_true(isnan(stats_quantile_sorted(none, 0, 0.5)));
    struct interval interval = stats_median_interval(none, 0, 0.95);
    assert_true(isnan(interval.mid) && isnan(interval.lo) && isnan(interval.hi));
}

TEST(five_values_are_too_few_for_95_percent_and_six_are_not)
{
    assert_int_equal(stats_median_rank(5, 0.95), 0);
    assert_int_equal(stats_median_rank(6, 0.95), 1);
    double values[] = {6, 5, 4, 3, 2, 1};
    assert_true(isnan(stats_median_interval(values, 5, 0.95).lo));
    struct interval six = stats_median_interval(values, 6, 0.95);
    assert_true(six.lo == 1 && six.hi == 6);
    assert_false(stats_is_range(1));
    assert_true(stats_is_range(2) && stats_is_range(5));
    assert_false(stats_is_range(6));
}

TEST(a_coverage_equal_to_the_confidence_is_enough)
{
    assert_int_equal(stats_median_rank(5, 15.0 / 16), 1);
    assert_int_equal(stats_median_rank(5, 15.0 / 16 + 1e-9), 0);
    assert_int_equal(stats_median_rank(10, 1 - 22.0 / 1024), 2);
}

TEST(certainty_is_out_of_reach)
{
    assert_int_equal(stats_median_rank(1000, 1), 0);
    assert_int_equal(stats_median_rank(0, 0.95), 0);
}

/* P(rank <= B <= count - rank), B binomial(count, 1/2), by a sum of its own. */
static double coverage(int count, int rank)
{
    double sum = 0;
    for (int k = rank; k <= count - rank; k++)
        sum +=
            exp(lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) - count * log(2));
    return sum;
}

TEST(a_rank_is_the_innermost_that_covers)
{
    for (int count = 6; count <= 3000; count += 1 + count / 7) {
        int rank = stats_median_rank(count, 0.95);
        assert_true(coverage(count, rank) >= 0.95);
        assert_true(coverage(count, rank + 1) < 0.95);
    }
}

/* ------------------------------------------------------------ simulation -- */

/* Whether `hits` of `trials` are as many as a chance `p` makes, to 4.5 standard
 * deviations: a right procedure fails this once in 150 000 seeds. */
static bool as_often_as(int hits, int trials, double p)
{
    return fabs(hits - trials * p) <= 4.5 * sqrt(trials * p * (1 - p));
}

TEST(an_interval_holds_the_median_as_often_as_it_says)
{
    static const int counts[] = {6, 9, 30, 101};
    enum { TRIALS = 4000 };
    struct rng rng;
    rng_seed(&rng, 1);
    for (int c = 0; c < COUNT(counts); c++) {
        int hits = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            /* Exponential: skewed as times are; its median is log 2. */
            double values[128];
            for (int i = 0; i < counts[c]; i++)
                values[i] = -log1p(-fill_uniform(rng_next(&rng)));
            struct interval interval = stats_median_interval(values, counts[c], 0.95);
            hits += interval.lo <= log(2) && log(2) <= interval.hi;
        }
        double exact = coverage(counts[c], stats_median_rank(counts[c], 0.95));
        assert_true(exact >= 0.95);
        assert_true(as_often_as(hits, TRIALS, exact));
    }
}

/* Both sides of a group under one drift, in blocks of `block` a round; times are
 * skewed, base takes `ratio` times as long, some samples are marked and far off. */
static void simulate(struct rng *rng, int rounds, int block, double ratio, struct series *base,
                     struct series *candidate)
{
    base->count = candidate->count = 0;
    double drift = 1;
    for (int round = 0; round < rounds; round++) {
        drift *= 1 + 0.05 * fill_uniform(rng_next(rng));
        for (int i = 0; i < 2 * block; i++) {
            int mark = rng_below(rng, 12) == 0;
            double noise = 1 - 0.02 * log1p(-fill_uniform(rng_next(rng))) + 9 * mark;
            if (i % 2)
                series_add(base, 1000 * ratio * drift * noise, round, mark);
            else
                series_add(candidate, 1000 * drift * noise, round, mark);
        }
    }
}

TEST(a_ratio_holds_the_truth_under_drift_as_often_as_it_says)
{
    enum { TRIALS = 1500, ROUNDS = 20, BLOCK = 5 };
    static struct series base, candidate;
    struct rng rng;
    rng_seed(&rng, 2);
    int hits = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(&rng, ROUNDS, BLOCK, 1.1, &base, &candidate);
        struct interval ratio = ratio_of(&base, &candidate);
        hits += ratio.lo <= 1.1 && 1.1 <= ratio.hi;
    }
    /* Both sides have one law, so a round's ratio is above 1.1 half the time. */
    assert_true(as_often_as(hits, TRIALS, coverage(ROUNDS, stats_median_rank(ROUNDS, 0.95))));
}

/* ---------------------------------------------------------------- paired -- */

TEST(swapping_the_sides_inverts_the_ratio)
{
    static struct series base, candidate;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int rounds = 1; rounds <= 30; rounds++) {
        simulate(&rng, rounds, 4, 1.7, &base, &candidate);
        struct interval there = ratio_of(&base, &candidate);
        struct interval back = ratio_of(&candidate, &base);
        assert_near(back.mid, 1 / there.mid, "mid");
        assert_near(back.lo, 1 / there.hi, "lo");
        assert_near(back.hi, 1 / there.lo, "hi");
    }
}

TEST(the_order_within_a_round_does_not_matter)
{
    enum { ROUNDS = 12, BLOCK = 7 };
    static struct series base, candidate, shuffled;
    struct rng rng;
    rng_seed(&rng, 4);
    simulate(&rng, ROUNDS, BLOCK, 0.8, &base, &candidate);
    for (int round = 0; round < ROUNDS; round++) {
        int order[BLOCK];
        for (int i = 0; i < BLOCK; i++)
            order[i] = round * BLOCK + i;
        rng_shuffle(&rng, order, BLOCK);
        for (int i = 0; i < BLOCK; i++)
            series_add(&shuffled, base.time_ns[order[i]], round, base.mark[order[i]]);
    }
    struct interval straight = ratio_of(&base, &candidate), mixed = ratio_of(&shuffled, &candidate);
    assert_memory_equal(&straight, &mixed, sizeof mixed);
}

TEST(the_slower_base_has_the_larger_ratio)
{
    struct series base = {.count = 0}, candidate = {.count = 0};
    series_add(&base, 300, 0, 0);
    series_add(&candidate, 100, 0, 0);
    assert_true(ratio_of(&base, &candidate).mid == 3);
}

TEST(a_round_that_lacks_a_side_is_left_out)
{
    struct series base = {.count = 0}, candidate = {.count = 0};
    series_add(&base, 100, 0, 0); /* the candidate has no such round */
    series_add(&base, 200, 2, 0);
    series_add(&base, 900, 3, 1); /* all it has is marked */
    series_add(&base, 300, 7, 0);
    series_add(&candidate, 50, 1, 0);
    series_add(&candidate, 100, 2, 0);
    series_add(&candidate, 100, 3, 0);
    series_add(&candidate, 100, 7, 0);
    series_add(&candidate, 1, 9, 0);
    struct interval ratio = ratio_of(&base, &candidate);
    assert_near(ratio.mid, sqrt(6), "rounds 2 and 7: ratios 2 and 3");
    assert_true(isnan(ratio.lo) && isnan(ratio.hi));
}

TEST(without_a_common_round_there_is_no_ratio)
{
    struct series base = {.count = 0}, candidate = {.count = 0};
    assert_true(isnan(ratio_of(&base, &candidate).mid));
    series_add(&base, 100, 0, 0);
    series_add(&candidate, 100, 1, 0);
    struct interval ratio = ratio_of(&base, &candidate);
    assert_true(isnan(ratio.mid) && isnan(ratio.lo) && isnan(ratio.hi));
}
