/* test_view_select.c - which rows of a run are shown, and in which order. */
#include "base/error.h"
#include "base/text.h"
#include "tests/view_fixture.h"

static const char small[] = "n=5000", large[] = "n=50000";

static int setup(void **state)
{
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "copy", small, "memcpy", 4000);
    fake_case(&fake, 0, "copy", small, "slow", 9000);
    fake_case(&fake, 0, "copy", small, "alpha", 5000);
    fake_failure(&fake, 0, "copy", small, "broken", STATUS_WRONG, "code[1] is 2");
    fake_case(&fake, 0, "copy", large, "slow", 6000);
    fake_case(&fake, 0, "copy", large, "alpha", 7000)->work.write_bytes = 100e6;
    fake_baseline(&fake, 0, "only", small, "library", 8000);
    fake_failure(&fake, 0, "lost", small, "broken", STATUS_CRASHED, "");
    return view_make(&view, &fake.run);
}

/* The rows shown, as "slow/5000 ...". */
static void assert_shown(struct view_selection selection, const char *expected)
{
    char text[512] = "";
    int count = 0;
    int shown = view_select(&view, &selection);
    for (int i = 0; i < view.count; i++) {
        const struct case_id *id = &view.rows[i].result.id;
        if (view.rows[i].is_hidden) continue;
        text_add(text, sizeof text, " ", "%s/%s", id->variant, id->shape + 2);
        count++;
    }
    assert_string_equal(text, expected);
    assert_int_equal(shown, count);
}

TEST_WITH(without_a_selection_rows_are_as_measured, setup, release)
{
    assert_shown((struct view_selection){0},
                 "memcpy/5000 alpha/5000 slow/5000 broken/5000 slow/50000 alpha/50000 library/5000 "
                 "broken/5000");
}

TEST_WITH(a_filter_is_a_pattern_of_cases, setup, release)
{
    assert_shown((struct view_selection){.filter = "copy/alpha,only"},
                 "alpha/5000 alpha/50000 library/5000");
}

TEST_WITH(a_filter_knows_shapes, setup, release)
{
    assert_shown((struct view_selection){.filter = "copy n=50000 cold"}, "slow/50000 alpha/50000");
}

TEST_WITH(a_filter_that_matches_nothing_shows_nothing, setup, release)
{
    assert_shown((struct view_selection){.filter = "nothing"}, "");
}

TEST_WITH(rows_are_sorted_within_their_group, setup, release)
{
    assert_shown((struct view_selection){.sort = "name", .filter = "copy"},
                 "alpha/5000 memcpy/5000 slow/5000 broken/5000 alpha/50000 slow/50000");
}

TEST_WITH(the_highest_rate_is_first, setup, release)
{
    assert_shown((struct view_selection){.sort = "rate", .filter = "copy n=50000"},
                 "alpha/50000 slow/50000");
}

TEST_WITH(the_highest_speedup_is_first_and_what_has_none_last, setup, release)
{
    view.rows[0].speedup.mid = NAN; /* that of memcpy */
    assert_shown((struct view_selection){.sort = "speedup", .filter = "copy n=5000"},
                 "alpha/5000 slow/5000 memcpy/5000 broken/5000");
}

TEST_WITH(the_best_of_a_group_is_its_fastest_kernel, setup, release)
{
    assert_shown((struct view_selection){.best = true}, "alpha/5000 slow/50000 library/5000");
}

TEST_WITH(the_best_are_sorted_over_groups, setup, release)
{
    view.rows[4].ceiling_fraction = 0.7; /* slow, n=50000 */
    view.rows[1].ceiling_fraction = 0.4; /* alpha, n=5000 */
    assert_shown((struct view_selection){.best = true, .sort = "ceiling"},
                 "slow/50000 alpha/5000 library/5000");
}

TEST_WITH(the_best_are_those_that_the_filter_left, setup, release)
{
    assert_shown((struct view_selection){.best = true, .filter = "copy/slow"},
                 "slow/5000 slow/50000");
}

TEST_WITH(an_unknown_key_is_an_error, setup, release)
{
    const struct view_selection selection = {.sort = "luck"};
    assert_int_equal(view_select(&view, &selection), -1);
    assert_non_null(strstr(assay_last_error(), "luck"));
}
