/* test_profile.c - from records and counters to a profile. */
#include "tests/profile_fixture.h"

#include "device/counter_sets.h"
#include "device/profile_rules.h"

/* ---------------------------------------------------------------- records -- */

TEST(kernels_that_are_alike_are_one_row)
{
    take(&profile);
    assert_int_equal(profile.activities, 4);
    assert_int_equal(profile.kernel_count, 3);
    assert_string_equal(profile.kernels[0].name, "<a>");
    assert_int_equal(profile.kernels[0].count, 2);
    assert_true(profile.kernels[0].busy_ns == 130);
    assert_true(profile.kernels[0].min_ns == 30);
    assert_true(profile.kernels[0].max_ns == 100);
    assert_int_equal(profile.kernels[0].static_shared_bytes, 1024);
    assert_int_equal(profile.kernels[0].dynamic_shared_bytes, 512);
    assert_int_equal(profile.kernels[1].activity, CUPTI_COPY);
    assert_int_equal(profile.kernels[1].static_shared_bytes, -1);
    const int expected[RECORDS] = {0, 1, 2, 0};
    assert_memory_equal(places, expected, sizeof expected);
}

TEST(another_grid_is_another_row)
{
    struct cupti_record records[2] = {kernel("a", 10, 20, 1), kernel("a", 30, 40, 2)};
    records[1].grid[2] = 7;
    profile_init(&profile);
    profile_take_records(&profile, records, 2, plain_name, places);
    assert_int_equal(profile.kernel_count, 2);
}

TEST(gaps_are_what_no_activity_covers)
{
    take(&profile);
    assert_true(profile.span_ns == 530);
    assert_true(profile.busy_ns == 430);
    assert_true(profile.idle_ns == 50 + 100);
}

TEST(activities_beyond_the_table_are_counted)
{
    enum { MANY = PROFILE_MAX_KERNELS + 5 };
    static struct cupti_record records[MANY];
    static char names[MANY][8];
    static int many[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        records[i] = kernel(names[i], 100 * (uint64_t)i + 1, 100 * (uint64_t)i + 51, 1);
    }
    profile_init(&profile);
    profile_take_records(&profile, records, MANY, plain_name, many);
    assert_int_equal(profile.kernel_count, PROFILE_MAX_KERNELS);
    assert_int_equal(profile.left_out, 5);
    assert_int_equal(profile.activities, MANY);
    assert_true(profile.busy_ns == 50 * MANY);
    assert_int_equal(many[MANY - 1], -1);
}

TEST(kernels_of_one_call_are_a_graph)
{
    struct cupti_record records[RECORDS];
    make_records(records);
    assert_false(profile_is_graph(records, RECORDS));
    records[3].correlation = records[2].correlation;
    assert_true(profile_is_graph(records, RECORDS));
}

/* --------------------------------------------------------------- counters -- */

TEST(totals_add_up_and_shares_are_weighted_by_time)
{
    struct cupti_record records[RECORDS];
    const double values[] = {1000, 10, 500, 50, 30, 90}; /* a, b, a: in order of launch */
    make_records(records);
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_counters(&profile, records, RECORDS, places, values, 3));
    assert_true(profile.whole[0] == 1530);
    assert_true(profile.kernels[0].counter[0] == 1030);
    assert_true(profile.kernels[2].counter[0] == 500);
    assert_true(fabs(profile.kernels[0].counter[1] - (10 * 100 + 90 * 30) / 130.0) < 1e-9);
    assert_true(fabs(profile.whole[1] - (10 * 100 + 50 * 200 + 90 * 30) / 330.0) < 1e-9);
    assert_true(isnan(profile.kernels[1].counter[0])); /* a copy has none */
}

TEST(counters_follow_the_order_of_launch)
{
    struct cupti_record records[2] = {kernel("late", 10, 20, 9), kernel("early", 30, 40, 2)};
    const double values[] = {1, 0, 2, 0};
    profile_init(&profile);
    profile_take_records(&profile, records, 2, plain_name, places);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_counters(&profile, records, 2, places, values, 2));
    assert_true(profile.kernels[0].counter[0] == 2);
    assert_true(profile.kernels[1].counter[0] == 1);
}

TEST(other_ranges_than_kernels_are_refused)
{
    struct cupti_record records[RECORDS];
    const double values[8] = {0};
    make_records(records);
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FAILS(profile_take_counters(&profile, records, RECORDS, places, values, 4),
          "4 kernels where 3");
    assert_true(isnan(profile.whole[0]));
    FAILS(profile_take_whole(&profile, values, 0), "0 launches");
}

TEST(a_launch_counted_as_a_whole_gives_no_kernel_a_counter)
{
    const double values[] = {77, 81};
    char words[PROFILE_MAX_WORDS];
    take(&profile);
    name_counters(&profile, COUNTER_DRAM_READ, COUNTER_DRAM);
    FINE(profile_take_whole(&profile, values, 1));
    profile.passes = 3;
    assert_true(profile.whole[0] == 77);
    assert_true(profile_is_whole(&profile));
    profile_kernel_verdict(&profile, &profile.kernels[0], words);
    assert_string_equal(words, "");
}
