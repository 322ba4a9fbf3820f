/* test_view_group.c - the cases of a run by group. */

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "show/view.h"

enum { CASES = 12 };

static struct stored_case cases[CASES];
static struct stored_run run;

static struct stored_case *one(const char *operation, const char *shape, const char *label)
{
    struct stored_case *made = &cases[run.case_count++];
    memset(made, 0, sizeof *made);
    strcpy(made->result.id.operation, operation);
    strcpy(made->result.id.shape, shape);
    strcpy(made->group_label, label);
    return made;
}

/* The number of the group that has a case. */
static int group_of(const struct view_groups *groups, const struct stored_case *stored)
{
    for (int g = 0; g < groups->count; g++)
        for (int i = 0; i < groups->group[g].count; i++)
            if (groups->group[g].item[i] == stored) return g;
    return -1;
}

static int begin(void **state)
{
    run = (struct stored_run){.cases = cases};
    return 0;
}

TEST_WITH(groups_are_numbered_as_their_first_cases_stand_in_the_run, begin, NULL)
{
    struct view_groups groups;
    const char *const shapes[] = {"n=9", "n=1", "n=9", "n=5", "n=1"};
    for (int i = 0; i < 5; i++)
        one("copy", shapes[i], "");
    assert_int_equal(view_groups_make(&groups, &run), 0);
    assert_int_equal(groups.count, 3);
    const int numbers[] = {0, 1, 0, 2, 1};
    for (int i = 0; i < 5; i++)
        assert_int_equal(group_of(&groups, &cases[i]), numbers[i]);
    view_groups_release(&groups);
}

TEST_WITH(a_group_has_its_cases_in_the_order_of_the_run, begin, NULL)
{
    struct view_groups groups;
    for (int i = 0; i < CASES; i++)
        one("copy", i % 3 == 1 ? "n=1" : "n=2", "");
    assert_int_equal(view_groups_make(&groups, &run), 0);
    const struct view_group second = groups.group[1];
    assert_int_equal(second.count, 4);
    for (int i = 0; i < second.count; i++)
        assert_ptr_equal(second.item[i], &cases[3 * i + 1]);
    assert_int_equal(groups.group[0].count, CASES - 4);
    view_groups_release(&groups);
}

/* Each with what tells it from the first. */
TEST_WITH(operation_shape_temperature_purpose_and_label_tell_groups_apart, begin, NULL)
{
    struct view_groups groups;
    one("copy", "n=1", "a");
    one("fill", "n=1", "a");
    one("copy", "n=2", "a");
    one("copy", "n=1", "b");
    one("copy", "n=1", "a")->result.id.temperature = ASSAY_HOT;
    one("copy", "n=1", "a")->purpose = PURPOSE_CEILING;
    assert_int_not_equal(cases[0].result.id.temperature, ASSAY_HOT);
    assert_int_not_equal(cases[0].purpose, PURPOSE_CEILING);
    assert_int_equal(view_groups_make(&groups, &run), 0);
    assert_int_equal(groups.count, 6);
    view_groups_release(&groups);
}

TEST_WITH(variant_place_and_launch_do_not, begin, NULL)
{
    struct view_groups groups;
    one("copy", "n=1", "a");
    strcpy(one("copy", "n=1", "a")->result.id.variant, "other");
    one("copy", "n=1", "a")->result.id.place = ASSAY_HOST;
    strcpy(one("copy", "n=1", "a")->launch_id, "second");
    assert_int_equal(view_groups_make(&groups, &run), 0);
    assert_int_equal(groups.count, 1);
    view_groups_release(&groups);
}

TEST_WITH(a_run_without_cases_has_no_groups, begin, NULL)
{
    struct view_groups groups;
    assert_int_equal(view_groups_make(&groups, &run), 0);
    assert_int_equal(groups.count, 0);
    view_groups_release(&groups);
}
