/* test_compare_tags.c - the causes that stand beside a verdict. */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "compare_fixture.h"

static void throttled(struct timings *base, struct timings *candidate,
                      struct compare_options *options)
{
    (void)base, (void)options;
    candidate->rows[2].clock_reasons = 0x20; /* NVML: software thermal slow-down */
}

static void same_code(struct timings *base, struct timings *candidate,
                      struct compare_options *options)
{
    strcpy(base->rows[0].code_hash, "c0de");
    strcpy(candidate->rows[0].code_hash, "c0de");
}

static void other_driver(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    strcpy(candidate->run.launches[1].device.driver, "590");
    options->across = true;
}

static void in_two_modes(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)base, (void)options;
    for (int i = 3; i < 6; i++)
        candidate->rows[i].time_ns *= 1.04;
}

TEST(causes_are_tags_and_no_verdicts)
{
    assert_int_equal(judged(nothing, 1).tags, 0);
    assert_int_equal(judged(throttled, 1).tags, TAG_THROTTLE);
    assert_int_equal(judged(same_code, 1).tags, TAG_SAME_CODE);
    assert_int_equal(judged(other_driver, 1).tags, TAG_DRIVER);
    assert_int_equal(judged(in_two_modes, 1).tags, TAG_BIMODAL);
    assert_int_equal(judged(throttled, 1).verdict, VERDICT_PASS);
    assert_int_equal(judged(same_code, 1.1).verdict, VERDICT_REGRESSED);
}

static void other_driver_unasked(struct timings *base, struct timings *candidate,
                                 struct compare_options *options)
{
    other_driver(base, candidate, options);
    options->across = false;
}

TEST(another_driver_is_incomparable_and_tagged)
{
    struct comparison_row row = judged(other_driver_unasked, 1);
    assert_int_equal(row.verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(row.tags, TAG_DRIVER);
}

TEST(a_change_that_is_the_clocks_is_unstable)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1100);
    for (int i = 0; i < 5; i++) {
        base.rows[i].ops = candidate.rows[i].ops = 1e6; /* it follows the clock */
        candidate.rows[i].sm_mhz = 1980 / 1.1;
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_UNSTABLE);
    assert_true(comparison.rows[0].tags & TAG_CLOCK);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(two_modes_are_seen)
{
    double two[] = {0, 0.001, 0.002, 0.04, 0.041, 0.0405},
           one[] = {0, 0.01, 0.02, 0.03, 0.04, 0.05};
    double far[] = {0, 0.001, 0.002, 0.001, 0.0015, 0.3}; /* one outlier is no mode */
    assert_true(is_bimodal(two, 6));
    assert_false(is_bimodal(one, 6));
    assert_false(is_bimodal(far, 6));
    assert_false(is_bimodal(two, 5));
}
