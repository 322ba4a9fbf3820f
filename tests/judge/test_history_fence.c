/* test_history_fence.c - how far a case moves from run to run by itself. */
#include <math.h>

#include "tests/test.h"
#include "judge/history.h"

enum { MOST = 300 };

/* Points whose neighbours differ by the steps, up and down in turns. */
static struct history_series series_of(struct history_point *points, const double *steps, int count)
{
    double level = log(1000);
    points[0] = (struct history_point){.time_ns = 1000};
    for (int i = 0; i < count; i++) {
        level += i % 2 ? -steps[i] : steps[i];
        points[i + 1] = (struct history_point){.run = i + 1, .time_ns = exp(level)};
    }
    return (struct history_series){.points = points, .point_count = count + 1};
}

TEST(the_fence_is_three_quartile_ranges_above_the_third_and_further_where_few_are_known)
{
    static const double steps[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06,
                                   0.07, 0.08, 0.09, 0.10, 0.11};
    struct history_point points[MOST];
    struct history_series series = series_of(points, steps, 11);
    /* q1 0.035, q3 0.085 */
    assert_true(fabs(history_fence(&series, 0) - expm1((0.085 + 3 * 0.05) * (1 + 10 / 11.0))) <
                1e-9);
}

TEST(a_single_jump_does_not_raise_it)
{
    double steps[20];
    struct history_point points[MOST];
    for (int i = 0; i < 20; i++)
        steps[i] = i == 10 ? 0.5 : 0.01;
    struct history_series series = series_of(points, steps, 20);
    assert_true(fabs(history_fence(&series, 0) - expm1(0.015)) < 1e-9);
}

TEST(fewer_than_ten_changes_make_none)
{
    static const double steps[10] = {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01};
    struct history_point points[MOST];
    struct history_series series = series_of(points, steps, 9);
    assert_true(isnan(history_fence(&series, 0)));
    series = series_of(points, steps, 10);
    assert_false(isnan(history_fence(&series, 0)));
}

TEST(points_of_another_setting_are_not_neighbours)
{
    double steps[40];
    struct history_point points[MOST];
    for (int i = 0; i < 40; i++)
        steps[i] = 0.2;
    struct history_series series = series_of(points, steps, 40);
    for (int i = 1; i < 41; i += 2)
        points[i].setting = 1; /* all that are high */
    assert_true(fabs(history_fence(&series, 0)) < 1e-9);
    assert_true(isnan(history_fence(&series, 2)));
}

TEST(only_the_newest_hundred_changes_count)
{
    double steps[250];
    struct history_point points[MOST];
    for (int i = 0; i < 250; i++)
        steps[i] = i < 150 ? 0.3 : 0.01;
    struct history_series series = series_of(points, steps, 250);
    assert_true(fabs(history_fence(&series, 0) - expm1(0.011)) < 1e-9);
}
