/* test_profile_rules.c - from counters to what bounds a kernel. */
#include "tests/profile_fixture.h"

#include "device/counter_sets.h"
#include "device/profile_rules.h"

struct stated {
    const char *metric;
    double value;
};

/* The words on a kernel of `time_ns` with these counters. */
static const char *verdict(double time_ns, const struct stated *stated)
{
    static char words[PROFILE_MAX_WORDS];
    profile_init(&profile);
    for (; stated->metric; stated++) {
        strcpy(profile.counter[profile.counter_count], stated->metric);
        profile.whole[profile.counter_count++] = stated->value;
    }
    profile_verdict(&profile, profile.whole, time_ns, words);
    return words;
}
#define VERDICT(time_ns, ...) verdict(time_ns, (const struct stated[]){__VA_ARGS__, {NULL, 0}})

TEST(four_fifths_of_a_unit_is_its_bound)
{
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 91.3}, {COUNTER_SM, 30}),
                        "memory: DRAM at 91 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 40}, {COUNTER_TENSOR, 85}),
                        "compute: the tensor pipe at 85 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_FMA, 80}),
                        "compute: the FMA pipe at 80 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_L2, 88}, {COUNTER_DRAM, 72}),
                        "cache: L2 at 88 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_ISSUE, 94}, {COUNTER_SM, 94}),
                        "instructions: issue at 94 % of its peak");
}

TEST(a_kernel_twice_as_long_as_its_start_and_end_is_not_mostly_those)
{
    assert_string_equal(VERDICT(2190, {COUNTER_DRAM, 91}),
                        "launch: 2.19 us per kernel is mostly its start and end");
    assert_string_equal(VERDICT(2200, {COUNTER_DRAM, 91}), "memory: DRAM at 91 % of its peak");
}

TEST(a_busy_pipe_of_few_multiprocessors_does_not_bind_the_gpu)
{
    assert_string_equal(
        VERDICT(1e5, {COUNTER_TENSOR, 92}, {COUNTER_AT_WORK, 24.2}),
        "parallelism: the multiprocessors are busy, but have work only 24 % of the time:"
        " too few blocks, or uneven ones");
    /* 92 % of 70 % is 64 %: enough of the GPU to be its bound. */
    assert_string_equal(VERDICT(1e5, {COUNTER_TENSOR, 92}, {COUNTER_AT_WORK, 70}),
                        "compute: the tensor pipe at 92 % of its peak");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 90}, {COUNTER_FMA, 85}, {COUNTER_AT_WORK, 50}),
                        "memory: DRAM at 90 % of its peak");
    /* Half busy where there is work, and idle over all. */
    assert_non_null(strstr(
        VERDICT(1e5, {COUNTER_TENSOR, 70}, {COUNTER_AT_WORK, 50}, {COUNTER_STALL("gmma"), 3}),
        "latency: no unit above 35 %; warps wait for wgmma"));
}

TEST(idle_units_and_waiting_warps_are_latency)
{
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, 22}, {COUNTER_SM, 31}, {COUNTER_L2, 12},
                                {COUNTER_OCCUPANCY, 24}, {COUNTER_STALL("long_scoreboard"), 18.2},
                                {COUNTER_STALL("wait"), 2.5}),
                        "latency: no unit above 31 %; warps wait for memory, 18.2 cycles per"
                        " instruction, occupancy 24 %");
    assert_non_null(
        strstr(VERDICT(1e5, {COUNTER_DRAM, 61}, {COUNTER_STALL("barrier"), 3}),
               "mixed: no single bound (DRAM 61 %, L2 -, SM -); warps wait for barrier"));
}

TEST(without_counters_nothing_is_said_to_bind)
{
    assert_string_equal(VERDICT(1e5, {"x__y.sum", 1}), "unknown: its counters were not read");
    assert_string_equal(VERDICT(1e5, {COUNTER_DRAM, NAN}), "unknown: its counters were not read");
}

TEST(a_warp_that_could_go_is_not_waiting)
{
    double cycles;
    VERDICT(1e5, {COUNTER_STALL("not_selected"), 9}, {COUNTER_STALL("wait"), 2},
            {COUNTER_STALL("barrier"), 4});
    assert_string_equal(profile_top_stall(&profile, profile.whole, 0, &cycles), "barrier");
    assert_true(cycles == 4);
    assert_string_equal(profile_top_stall(&profile, profile.whole, 1, &cycles), "fixed latency");
    assert_null(profile_top_stall(&profile, profile.whole, 2, &cycles));
}

TEST(traffic_is_held_against_the_least_work)
{
    const struct case_work work = {.read_bytes = 200, .write_bytes = 50}, none = {0};
    VERDICT(1e5, {COUNTER_DRAM_READ, 220}, {COUNTER_DRAM_WRITE, 55});
    assert_true(fabs(profile_traffic_ratio(&profile, &work) - 1.1) < 1e-12);
    assert_true(isnan(profile_traffic_ratio(&profile, &none)));
    VERDICT(1e5, {COUNTER_DRAM_READ, 220});
    assert_true(isnan(profile_traffic_ratio(&profile, &work)));
}
