/* test_view.c - rows, ratios, ceilings and the exit code. */
#include "base/exit_code.h"
#include "tests/view_fixture.h"

static const char SHAPE[] = "n=5000000 input=fp32";

/* An operation that measures a ceiling, as kernels/ceilings would have. */
static const char *fake_ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    return temperature == ASSAY_COLD ? "memory_r4w1" : NULL;
}

static const struct assay_operation fake_memory = {
    .name = "fake_memory",
    .summary = "measures a ceiling",
    .dims = {{.name = "n", .fallback = 1}},
    .ceiling = fake_ceiling,
};
ASSAY_REGISTER_OPERATION(fake_memory);

/* What a case moves over the link is not stored: its operation says so. */
static struct assay_work crossing_work(const struct assay_shape *shape)
{
    return (struct assay_work){.read_bytes = 20e6, .write_bytes = 5e6, .over_link = true};
}

static const char *link_ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    return shape->value[0] == 1 ? "link_d2h" : NULL;
}

static const struct assay_operation fake_link = {
    .name = "fake_link",
    .summary = "crosses the link; measures it where n is 1",
    .dims = {{.name = "n", .fallback = 1}},
    .work = crossing_work,
    .ceiling = link_ceiling,
};
ASSAY_REGISTER_OPERATION(fake_link);

#define VIEW_TEST(name) TEST_WITH(name, NULL, release)

static const struct view_row *row_named(const struct view *view, const char *variant)
{
    for (int i = 0; i < view->count; i++)
        if (!strcmp(view->rows[i].result.id.variant, variant)) return &view->rows[i];
    fail_msg("no row %s", variant);
    return NULL;
}

VIEW_TEST(ratio_is_the_time_of_the_baseline_over_the_time_of_the_row)
{
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "int8_quantize", SHAPE, "copy", 10000);
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 8000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    const struct view_row *row = row_named(&view, "fast");
    assert_float_equal(row->speedup.mid, 1.25, 1e-6);
    assert_float_equal(row->speedup.lo, 1.25, 1e-6);
    assert_string_equal(row->baseline, "copy");
}

VIEW_TEST(ratio_is_unknown_without_a_baseline_that_is_ok)
{
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "int8_quantize", SHAPE, "copy", 10000)->status = STATUS_UNSTABLE;
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 8000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_true(isnan(row_named(&view, "fast")->speedup.mid));
    assert_string_equal(row_named(&view, "fast")->baseline, "");
}

VIEW_TEST(ratio_is_taken_within_a_group)
{
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "int8_quantize", "n=1 input=fp32", "copy", 10000);
    fake_case(&fake, 0, "int8_quantize", "n=2 input=fp32", "fast", 8000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_true(isnan(row_named(&view, "fast")->speedup.mid));
    assert_int_equal(view.group_count, 2);
}

VIEW_TEST(launches_are_one_row_with_the_median_of_their_medians)
{
    static const double base[] = {10000, 20000, 30000}, fast[] = {8000, 10000, 9000};
    fake_begin(&fake, 3);
    for (int i = 0; i < 3; i++) {
        fake_baseline(&fake, i, "int8_quantize", SHAPE, "copy", base[i]);
        fake_case(&fake, i, "int8_quantize", SHAPE, "fast", fast[i]);
    }
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_int_equal(view.count, 2);
    const struct view_row *row = row_named(&view, "fast");
    assert_int_equal(row->launches, 3);
    assert_int_equal(row->samples, 3 * FAKE_ROUNDS);
    assert_float_equal(row->result.time_ns, 9000, 1e-6);
    assert_float_equal(row->result.lo_ns, 8000, 1e-6);
    assert_float_equal(row->result.hi_ns, 10000, 1e-6);
    /* 1.25, 2, 3.33: each launch against its own baseline. */
    assert_float_equal(row->speedup.mid, 2, 1e-6);
    assert_float_equal(row->speedup.lo, 1.25, 1e-6);
}

VIEW_TEST(a_launch_with_another_baseline_does_not_enter_the_ratio)
{
    fake_begin(&fake, 2);
    fake_baseline(&fake, 0, "int8_quantize", SHAPE, "copy", 10000);
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 5000);
    fake_baseline(&fake, 1, "int8_quantize", SHAPE, "other", 90000);
    fake_case(&fake, 1, "int8_quantize", SHAPE, "fast", 5000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_float_equal(row_named(&view, "fast")->speedup.mid, 2, 1e-6);
}

VIEW_TEST(a_case_that_was_wrong_in_one_launch_is_wrong)
{
    fake_begin(&fake, 2);
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 8000);
    fake_failure(&fake, 1, "int8_quantize", SHAPE, "fast", STATUS_WRONG, "element 7");
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_int_equal(view.rows[0].result.status, STATUS_WRONG);
    assert_string_equal(view.rows[0].result.reason, "element 7");
    assert_true(isnan(view.rows[0].rate));
}

VIEW_TEST(rows_go_by_time_and_failures_last_worst_first)
{
    static const char *const expected[] = {"fast", "slow", "bad", "dead", "absent"};
    fake_begin(&fake, 1);
    fake_failure(&fake, 0, "int8_quantize", SHAPE, "absent", STATUS_SKIPPED, "needs sm_90");
    fake_failure(&fake, 0, "int8_quantize", SHAPE, "dead", STATUS_CRASHED, "signal 11");
    fake_case(&fake, 0, "int8_quantize", SHAPE, "slow", 9000);
    fake_failure(&fake, 0, "int8_quantize", SHAPE, "bad", STATUS_WRONG, "element 7");
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 8000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    for (int i = 0; i < 5; i++)
        assert_string_equal(view.rows[i].result.id.variant, expected[i]);
}

VIEW_TEST(groups_keep_the_order_in_which_they_were_measured)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "zeta", "n=1", "a", 9000);
    fake_case(&fake, 0, "alpha", "n=1", "a", 8000);
    fake_case(&fake, 0, "zeta", "n=1", "b", 1000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_string_equal(view.rows[0].result.id.operation, "zeta");
    assert_string_equal(view.rows[0].result.id.variant, "b");
    assert_string_equal(view.rows[2].result.id.operation, "alpha");
}

VIEW_TEST(share_of_a_ceiling_comes_from_the_cases_that_measure_it)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "fake_memory", "n=1", "r4w1", 5000);
    fake.cases[0].purpose = PURPOSE_CEILING;
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 10000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    const struct view_row *row = row_named(&view, "fast");
    assert_string_equal(row->ceiling, "memory_r4w1");
    assert_float_equal(row->ceiling_fraction, 0.5, 1e-6);
    assert_false(row->rate_is_ops);
    assert_float_equal(row->rate, 25e6 / 10e-6, 1);
    assert_true(row_named(&view, "r4w1")->is_ceiling);
    assert_float_equal(row_named(&view, "r4w1")->ceiling_fraction, 1, 1e-6);
}

VIEW_TEST(what_crosses_the_link_is_held_against_the_link_and_not_against_memory)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "fake_memory", "n=1", "r4w1", 5000);
    fake_case(&fake, 0, "fake_link", "n=1", "pinned", 250000)->work.write_bytes = 0;
    fake_case(&fake, 0, "fake_link", "n=2", "pageable", 500000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    const struct view_row *row = row_named(&view, "pageable");
    assert_string_equal(row->ceiling, "link_d2h");
    assert_float_equal(row->ceiling_fraction, 0.5, 1e-6); /* 20 MB down; the other way is free */
    assert_float_equal(row_named(&view, "pinned")->ceiling_fraction, 1, 1e-6);
}

VIEW_TEST(a_ceiling_of_a_case_that_was_wrong_is_none)
{
    fake_begin(&fake, 1);
    fake_failure(&fake, 0, "fake_memory", "n=1", "r4w1", STATUS_WRONG, "");
    fake_case(&fake, 0, "int8_quantize", SHAPE, "fast", 10000);
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_int_equal(view.ceilings.count, 0);
    assert_string_equal(row_named(&view, "fast")->ceiling, "");
    assert_true(isnan(row_named(&view, "fast")->ceiling_fraction));
}

VIEW_TEST(much_arithmetic_a_byte_is_counted_in_operations)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "linear", "m=1", "gemm", 1e6)->work.ops[ASSAY_TF32] = 1e12;
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_true(view.rows[0].rate_is_ops);
    assert_int_equal(view.rows[0].arithmetic, ASSAY_TF32);
    assert_float_equal(view.rows[0].rate, 1e15, 1);
}

/* --------------------------------------------------------------- exit code -- */

static int exit_with(enum case_status status)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "o", "n=1", "fine", 1000);
    fake_failure(&fake, 0, "o", "n=1", "other", status, "");
    int code = view_exit_code(&fake.run);
    fake_end(&fake);
    return code;
}

TEST(exit_code_is_the_worst_outcome)
{
    assert_int_equal(exit_with(STATUS_OK), EXIT_FINE);
    assert_int_equal(exit_with(STATUS_SKIPPED), EXIT_FINE);
    assert_int_equal(exit_with(STATUS_UNSTABLE), EXIT_FINE);
    assert_int_equal(exit_with(STATUS_WRONG), EXIT_REGRESSED);
    assert_int_equal(exit_with(STATUS_CRASHED), EXIT_LOST);
    assert_int_equal(exit_with(STATUS_TIMEOUT), EXIT_LOST);
}

TEST(exit_code_of_a_run_without_a_time_is_nothing)
{
    fake_begin(&fake, 1);
    assert_int_equal(view_exit_code(&fake.run), EXIT_NOTHING);
    fake_failure(&fake, 0, "o", "n=1", "absent", STATUS_SKIPPED, "needs sm_90");
    assert_int_equal(view_exit_code(&fake.run), EXIT_NOTHING);
}

TEST(exit_code_tells_of_cases_that_are_missing)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "o", "n=1", "fine", 1000);
    fake.run.expected_count = 2;
    assert_int_equal(view_exit_code(&fake.run), EXIT_LOST);
    fake_end(&fake);
}

static int exit_with_expected(int expected, enum case_status status)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "o", "n=1", "fine", 1000);
    if (status == STATUS_OK)
        fake_case(&fake, 0, "o", "n=1", "sumsq", 1000);
    else
        fake_failure(&fake, 0, "o", "n=1", "sumsq", status, "");
    fake.cases[1].expect_wrong = expected;
    int code = view_exit_code(&fake.run);
    fake_end(&fake);
    return code;
}

TEST(a_wrong_answer_that_the_suite_expects_is_fine_and_a_right_one_is_not)
{
    assert_int_equal(exit_with_expected(1, STATUS_WRONG), EXIT_FINE);
    assert_int_equal(exit_with_expected(1, STATUS_OK), EXIT_REGRESSED);
    assert_int_equal(exit_with_expected(1, STATUS_SKIPPED), EXIT_FINE);
    assert_int_equal(exit_with_expected(1, STATUS_CRASHED), EXIT_LOST);
}

TEST(a_wrong_answer_that_nobody_is_known_to_expect_is_not_fine)
{
    for (int expected = -1; expected <= 0; expected++) {
        assert_int_equal(exit_with_expected(expected, STATUS_WRONG), EXIT_REGRESSED);
        assert_int_equal(exit_with_expected(expected, STATUS_OK), EXIT_FINE);
    }
}
