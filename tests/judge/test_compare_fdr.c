/* test_compare_fdr.c - the tests of all cases corrected together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "compare_fixture.h"
#include "judge/gate_stats.h"

/* `count` cases of `launches`; the first `slowed` of them are slower by 10 %, but for one launch.
 */
static void make_slowed(struct timings *base, struct timings *candidate, int launches, int count,
                        int slowed)
{
    begin(base, "a", launches, count);
    begin(candidate, "b", launches, count);
    for (int c = 0; c < count; c++) {
        char name[16];
        snprintf(name, sizeof name, "v%03d", c);
        for (int i = 0; i < launches; i++) {
            add(base, i, name, 1000 + i);
            /* The first is in the middle of the base's, and 2 % slower. */
            double slow = i ? 1100 + i : 1.02 * (1000 + 0.5 * launches);
            add(candidate, i, name, c < slowed ? slow : 1000 + i);
        }
    }
}

static int compare_slowed(struct comparison *comparison, int launches, int count, int slowed,
                          double fdr)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.fdr = fdr;
    make_slowed(&base, &candidate, launches, count, slowed);
    int status = compare_runs(comparison, &base, &candidate, &options);
    timings_release(&base);
    timings_release(&candidate);
    return status;
}

static struct comparison slowed_cases(int count, int slowed, double fdr)
{
    struct comparison comparison;
    assert_int_equal(compare_slowed(&comparison, 7, count, slowed, fdr), 0);
    return comparison;
}

TEST(a_rate_of_false_discoveries_asks_more_of_the_few_than_of_the_many)
{
    /* Seven a side, one of them short of the others, have p = 7/3432: of 100 cases at 5 % eight
     * such make one another significant (8/100 of 5 % is 0.4 %), a single one does not. */
    struct comparison one = slowed_cases(100, 1, 0.05), eight = slowed_cases(100, 8, 0.05);
    struct comparison alone = slowed_cases(100, 1, NAN);
    assert_int_equal(alone.tally.counts[VERDICT_REGRESSED], 1);
    assert_int_equal(one.tally.counts[VERDICT_REGRESSED], 0);
    assert_int_equal(one.tally.counts[VERDICT_INCONCLUSIVE], 1);
    assert_int_equal(eight.tally.counts[VERDICT_REGRESSED], 8);
    assert_int_equal(eight.tally.counts[VERDICT_PASS], 92);
    assert_non_null(strstr(eight.note[0], "100 tests corrected together"));
    comparison_release(&one);
    comparison_release(&eight);
    comparison_release(&alone);
}

/* The nightly of 50 cases: five launches have p >= 1/252, and 5 % of 50 cases want 1/1000. */
TEST(a_rate_that_the_launches_cannot_reach_is_refused)
{
    struct comparison comparison;
    assert_int_equal(compare_slowed(&comparison, 5, 50, 1, 0.05), -1);
    assert_non_null(strstr(assay_last_error(), "one change among 50 cases"));
    assert_non_null(strstr(assay_last_error(), "--launches 7")); /* 1/3432; six have 1/924 */
    assert_int_equal(compare_slowed(&comparison, 5, 12, 1, 0.05), 0);
    comparison_release(&comparison);
}

/* What is found alone is what passes at the rate divided by the cases. */
TEST(what_a_case_could_find_follows_from_the_rate)
{
    struct comparison alone = slowed_cases(100, 0, NAN), all = slowed_cases(100, 0, 0.05);
    double before = alone.rows[0].mde, after = all.rows[0].mde;
    assert_true(after > before * 1.01);
    double level = detectable_effect(0.02, 1e-6, 0.05 / 100);
    assert_true(fabs(detectable_at(detectable_effect(0.02, 1e-6, COMPARE_ALPHA), 0.02,
                                   COMPARE_ALPHA, 0.05 / 100) -
                     level) < 1e-12);
    comparison_release(&alone);
    comparison_release(&all);
}

TEST(no_rate_turns_a_slower_case_into_a_faster_one)
{
    /* Both sides' tests are rejected at such a rate. */
    struct comparison all = slowed_cases(10, 2, 2);
    assert_int_equal(row_of(&all, "v000")->verdict, VERDICT_REGRESSED);
    assert_int_equal(row_of(&all, "v001")->verdict, VERDICT_REGRESSED);
    assert_int_equal(all.tally.counts[VERDICT_IMPROVED], 0);
    assert_int_equal(all.exit, EXIT_REGRESSED);
    comparison_release(&all);
}

/* 100 noisy cases of seven launches, one of them slower by a p-value of 7/3432: that is no
 * discovery among 100 tests, although the 99 others, being noisy, have no verdict. */
TEST(noisy_cases_count_among_the_tests)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    struct comparison comparison;
    options.fdr = 0.05;
    make_slowed(&base, &candidate, 7, 100, 1);
    for (int i = 0; i < candidate.count; i++)
        candidate.rows[i].hi_ns = 1.2 * candidate.rows[i].time_ns;
    assert_int_equal(compare_runs(&comparison, &base, &candidate, &options), 0);
    assert_int_equal(comparison.tally.counts[VERDICT_REGRESSED], 0);
    assert_int_equal(comparison.tally.counts[VERDICT_UNSTABLE], 100);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}
