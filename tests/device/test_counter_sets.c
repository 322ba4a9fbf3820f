/* test_counter_sets.c - which counters a list names, and how they are written. */
#include "tests/store_fixture.h"

#include "device/counter_sets.h"
#include "device/profile.h"

static char list[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC];

TEST(a_list_names_each_counter_once)
{
    int memory = counter_list("memory", list);
    assert_true(memory > 5);
    assert_int_equal(counter_list("memory,memory," COUNTER_DRAM, list), memory);
    assert_int_equal(counter_list("none", list), 0);
    assert_int_equal(counter_list("dram__bytes.sum,none", list), 1);
    assert_string_equal(list[0], "dram__bytes.sum");
    assert_int_equal(counter_list(NULL, list), counter_list("default", list));
    assert_true(counter_list("all", list) <= PROFILE_MAX_COUNTERS);
}

TEST(a_wrong_list_is_refused_with_a_reason)
{
    FAILS(counter_list("memry", list), "did you mean 'memory'");
    FAILS(counter_list("dram__bytes", list), "lacks its rollup");
    FAILS(counter_list("", list), "which counters");
    FAILS(counter_list("memory,", list), "commas between");
    FAILS(counter_list(",memory", list), "commas between");
}

TEST(counters_are_written_with_their_units)
{
    char text[48];
    counter_text(text, sizeof text, COUNTER_BYTES, 2.5e8);
    assert_string_equal(text, "250 MB");
    counter_text(text, sizeof text, COUNTER_BYTES, 999.7);
    assert_string_equal(text, "1 kB");
    counter_text(text, sizeof text, COUNTER_PCT, 9.96);
    assert_string_equal(text, "10 %");
    counter_text(text, sizeof text, COUNTER_HZ, 1.98e9);
    assert_string_equal(text, "1980 MHz");
    counter_text(text, sizeof text, COUNTER_PCT, NAN);
    assert_string_equal(text, "-");
}
