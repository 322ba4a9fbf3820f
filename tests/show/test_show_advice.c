/* test_show_advice.c - what is said of a row in words. */
#include "tests/view_fixture.h"
#include "device/counter_sets.h"
#include "device/profile.h"
#include "show/show.h"

static struct view_row *row;
static char text[1024];

static int setup(void **state)
{
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "int8_quantize", "n=5000 input=fp32", "best", 8000);
    if (view_make(&view, &fake.run)) return -1;
    row = &view.rows[0];
    strcpy(row->baseline, "library");
    row->base_kind = ASSAY_BASELINE;
    strcpy(row->ceiling, "memory_r4w1");
    row->speedup = (struct interval){.mid = 1.04, .lo = 1.03, .hi = 1.05};
    row->ceiling_fraction = 0.5;
    return 0;
}

/* ----------------------------------------------------- medians and rounds -- */

static bool contradicts(double plain)
{
    row->median_ratio = plain;
    return show_contradiction(text, sizeof text, row);
}

TEST_WITH(a_median_on_the_other_side_of_1_contradicts, setup, release)
{
    assert_true(contradicts(0.97));
    assert_non_null(strstr(text, "alone says 0.970x"));
}

TEST_WITH(a_median_within_the_interval_does_not, setup, release)
{
    assert_false(contradicts(1.031));
    row->speedup.lo = 0.9;
    assert_false(contradicts(0.95));
}

TEST_WITH(a_median_that_differs_by_little_does_not, setup, release)
{
    row->speedup = (struct interval){.mid = 1.01, .lo = 1.005, .hi = 1.02};
    assert_false(contradicts(0.995));
    assert_false(contradicts(1.08));
    assert_false(contradicts(1));
}

TEST_WITH(a_median_far_away_on_the_same_side_contradicts, setup, release)
{
    assert_true(contradicts(1.3));
}

TEST_WITH(without_a_baseline_there_is_nothing_to_contradict, setup, release)
{
    row->speedup = (struct interval){NAN, NAN, NAN};
    assert_false(contradicts(NAN));
    assert_false(contradicts(0.5));
}

/* ----------------------------------------------------------------- advice -- */

static void assert_advice(const char *expected, struct profile *const *profiles)
{
    assert_true(show_advice(text, sizeof text, &view, row, profiles));
    assert_string_equal(text, expected);
}

TEST_WITH(a_row_far_from_its_ceiling_says_how_far, setup, release)
{
    assert_advice("faster than the baseline library; bound by bandwidth (r4w1), 2.00x from it; "
                  "assay profile says what holds it (the filter is below)",
                  NULL);
}

TEST_WITH(a_ratio_whose_interval_has_1_is_neither_faster_nor_slower, setup, release)
{
    strcpy(row->ceiling, "tf32");
    row->ceiling_fraction = 0.95;
    row->speedup.lo = 0.99;
    assert_advice("as fast as the baseline library; at its limit (tf32); try: fewer operations, or "
                  "a cheaper arithmetic",
                  NULL);
}

TEST_WITH(a_short_kernel_is_not_bound_by_bandwidth, setup, release)
{
    row->speedup.lo = 0.7, row->speedup.hi = 0.9;
    fake.launches[0].device.kernel_floor_ns = 2001;
    assert_advice("slower than the baseline library; mostly its start and end; try: fuse it with "
                  "its neighbours, or replay it in a CUDA graph",
                  NULL);
    fake.launches[0].device.kernel_floor_ns = 1999;
    show_advice(text, sizeof text, &view, row, NULL);
    assert_non_null(strstr(text, "bound by bandwidth"));
}

TEST_WITH(another_baseline_that_is_faster_is_named, setup, release)
{
    const double times[] = {7000, 7900, 8100};
    const char *const names[] = {"fastest", "fast", "library"};
    view_release(&view);
    for (int i = 0; i < 3; i++)
        fake_case(&fake, 0, "int8_quantize", "n=5000 input=fp32", names[i], times[i])->id.kind =
            ASSAY_BASELINE;
    assert_int_equal(view_make(&view, &fake.run), 0);
    row = &view.rows[2];
    assert_string_equal(row->result.id.variant, "best");
    strcpy(row->baseline, "library");
    row->base_kind = ASSAY_BASELINE;
    row->speedup = (struct interval){.mid = 1.04, .lo = 1.03, .hi = 1.05};
    show_advice(text, sizeof text, &view, row, NULL);
    assert_non_null(
        strstr(text, "faster than the baseline library; the baseline fastest is faster, 1.14x; "));
    view.rows[0].result.hi_ns = 8100; /* not shown to be */
    show_advice(text, sizeof text, &view, row, NULL);
    assert_non_null(strstr(text, "the baseline fast is faster, 1.01x; "));
    view.rows[1].result.hi_ns = 8100;
    show_advice(text, sizeof text, &view, row, NULL);
    assert_null(strstr(text, "is faster"));
}

TEST_WITH(a_row_without_a_ceiling_says_so, setup, release)
{
    row->baseline[0] = row->ceiling[0] = '\0';
    row->ceiling_fraction = NAN;
    assert_advice("its ceiling was not measured in this run", NULL);
}

TEST_WITH(a_profile_knows_better_than_a_ceiling, setup, release)
{
    static struct profile profile;
    struct profile *profiles[] = {&profile};
    profile_init(&profile);
    profile.kernel_count = 2;
    profile.counter_count = 1;
    strcpy(profile.counter[0], COUNTER_DRAM);
    profile.kernels[0] = (struct profile_kernel){
        .activity = CUPTI_KERNEL, .count = 1, .busy_ns = 1000, .counter = {10}};
    profile.kernels[1] = (struct profile_kernel){
        .activity = CUPTI_KERNEL, .count = 1, .busy_ns = 7000, .counter = {91}};
    row->baseline[0] = '\0';
    assert_advice("memory: DRAM at 91 % of its peak (the longest of 2 kernels); try: move fewer "
                  "bytes: fuse passes, use a narrower type",
                  profiles);
    profiles[0] = NULL;
    show_advice(text, sizeof text, &view, row, profiles);
    assert_non_null(strstr(text, "bound by bandwidth"));
}

TEST_WITH(a_case_without_a_time_has_no_advice, setup, release)
{
    row->result.status = STATUS_WRONG;
    assert_false(show_advice(text, sizeof text, &view, row, NULL));
    assert_false(show_ncu(text, sizeof text, &fake.run, row));
}

/* -------------------------------------------------------------------- ncu -- */

TEST_WITH(ncu_gets_the_case_alone, setup, release)
{
    assert_true(show_ncu(text, sizeof text, &fake.run, row));
    assert_string_equal(text, "ncu --set full --target-processes all --nvtx \\\n"
                              "--nvtx-include 'assay@best/' \\\n"
                              "assay run int8 --check \\\n"
                              "--filter 'int8_quantize/best n=5000 input=fp32 cold'");
}

TEST_WITH(ncu_opens_kernels_of_a_real_gpu_only, setup, release)
{
    row->result.id.place = ASSAY_HOST;
    assert_false(show_ncu(text, sizeof text, &fake.run, row));
    row->result.id.place = ASSAY_CUDA;
    fake.launches[0].device.simulated = true;
    assert_false(show_ncu(text, sizeof text, &fake.run, row));
}

TEST_WITH(a_name_that_a_shell_would_take_apart_is_not_offered, setup, release)
{
    strcpy(row->result.id.variant, "it's");
    assert_false(show_ncu(text, sizeof text, &fake.run, row));
}
