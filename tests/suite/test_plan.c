/* test_plan.c - a suite multiplied out for a device. */
#include "plan_fixture.h"

/* ------------------------------------------------------------- multiplied -- */

TEST(dims_multiply_in_the_order_written_the_first_slowest)
{
    struct plan plan = make("[group a]\noperation = scale\ninput = *\nn = 4, 8\n"
                            "temperature = cold, hot\n",
                            &fake_host, &whole);
    expect_groups(&plan, "scale n=4 input=fp32 cold\nscale n=4 input=fp32 hot\n"
                         "scale n=8 input=fp32 cold\nscale n=8 input=fp32 hot\n"
                         "scale n=4 input=bf16 cold\nscale n=4 input=bf16 hot\n"
                         "scale n=8 input=bf16 cold\nscale n=8 input=bf16 hot\n");
    plan_release(&plan);
}

TEST(dims_that_are_not_named_have_their_fallback)
{
    struct plan plan = make("[group a]\noperation = scale\n", &fake_host, &whole);
    expect_groups(&plan, "scale n=1000 input=fp32 cold\n");
    assert_string_equal(plan.suite, "p");
    assert_string_equal(plan.groups[0].label, "a");
    assert_int_equal(plan.groups[0].purpose, PURPOSE_CASE);
    plan_release(&plan);
}

TEST(a_shape_named_twice_is_measured_once_with_all_its_variants)
{
    struct plan plan = make("[group a]\noperation = scale\nn = 4, 8\nvariants = fast\n"
                            "[group b]\noperation = scale\nn = 8\nvariants = fast, wide\n",
                            &fake_host, &whole);
    assert_int_equal(plan.count, 2);
    expect_variants(&plan.groups[0], "fast");
    expect_variants(&plan.groups[1], "fast wide");
    assert_string_equal(plan.groups[1].label, "a");
    plan_release(&plan);
}

TEST(settings_come_from_the_options_then_the_group_then_the_suite)
{
    const char *text = "[suite]\nbudget = 0.2\nprecision = 1\ntimeout = 9\n"
                       "[group a]\noperation = scale\nbudget = 0.3\nenergy = 2\n"
                       "[group b]\noperation = scale\nn = 4\n";
    struct plan plan = make(text, &fake_host, &whole);
    assert_float_equal(plan.groups[0].budget_s, 0.3, 0);
    assert_float_equal(plan.groups[1].budget_s, 0.2, 0);
    assert_float_equal(plan.groups[0].precision_pct, 1, 0);
    assert_float_equal(plan.groups[0].energy_s, 2, 0);
    assert_float_equal(plan.groups[1].energy_s, 0, 0);
    assert_float_equal(plan.groups[1].timeout_s, 9, 0);
    plan_release(&plan);
    plan = make(text, &fake_host, &(struct plan_options){.budget_s = 7, .precision_pct = 3});
    assert_float_equal(plan.groups[0].budget_s, 7, 0);
    assert_float_equal(plan.groups[1].precision_pct, 3, 0);
    plan_release(&plan);
}

/* --------------------------------------------------------------- variants -- */

/* "a 3, b 20": the thresholds of a plan's groups, in per cent; 0: none. */
static void expect_thresholds(const char *text, const char *expected)
{
    struct plan plan = make(text, &fake_host, &whole);
    char found[512] = "";
    for (int i = 0; i < plan.count; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s %g", i ? ", " : "", plan.groups[i].label,
                 plan.groups[i].threshold_pct);
    }
    assert_string_equal(found, expected);
    plan_release(&plan);
}

TEST(a_group_has_its_own_threshold_else_that_of_its_file_else_that_of_the_suite)
{
    write_suite("other.ini", "[suite]\nthreshold = 4\n[group theirs]\noperation = scale\nn = 5\n"
                             "[group twice]\noperation = scale\nn = 6\nthreshold = 6\n");
    write_suite("bare.ini", "[group heir]\noperation = scale\nn = 7\n");
    expect_thresholds("; threshold = 50\n[suite]\ntitle = threshold = 60\nthreshold = 3\n"
                      "include = other, bare\n"
                      "[group plain]\noperation = scale\nn = 2\n"
                      "[group  noisy one ] ; near the clock's step\noperation = scale\nn = 3\n"
                      "threshold=20 ; per cent\n"
                      "[group twice]\noperation = scale\nn = 4\nthreshold = 7\n",
                      "theirs 4, twice 6, heir 3, plain 3, noisy one 20, twice 7");
    expect_thresholds("[group a]\noperation = scale\n", "a 0");
}

TEST(wrong_answers_are_expected_of_the_variants_that_the_own_group_names)
{
    struct plan plan = make("[group a]\noperation = scale\nn = 4, 8\nvariants = fast\n"
                            "[group b]\noperation = scale\nn = 8, 16\nvariants = fast, wide\n"
                            "expect_wrong = fast, w* ; both\n"
                            "[group c]\noperation = scale\nn = 32\nvariants = fast, wide\n"
                            "expect_wrong = fast ; not wide\n",
                            &fake_host, &whole);
    static const bool expected[4][2] = {{false, false}, {false, true}, {true, true}, {true, false}};
    assert_int_equal(plan.count, 4);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < plan.groups[i].variant_count; j++)
            assert_int_equal(plan.groups[i].expect_wrong[j], expected[i][j]);
    expect_variants(&plan.groups[1], "fast wide");
    plan_release(&plan);
}

TEST(only_variants_of_the_device_are_taken)
{
    const char *text = "[group a]\noperation = scale\n";
    struct plan plan = make(text, &fake_host, &whole);
    expect_variants(&plan.groups[0], "plain library fast wide");
    plan_release(&plan);
    struct device_info new_gpu = fake_cuda;
    new_gpu.compute_capability = new_gpu.card.sm = 90;
    new_gpu.card.arch_specific = true;
    plan = make(text, &new_gpu, &whole);
    expect_variants(&plan.groups[0], "fast tma");
    plan_release(&plan);
}

TEST(what_cannot_run_is_skipped_with_its_reason)
{
    const char *text = "[group a]\noperation = scale\nn = 13, 14\nvariants = fast, wide, tma\n";
    struct plan plan = make(text, &fake_host, &whole);
    expect_variants(&plan.groups[0], "fast(n = 13 is unlucky) wide(n = 13 is unlucky)");
    expect_variants(&plan.groups[1], "fast wide(n is not a multiple of 4)");
    plan_release(&plan);
    plan = make(text, &fake_cuda, &whole);
    expect_variants(&plan.groups[1], "fast tma(needs compute capability 9.0, the device has 8.0)");
    plan_release(&plan);
    struct device_info newer = fake_cuda;
    newer.compute_capability = 100;
    plan = make(text, &newer, &whole);
    expect_variants(&plan.groups[1],
                    "fast tma(for compute capability 9.0 at most, the device has 10.0)");
    plan_release(&plan);
}

TEST(a_shape_larger_than_the_memory_is_skipped)
{
    struct device_info small = fake_host;
    small.memory_bytes = 16 << 20;
    struct plan plan =
        make("[group a]\noperation = scale\nn = 1Mi, 4Mi\nvariants = fast\n", &small, &whole);
    expect_variants(&plan.groups[0], "fast");
    expect_variants(&plan.groups[1], "fast(needs 21.5 MiB, the device has 16.0 MiB)");
    plan_release(&plan);
    small.memory_bytes = 4 << 20;
    plan = make("[group a]\noperation = scale\nn = 1Mi\nvariants = fast\n", &small, &whole);
    expect_variants(&plan.groups[0], "fast(needs 6.50 MiB, the device has 4.00 MiB)");
    plan_release(&plan);
}

TEST(groups_of_another_device_or_without_variants_here_are_left_out)
{
    const char *text = "[group a]\noperation = product\n"
                       "[group b]\noperation = scale\ndevice = cuda\n"
                       "[group c]\noperation = stream\ndevice = host\n";
    struct plan plan = make(text, &fake_host, &whole);
    expect_groups(&plan, "product m=64 k=64 cold\nstream bytes=1048576 mix=read cold\n");
    plan_release(&plan);
    plan = make(text, &fake_cuda, &whole);
    expect_groups(&plan, "scale n=1000 input=fp32 cold\n");
    plan_release(&plan);
    expect_error("[group a]\noperation = product\n", &fake_cuda, &whole,
                 "p.ini:1: nothing in the suite is for the device cuda");
}

TEST(a_baseline_of_the_suites_choice_is_measured_too)
{
    const char *text = "[group a]\noperation = scale\nvariants = wide\nbaseline = plain\n";
    struct plan plan = make(text, &fake_host, &whole);
    expect_variants(&plan.groups[0], "plain wide");
    assert_string_equal(plan.groups[0].baseline, "plain");
    plan_release(&plan);
    plan = make(text, &fake_host, &(struct plan_options){.filter = "scale/wide"});
    assert_string_equal(plan.groups[0].baseline, "");
    plan_release(&plan);
}

/* --------------------------------------------------------------- selection -- */

static const char several[] = "[group a]\noperation = scale\nn = 1..16*2\n"
                              "[group b]\noperation = stream\nmix = *\n";

TEST(a_filter_is_a_glob_on_operation_and_variant)
{
    struct plan_options options = whole;
    options.filter = "scale/[fw]*";
    struct plan plan = make(several, &fake_host, &options);
    assert_int_equal(plan.count, 5);
    expect_variants(&plan.groups[0], "fast wide(n is not a multiple of 4)");
    expect_variants(&plan.groups[2], "fast wide");
    plan_release(&plan);
    options.filter = "stream/*";
    plan = make(several, &fake_host, &options);
    assert_int_equal(plan.count, 3);
    plan_release(&plan);
}

TEST(a_filter_with_a_blank_names_shape_and_temperature_too)
{
    struct plan_options options = whole;
    options.filter = "scale/fast *n=4 * cold";
    struct plan plan = make(several, &fake_host, &options);
    expect_groups(&plan, "scale n=4 input=fp32 cold\n");
    expect_variants(&plan.groups[0], "fast");
    plan_release(&plan);
    options.filter = "scale/fast n=2 input=fp32 cold,scale/wide n=4 input=fp32 cold";
    plan = make(several, &fake_host, &options);
    expect_groups(&plan, "scale n=2 input=fp32 cold\nscale n=4 input=fp32 cold\n");
    expect_variants(&plan.groups[0], "fast");
    expect_variants(&plan.groups[1], "wide");
    plan_release(&plan);
    options.filter = "* hot";
    expect_error(several, &fake_host, &options,
                 "nothing in suite 'p' matches the filter '* hot' (a glob on operation/variant; "
                 "operations here: scale, stream)");
}

TEST(what_is_expected_wrong_stays_so_behind_a_filter)
{
    const char *text = "[group a]\noperation = scale\nn = 4\nexpect_wrong = plain\n";
    const struct {
        const char *filter, *variants;
        bool wrong;
    } cases[] = {{"scale/plain", "plain", true}, {"scale/wide", "wide", false}};
    for (int i = 0; i < 2; i++) {
        struct plan_options options = whole;
        options.filter = cases[i].filter;
        struct plan plan = make(text, &fake_host, &options);
        expect_variants(&plan.groups[0], cases[i].variants);
        assert_int_equal(plan.groups[0].expect_wrong[0], cases[i].wrong);
        plan_release(&plan);
    }
}

TEST(a_filter_that_matches_nothing_gets_a_suggestion)
{
    struct plan_options options = whole;
    options.filter = "sclae/*";
    expect_error(several, &fake_host, &options,
                 "nothing in suite 'p' matches the filter 'sclae/*' (did you mean 'scale/*'?)");
    options.filter = "sclae/fats n=2";
    expect_error(several, &fake_host, &options,
                 "nothing in suite 'p' matches the filter 'sclae/fats n=2' (did you mean "
                 "'scale/fast'?)");
    options.filter = "scale n=3";
    expect_error(several, &fake_host, &options,
                 "nothing in suite 'p' matches the filter 'scale n=3' (scale is there with n=1 "
                 "input=fp32 cold, n=2 input=fp32 cold and 3 more)");
    options.filter = "fast";
    expect_error(several, &fake_host, &options,
                 "nothing in suite 'p' matches the filter 'fast' (a glob on operation/variant; "
                 "operations here: scale, stream)");
}

TEST(more_groups_than_a_plan_holds_are_an_error)
{
    expect_error("[group a]\noperation = product\nm = 1..4000+1\nk = 1, 2\n", &fake_host, &whole,
                 "p.ini:1: a plan has at most 4096 groups");
}

/* ---------------------------------------------------------------- ceilings -- */

static const char all_ceilings[] =
    "[group memory]\noperation = stream\nbytes = vram\nmix = *\n"
    "[group cache]\noperation = stream\nbytes = l2\nmix = *\ntemperature = hot\n"
    "[group fp32]\noperation = product\nm = 512\nk = 512\n"
    "[group no ceiling]\noperation = scale\n";

TEST(ceilings_that_the_groups_need_come_in_front_and_are_brief)
{
    struct plan_options options = whole;
    write_suite("ceilings.ini", all_ceilings);
    options.with_ceilings = true;
    struct plan plan = make("[group a]\noperation = scale\nn = 4\n", &fake_host, &options);
    expect_groups(&plan, "stream bytes=268435456 mix=r4w1 cold\n" /* 4 read, 1 written */
                         "product m=512 k=512 cold\n"
                         "scale n=4 input=fp32 cold\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plan.groups[i].purpose, PURPOSE_CEILING);
        assert_float_equal(plan.groups[i].budget_s, 0.08, 1e-12);
    }
    expect_variants(&plan.groups[0], "omp"); /* one that cannot run is no ceiling */
    assert_int_equal(plan.groups[2].purpose, PURPOSE_CASE);
    plan_release(&plan);

    plan = make("[group a]\noperation = scale\nn = 4\ntemperature = hot\n", &fake_host, &options);
    expect_groups(&plan, "stream bytes=8388608 mix=r4w1 hot\n"
                         "product m=512 k=512 cold\n"
                         "scale n=4 input=fp32 hot\n");
    plan_release(&plan);
}

TEST(a_ceiling_that_is_a_case_already_is_not_measured_twice)
{
    struct plan_options options = whole;
    write_suite("ceilings.ini", all_ceilings);
    options.with_ceilings = true;
    struct plan plan = make(all_ceilings, &fake_host, &options);
    assert_int_equal(plan.count, 8);
    for (int i = 0; i < plan.count; i++)
        assert_int_equal(plan.groups[i].purpose, PURPOSE_CASE);
    plan_release(&plan);
}

TEST(cases_that_do_not_run_need_no_ceiling)
{
    struct plan_options options = whole;
    write_suite("ceilings.ini", all_ceilings);
    options.with_ceilings = true;
    struct plan plan = make("[group a]\noperation = scale\nn = 13\n", &fake_host, &options);
    assert_int_equal(plan.count, 1);
    plan_release(&plan);
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
