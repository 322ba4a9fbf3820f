/* test_clock_steps.c - times that are hardly longer than the steps of their clock. */
#include <math.h>
#include <stdlib.h>

#include "tests/test.h"
#include "base/rng.h"
#include "compare_fixture.h"
#include "stepped_clock.h"

enum { SAMPLES = 60 };

static struct clock_steps read_steps(double time_ns, double noise, double step_ns, uint64_t seed)
{
    double sample[SAMPLES];
    struct rng rng;
    rng_seed(&rng, seed);
    stepped_samples(sample, SAMPLES, time_ns, noise, step_ns, &rng);
    return clock_steps_of(sample, SAMPLES);
}

/* The steps of an H200 are 31 to 33 ns as they are written down. */
TEST(the_steps_are_seen_and_their_mean_is_the_time)
{
    int dithering = 0;
    for (int i = 0; i < 200; i++) {
        double time_ns = 600 + i * 7.3;
        struct clock_steps steps = read_steps(time_ns, 0.01, 32, 1 + (uint64_t)i);
        if (!(steps.step_ns >= 30 && steps.step_ns <= 34))
            fail_msg("%g ns: a step of %g ns", time_ns, steps.step_ns);
        dithering += steps.dithers;
        /* A tenth of a step by trimming, four standard errors by chance. */
        assert_true(fabs(steps.mean_ns - time_ns) < 3.2 + 4 * (0.01 * time_ns + 16) / sqrt(48));
    }
    assert_true(dithering > 180);
}

TEST(what_changes_by_a_fraction_of_a_step_has_another_mean)
{
    double before = 0, after = 0;
    for (uint64_t i = 0; i < 50; i++) {
        before += read_steps(600, 0.005, 32, 1 + i).mean_ns / 50;
        after += read_steps(610, 0.005, 32, 100 + i).mean_ns / 50;
    }
    assert_true(after - before > 5 && after - before < 15);
}

TEST(a_fine_clock_has_no_steps)
{
    assert_true(read_steps(5000, 0.01, 0, 1).step_ns < 4); /* what happens to be as near */
    assert_true(fabs(read_steps(5000, 0.01, 0, 1).mean_ns - 5000) < 40);
}

TEST(readings_of_one_step_do_not_dither)
{
    double same[SAMPLES], none[1];
    for (int i = 0; i < SAMPLES; i++)
        same[i] = i ? 608 + i % 2 : 640; /* one slow sample shows the step, and no dither */
    struct clock_steps steps = clock_steps_of(same, SAMPLES);
    assert_true(steps.step_ns > 30 && !steps.dithers);
    for (int count = 3; count <= SAMPLES; count++) { /* however few there are */
        for (int i = 0; i < count; i++)
            same[i] = i ? 608 : 640;
        steps = clock_steps_of(same, count);
        assert_true(!steps.dithers && steps.mean_ns == 608);
    }
    steps = clock_steps_of(none, 0);
    assert_true(steps.mean_ns == 0 && steps.step_ns == 0);
}

/* Six launches a side of a case read by a clock of 32 ns. */
static struct comparison_row judged_at(double base_ns, double candidate_ns, double step_ns,
                                       bool speedup, bool dithers)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    struct timings *sides[] = {&base, &candidate};
    double time_ns[] = {base_ns, candidate_ns};
    struct rng rng;
    rng_seed(&rng, 5);
    options.speedup = speedup;
    for (int side = 0; side < 2; side++) {
        fill(sides[side], side ? "b" : "a", 6, time_ns[side]);
        for (int i = 0; i < 6; i++) {
            struct timing *row = &sides[side]->rows[i];
            double sample[SAMPLES];
            stepped_samples(sample, SAMPLES, time_ns[side], 0.005, step_ns, &rng);
            row->is_baseline = speedup;
            row->steps = clock_steps_of(sample, SAMPLES);
            row->steps.dithers &= dithers;
            row->time_ns = stats_median(sample, SAMPLES);
        }
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    struct comparison_row row = comparison.rows[0];
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return row;
}

/* Two steps are 10.7 % of 600 ns: by medians a true +10 % was PASS. */
TEST(a_short_case_is_judged_below_the_steps)
{
    struct comparison_row slower = judged_at(600, 660, 32, false, true);
    assert_int_equal(slower.verdict, VERDICT_REGRESSED);
    assert_true(slower.tags & TAG_STEPS);
    assert_true(slower.quantum < 0.011 && slower.floor == 0.02);
    assert_true(fabs(slower.ratio.mid - 1.1) < 0.01);
    assert_true(fabs(slower.base_ns - 600) < 4);
    assert_int_equal(judged_at(600, 600, 32, false, true).verdict, VERDICT_PASS);
    assert_int_equal(judged_at(2000, 2070, 32, false, true).verdict, VERDICT_REGRESSED);
}

TEST(a_long_case_is_judged_by_medians)
{
    struct comparison_row row = judged_at(19000, 19000, 32, false, true);
    assert_false(row.tags & TAG_STEPS);
    assert_true(row.quantum < 0.005);
    assert_false(judged_at(3000, 3000, 0, false, true).tags & TAG_STEPS);
}

/* A kernel that begins with the clock's step each time: nothing is known below two of them. */
TEST(without_dither_nothing_passes_below_two_steps)
{
    struct comparison_row row = judged_at(600, 640, 32, false, false);
    assert_int_equal(row.verdict, VERDICT_INCONCLUSIVE);
    assert_true(row.floor > 0.09);
}

TEST(speedups_are_of_medians)
{
    struct comparison_row row = judged_at(600, 600, 32, true, true);
    assert_false(row.tags & TAG_STEPS);
    assert_true(row.quantum > 0.09);
}
