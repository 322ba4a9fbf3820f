/* test_compare_floor.c - the smallest change that counts: threshold, noise, clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "compare_fixture.h"

/* The threshold of the case where a launch of the candidate ran at another clock. */
static double threshold_at(int launch, int clock_launches)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.threshold = NAN;
    options.clock_launches = clock_launches;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1000);
    if (launch >= 0) candidate.rows[launch].sm_mhz = 1700;
    struct comparison comparison = compare(&base, &candidate, &options);
    double threshold = comparison.rows[0].threshold;
    assert_true(isnan(comparison.threshold));
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return threshold;
}

TEST(the_threshold_is_wider_where_the_clock_moved)
{
    assert_true(threshold_at(-1, 0) == COMPARE_STEADY_THRESHOLD);
    assert_true(threshold_at(4, 0) == COMPARE_LOOSE_THRESHOLD);
}

TEST(a_clock_that_moves_behind_the_launches_looked_at_changes_no_threshold)
{
    assert_true(threshold_at(4, 4) == COMPARE_STEADY_THRESHOLD);
    assert_true(threshold_at(3, 4) == COMPARE_LOOSE_THRESHOLD);
}

TEST(a_case_whose_clock_moved_widens_no_other_s_threshold)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.threshold = NAN;
    fill(&base, "a", 2, 1000);
    fill(&candidate, "b", 2, 1000);
    strcpy(base.rows[1].id.variant, "w");
    strcpy(candidate.rows[1].id.variant, "w");
    candidate.rows[1].sm_mhz = 1700;
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 2);
    for (int i = 0; i < 2; i++) {
        bool moved = strcmp(comparison.rows[i].id.variant, "w") == 0;
        assert_true(comparison.rows[i].threshold ==
                    (moved ? COMPARE_LOOSE_THRESHOLD : COMPARE_STEADY_THRESHOLD));
    }
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void wide_group(struct timings *base, struct timings *candidate,
                       struct compare_options *options)
{
    options->threshold = NAN;
    for (int i = 0; i < 6; i++)
        base->rows[i].threshold = candidate->rows[i].threshold = 0.1;
}

static void laxer_candidate(struct timings *base, struct timings *candidate,
                            struct compare_options *options)
{
    wide_group(base, candidate, options);
    for (int i = 0; i < 6; i++)
        candidate->rows[i].threshold = 0.99;
}

static void laxer_by_silence(struct timings *base, struct timings *candidate,
                             struct compare_options *options)
{
    wide_group(base, candidate, options);
    for (int i = 0; i < 6; i++)
        base->rows[i].threshold = NAN;
}

/* No suite can say this, so that a database does is no reason to take it. */
static void absurd(struct timings *base, struct timings *candidate, struct compare_options *options)
{
    wide_group(base, candidate, options);
    for (int i = 0; i < 6; i++)
        base->rows[i].threshold = candidate->rows[i].threshold = 1e300;
}

TEST(of_two_suites_the_stricter_counts)
{
    assert_true(fabs(judged(laxer_candidate, 1.9).threshold - 0.1) < 1e-12);
    assert_int_equal(judged(laxer_candidate, 1.9).verdict, VERDICT_REGRESSED);
    assert_true(judged(laxer_by_silence, 1.05).threshold == COMPARE_STEADY_THRESHOLD);
    assert_int_equal(judged(laxer_by_silence, 1.05).verdict, VERDICT_REGRESSED);
    assert_true(judged(absurd, 1.05).threshold == COMPARE_STEADY_THRESHOLD);
}

static void wide_group_overruled(struct timings *base, struct timings *candidate,
                                 struct compare_options *options)
{
    wide_group(base, candidate, options);
    options->threshold = 0.02;
}

TEST(a_group_s_threshold_holds_unless_the_command_line_has_one)
{
    assert_int_equal(judged(wide_group, 1.05).verdict, VERDICT_PASS);
    assert_true(fabs(judged(wide_group, 1.05).threshold - 0.1) < 1e-12);
    assert_int_equal(judged(wide_group_overruled, 1.05).verdict, VERDICT_REGRESSED);
}

static void coarse_clock(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)candidate, (void)options;
    base->run.launches[0].device.clock_step_ns = 32;
}

TEST(nothing_below_two_steps_of_the_clock_is_a_change)
{
    assert_int_equal(judged(nothing, 1.05).verdict, VERDICT_REGRESSED);
    struct comparison_row row = judged(coarse_clock, 1.05);
    assert_int_equal(row.verdict, VERDICT_INCONCLUSIVE);
    assert_true(fabs(row.floor - 0.064) < 1e-4); /* 2 x 32 of 1000 ns */
    assert_int_equal(judged(coarse_clock, 1.08).verdict, VERDICT_REGRESSED);
}

/* One block of unchanged code with the fixture's duration, of `rounds` pairs. */
static struct noise_block block = {.session = "s", .rounds = 10, .time_ns = 1000};
static struct noise known = {.blocks = &block, .count = 1};

static void noisy(struct timings *base, struct timings *candidate, struct compare_options *options)
{
    (void)base, (void)candidate;
    assert_int_equal(noise_prepare(&known), 0);
    options->noise = &known;
}

TEST(no_change_below_the_noise_of_unchanged_code_counts)
{
    block.spread = 0.03; /* three standard errors of six launches: 3 * 0.03 / sqrt(6) */
    assert_int_equal(judged(nothing, 1.03).verdict, VERDICT_REGRESSED);
    struct comparison_row below = judged(noisy, 1.03), above = judged(noisy, 1.05);
    assert_int_equal(below.verdict, VERDICT_PASS);
    assert_true(fabs(below.floor - expm1(0.09 / sqrt(6))) < 1e-12);
    assert_true(below.noise == below.floor && below.threshold == 0.02);
    assert_int_equal(above.verdict, VERDICT_REGRESSED);
    assert_int_equal(judged(noisy, 1 / 1.05).verdict, VERDICT_IMPROVED);
}

TEST(noise_below_the_threshold_changes_nothing)
{
    block.spread = 0.01;
    assert_true(judged(noisy, 1.03).floor == 0.02);
    assert_int_equal(judged(noisy, 1.03).verdict, VERDICT_REGRESSED);
}

TEST(noise_above_two_and_a_half_thresholds_is_unstable)
{
    block.spread = 0.05; /* a floor of 6.3 % */
    assert_int_equal(judged(noisy, 1).verdict, VERDICT_UNSTABLE);
    assert_int_equal(judged(noisy, 1.05).verdict, VERDICT_UNSTABLE);
    assert_int_equal(judged(noisy, 1.3).verdict, VERDICT_REGRESSED); /* proven all the same */
    assert_int_equal(judged(noisy, 1 / 1.3).verdict, VERDICT_IMPROVED);
}

TEST(a_comparison_says_which_noise_it_knows)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1000);
    noisy(&base, &candidate, &options);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_non_null(strstr(comparison.note[0], "1 block of launches, 1 session"));
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}
