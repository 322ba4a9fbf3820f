/* test_suite_threshold.c - what the text of a suite says about thresholds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "suite/suite_threshold.h"

static const char text[] = "; threshold = 50\n"
                           "[suite]\n"
                           "title = threshold = 60\n"
                           "threshold = 3\n"
                           "\n"
                           "[group plain]\n"
                           "operation = copy\n"
                           "[group  noisy one ] ; near the clock's step\n"
                           "threshold=20 ; per cent\n"
                           "[group twice]\n"
                           "threshold = 7\n"
                           "\n; included: other\n"
                           "[suite]\n"
                           "threshold = 4\n"
                           "[group theirs]\n"
                           "operation = copy\n"
                           "[group twice]\n"
                           "threshold = 6\n"
                           "\n; included: bare\n"
                           "[group heir]";

static void near(const struct suite_thresholds *thresholds, const char *group, double percent)
{
    double found = suite_threshold_of(thresholds, group);
    if (!(fabs(100 * found - percent) < 1e-9))
        fail_msg("%s has %g %%, not %g %%", group, 100 * found, percent);
}

static void a_group_has_its_own_else_that_of_its_file_else_that_of_the_suite(void **state)
{
    struct suite_thresholds thresholds;
    (void)state;
    assert_int_equal(suite_thresholds_read(&thresholds, text), 0);
    near(&thresholds, "plain", 3);
    near(&thresholds, "noisy one", 20);
    near(&thresholds, "theirs", 4);
    near(&thresholds, "heir", 3);
    suite_thresholds_release(&thresholds);
}

static void of_two_groups_of_one_label_the_smaller_holds(void **state)
{
    struct suite_thresholds thresholds;
    (void)state;
    assert_int_equal(suite_thresholds_read(&thresholds, text), 0);
    near(&thresholds, "twice", 6);
    suite_thresholds_release(&thresholds);
}

static void a_second_suite_in_a_row_is_another_file(void **state)
{
    struct suite_thresholds thresholds;
    (void)state;
    assert_int_equal(suite_thresholds_read(&thresholds, "[suite]\nthreshold = 3\n[group a]\n"
                                                        "[suite]\nthreshold = 4\n[group b]\n"),
                     0);
    near(&thresholds, "a", 3);
    near(&thresholds, "b", 4);
    suite_thresholds_release(&thresholds);
}

static void a_claim_is_a_group_of_its_file(void **state)
{
    struct suite_thresholds thresholds;
    (void)state;
    assert_int_equal(suite_thresholds_read(&thresholds,
                                           "[suite]\nthreshold = 3\n[claim D1]\nclaimed = 2\n"
                                           "[group after]\noperation = copy\n"),
                     0);
    near(&thresholds, "D1", 3);
    near(&thresholds, "after", 3);
    suite_thresholds_release(&thresholds);
}

static void where_nothing_is_said_there_is_none(void **state)
{
    static const char *const texts[] = {NULL,
                                        "",
                                        "\n\n",
                                        "[group a]",
                                        "threshold = 3",
                                        "[suite]\n[group a]\nthreshold\nthreshold = x\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct suite_thresholds thresholds;
        assert_int_equal(suite_thresholds_read(&thresholds, texts[i]), 0);
        assert_true(isnan(suite_threshold_of(&thresholds, "a")));
        assert_true(isnan(suite_threshold_of(&thresholds, "")));
        suite_thresholds_release(&thresholds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_has_its_own_else_that_of_its_file_else_that_of_the_suite),
        cmocka_unit_test(of_two_groups_of_one_label_the_smaller_holds),
        cmocka_unit_test(a_second_suite_in_a_row_is_another_file),
        cmocka_unit_test(a_claim_is_a_group_of_its_file),
        cmocka_unit_test(where_nothing_is_said_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
