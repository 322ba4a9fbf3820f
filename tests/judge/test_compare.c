/* test_compare.c - two runs, case by case: what is said, and what is not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/exit_code.h"
#include "compare_fixture.h"

/* The one verdict of `ratio` measured in so many launches a side. */
static enum verdict verdict_at(double ratio, int launches, unsigned *tags)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", launches, 1000);
    fill(&candidate, "b", launches, 1000 * ratio);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 1);
    enum verdict verdict = comparison.rows[0].verdict;
    if (tags) *tags = comparison.rows[0].tags;
    assert_true(fabs(comparison.rows[0].ratio.mid / ratio - 1) < 0.01);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return verdict;
}

TEST(five_launches_a_side_show_a_change_in_either_direction)
{
    assert_int_equal(verdict_at(1.05, 5, NULL), VERDICT_REGRESSED);
    assert_int_equal(verdict_at(1 / 1.05, 5, NULL), VERDICT_IMPROVED);
    assert_int_equal(verdict_at(1, 5, NULL), VERDICT_PASS);
}

TEST(few_launches_make_a_change_suspect_at_most)
{
    unsigned tags;
    for (int launches = 1; launches < 4; launches++) {
        assert_int_equal(verdict_at(1.5, launches, &tags), VERDICT_SUSPECT);
        assert_false(tags & TAG_FASTER);
        assert_int_equal(verdict_at(1 / 1.5, launches, &tags), VERDICT_SUSPECT);
        assert_true(tags & TAG_FASTER);
        assert_int_equal(verdict_at(1, launches, NULL), VERDICT_INCONCLUSIVE);
    }
}

TEST(one_launch_a_side_says_what_it_cannot_see)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 1, 1000);
    fill(&candidate, "b", 1, 1000);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].evidence, EVIDENCE_SAMPLES);
    assert_non_null(strstr(comparison.note[0], "cannot see how launches differ"));
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(swapping_the_runs_mirrors_every_verdict)
{
    static const enum verdict mirror[VERDICTS] = {
        [VERDICT_REGRESSED] = VERDICT_IMPROVED, [VERDICT_IMPROVED] = VERDICT_REGRESSED,
        [VERDICT_PASS] = VERDICT_PASS,          [VERDICT_INCONCLUSIVE] = VERDICT_INCONCLUSIVE,
        [VERDICT_SUSPECT] = VERDICT_SUSPECT,
    };
    static const double ratios[] = {0.8, 0.97, 1, 1.01, 1.03, 1.3};
    for (int launches = 1; launches < 9; launches++)
        for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
            enum verdict there = verdict_at(ratios[i], launches, NULL);
            assert_int_equal(verdict_at(1 / ratios[i], launches, NULL), mirror[there]);
        }
}

TEST(the_order_of_rows_changes_nothing)
{
    struct timings base, candidate, turned;
    struct compare_options options = plain();
    fill(&base, "a", 6, 1000);
    fill(&candidate, "b", 6, 1040);
    begin(&turned, "b", 6, 1);
    for (int i = 5; i >= 0; i--)
        turned.rows[turned.count++] = candidate.rows[i];
    struct comparison one = compare(&base, &candidate, &options);
    struct comparison two = compare(&base, &turned, &options);
    assert_memory_equal(&one.rows[0].ratio, &two.rows[0].ratio, sizeof one.rows[0].ratio);
    comparison_release(&one);
    comparison_release(&two);
    timings_release(&base);
    timings_release(&candidate);
    timings_release(&turned);
}

TEST(what_has_no_ratio_has_its_word)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 1, 8);
    begin(&candidate, "b", 1, 8);
    add(&base, 0, "gone", 10);
    add(&candidate, 0, "new", 10);
    add(&base, 0, "broken", 10);
    add(&candidate, 0, "broken", NAN)->status = STATUS_WRONG;
    add(&base, 0, "skipped", NAN)->status = STATUS_SKIPPED;
    add(&candidate, 0, "skipped", NAN)->status = STATUS_SKIPPED;
    add(&base, 0, "redefined", 10)->bytes = 16;
    add(&candidate, 0, "redefined", 10);
    add(&base, 0, "healed", NAN)->status = STATUS_CRASHED;
    add(&candidate, 0, "healed", 10);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 5); /* what both skipped is nobody's row */
    assert_int_equal(row_of(&comparison, "gone")->verdict, VERDICT_MISSING);
    assert_int_equal(row_of(&comparison, "new")->verdict, VERDICT_NEW);
    assert_int_equal(row_of(&comparison, "broken")->verdict, VERDICT_ERROR);
    assert_int_equal(row_of(&comparison, "redefined")->verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(row_of(&comparison, "healed")->verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(comparison.exit, EXIT_LOST);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_ERROR); /* worst first */
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(another_device_is_incomparable_and_named)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1000);
    strcpy(candidate.run.launches[3].device.name, "NVIDIA A100");
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_INCOMPARABLE);
    assert_non_null(strstr(comparison.rows[0].reason, "NVIDIA H200 and NVIDIA A100"));
    assert_int_equal(comparison.exit, EXIT_NOTHING);
    comparison_release(&comparison);
    options.across = true; /* and no times make a verdict */
    comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_INCOMPARABLE);
    assert_string_equal(comparison.rows[0].reason, "no baseline of its group, and no ceiling");
    comparison_release(&comparison);
    strcpy(candidate.run.launches[3].device.name, "NVIDIA H200");
    strcpy(candidate.run.launches[3].device.driver, "590");
    comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_PASS);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

/* Five launches on an H200, and five on an A100 that takes twice as long. There "mine" is 10 %
 * further from the baseline; "copy" has no baseline, and half of its ceiling on both. */
static void two_models(struct timings *base, struct timings *candidate)
{
    struct timings *const sides[] = {base, candidate};
    for (int side = 0; side < 2; side++) {
        begin(sides[side], side ? "b" : "a", 5, 3);
        for (int i = 0; i < 5; i++) {
            double slower = (1 + side) * (1 + 1e-3 * i);
            if (side) strcpy(sides[side]->run.launches[i].device.name, "NVIDIA A100");
            struct timing *blas = add(sides[side], i, "blas", 500 * slower);
            blas->is_baseline = true;
            blas->ceiling_ns = side ? 800 : 450;
            add(sides[side], i, "mine", (side ? 1100 : 1000) * slower)->ceiling_ns = 100;
            struct timing *copy = add(sides[side], i, "copy", 400 * slower);
            strcpy(copy->id.shape, "n=2");
            copy->ceiling_ns = side ? 400 : 200;
        }
    }
}

TEST(two_models_are_held_to_baselines_and_ceilings)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.across = true;
    two_models(&base, &candidate);
    struct comparison found = compare(&base, &candidate, &options);
    const struct comparison_row *mine = row_of(&found, "mine"), *copy = row_of(&found, "copy"),
                                *blas = row_of(&found, "blas");
    assert_string_equal(found.metric, "limits");
    assert_int_equal(mine->verdict, VERDICT_REGRESSED);
    assert_string_equal(mine->metric, "speedup");
    assert_float_equal(mine->ratio.mid, 1.1, 1e-9);
    assert_float_equal(mine->base_value, 0.5, 1e-9);
    assert_float_equal(mine->candidate_value, 0.5 / 1.1, 1e-9);
    assert_int_equal(copy->verdict, VERDICT_PASS);
    assert_string_equal(copy->metric, "share");
    assert_float_equal(copy->candidate_value, 0.5, 2e-3);
    /* The baseline itself: 90 % of its ceiling there, and 80 % here. */
    assert_string_equal(blas->metric, "share");
    assert_int_equal(blas->verdict, VERDICT_REGRESSED);
    assert_float_equal(blas->ratio.mid, 0.9 / 0.8, 1e-9);
    assert_int_equal(found.family_count, 1); /* of the ratios to baselines alone */
    assert_int_equal(found.families[0].cases, 1);
    comparison_release(&found);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(another_baseline_on_the_other_model_is_none)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.across = true;
    two_models(&base, &candidate);
    for (int i = 0; i < candidate.count; i++)
        if (candidate.rows[i].is_baseline) strcpy(candidate.rows[i].id.variant, "other");
    struct comparison found = compare(&base, &candidate, &options);
    assert_string_equal(row_of(&found, "mine")->metric, "share");
    comparison_release(&found);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(the_ratio_to_the_baseline_cancels_the_clock)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 5, 2);
    begin(&candidate, "b", 5, 2);
    for (int i = 0; i < 5; i++) {
        add(&base, i, "blas", 500 + i)->is_baseline = true;
        add(&base, i, "mine", 1000 + 2 * i);
        add(&candidate, i, "blas", 1.2 * (500 + i))->is_baseline = true;
        add(&candidate, i, "mine", 1.2 * (1000 + 2 * i));
    }
    struct comparison time = compare(&base, &candidate, &options);
    assert_int_equal(row_of(&time, "mine")->verdict, VERDICT_REGRESSED);
    options.speedup = true;
    struct comparison speedup = compare(&base, &candidate, &options);
    assert_int_equal(row_of(&speedup, "mine")->verdict, VERDICT_PASS);
    comparison_release(&time);
    comparison_release(&speedup);
    timings_release(&base);
    timings_release(&candidate);
}

static void unknown_work(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    for (int i = 0; i < 6; i++)
        base->rows[i].bytes = candidate->rows[i].bytes = NAN;
}

TEST(work_that_nobody_stated_is_no_other_work)
{
    assert_int_equal(judged(unknown_work, 1).verdict, VERDICT_PASS);
}

/* In its last launch only. */
static void restated_work(struct timings *base, struct timings *candidate,
                          struct compare_options *options)
{
    (void)base, (void)options;
    candidate->rows[5].bytes += 1;
}

TEST(other_work_in_any_launch_is_the_candidate_s_doing)
{
    struct comparison_row row = judged(restated_work, 1.2);
    assert_int_equal(row.verdict, VERDICT_INCOMPARABLE);
    assert_true(row.tags & TAG_REDEFINED);
    assert_non_null(strstr(row.reason, "(8 bytes, 0 operations; now 9, 0)"));
}

/* Both sides have the case in their first launch only, and the plans name it in all six. */
static void lost_on_both_sides(struct timings *base, struct timings *candidate,
                               struct compare_options *options)
{
    struct timings *sides[] = {base, candidate};
    options->presence = PRESENT_IN_PAIRS;
    for (int s = 0; s < 2; s++) {
        sides[s]->lost = calloc(5, sizeof *sides[s]->lost);
        for (int i = 1; i < 6; i++)
            sides[s]->lost[sides[s]->lost_count++] = (struct lost_case){sides[s]->rows[0].id, i};
        sides[s]->count = 1;
    }
}

TEST(what_both_sides_lose_is_missing)
{
    struct comparison_row row = judged(lost_on_both_sides, 1);
    assert_int_equal(row.verdict, VERDICT_MISSING);
    assert_string_equal(row.reason, "the candidate does not have it in 5 of 6 launches");
}

TEST(every_tested_case_has_its_p_and_what_it_could_find)
{
    struct comparison_row row = judged(nothing, 1.05);
    assert_true(fabs(row.p_slower - 1.0 / 924) < 1e-12); /* 12 over 6 ways, one as extreme */
    assert_true(fabs(row.p_faster - 1) < 1e-12);
    assert_true(row.mde > row.floor && row.mde < 0.03);
}

TEST(options_that_nobody_gave_are_zero)
{
    const struct compare_options nothing_said = {0};
    struct timings base, candidate;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1050);
    struct comparison comparison = compare(&base, &candidate, &nothing_said);
    assert_true(comparison.rows[0].threshold == COMPARE_STEADY_THRESHOLD);
    assert_true(isnan(comparison.fdr));
    assert_int_equal(comparison.rows[0].verdict, VERDICT_REGRESSED);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

/* The first `noisy` of six launches of the candidate are known to 20 % only. */
static void be_noisy(struct timings *candidate, int noisy)
{
    for (int i = 0; i < noisy; i++) {
        candidate->rows[i].lo_ns = 0.8 * candidate->rows[i].time_ns;
        candidate->rows[i].hi_ns = 1.2 * candidate->rows[i].time_ns;
    }
    for (int i = 0; i < candidate->run.launch_count; i++)
        surroundings_init(&candidate->run.launches[i].around);
}

static void half_noisy(struct timings *base, struct timings *candidate,
                       struct compare_options *options)
{
    (void)base, (void)options;
    be_noisy(candidate, 3);
}

static void fewer_noisy(struct timings *base, struct timings *candidate,
                        struct compare_options *options)
{
    (void)base, (void)options;
    be_noisy(candidate, 2);
}

static void noisy_base_under_load(struct timings *base, struct timings *candidate,
                                  struct compare_options *options)
{
    (void)candidate, (void)options;
    be_noisy(base, 6);
    base->run.launches[1].around = (struct surroundings){
        .processors = 2, .start_load = 9, .end_load = 1, .other_share = NAN, .steal_share = NAN};
}

TEST(noisy_times_prove_a_change_and_nothing_else)
{
    struct comparison_row row = judged(half_noisy, 1);
    assert_int_equal(row.verdict, VERDICT_UNSTABLE);
    assert_string_equal(row.reason, "noisy: no cause was seen");
    assert_int_equal(judged(fewer_noisy, 1).verdict, VERDICT_PASS);
    assert_int_equal(judged(half_noisy, 1.5).verdict, VERDICT_REGRESSED);
    assert_int_equal(judged(half_noisy, 1 / 1.5).verdict, VERDICT_IMPROVED);
    row = judged(noisy_base_under_load, 1);
    assert_int_equal(row.verdict, VERDICT_UNSTABLE);
    assert_string_equal(row.reason, "noisy: load 9.0 on 2 processors");
}

static void noisy_and_unchecked(struct timings *base, struct timings *candidate,
                                struct compare_options *options)
{
    (void)base, (void)options;
    be_noisy(candidate, 6);
    for (int i = 0; i < candidate->count; i++)
        candidate->rows[i].status = STATUS_UNCHECKED;
}

TEST(an_unchecked_time_can_be_noisy_too)
{
    assert_int_equal(judged(noisy_and_unchecked, 1).verdict, VERDICT_UNSTABLE);
}

static void noisy_by_less_than_the_threshold(struct timings *base, struct timings *candidate,
                                             struct compare_options *options)
{
    options->threshold = 0.5;
    be_noisy(candidate, 6);
}

TEST(noise_below_the_floor_leaves_a_pass)
{
    assert_int_equal(judged(noisy_by_less_than_the_threshold, 1).verdict, VERDICT_PASS);
}

TEST(noise_is_unstable_with_one_launch_too)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 1, 1000);
    fill(&candidate, "b", 1, 1100);
    be_noisy(&candidate, 1);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_UNSTABLE);
    comparison_release(&comparison);
    candidate.rows[0].time_ns = 2000; /* the intervals are apart */
    be_noisy(&candidate, 1);
    comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_SUSPECT);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}
