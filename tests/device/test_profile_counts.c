/* test_profile_counts.c - what is counted of a profile, and the warps that can be resident. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "device/counter_sets.h"
#include "device/profile_counts.h"

/* By NVIDIA's occupancy calculator. */
TEST(warps_are_those_of_the_calculator)
{
    static const struct {
        int sm;
        int64_t shared_sm;
        int threads, registers;
        int64_t shared;
        int warps;
    } cases[] = {
        {90, 228 << 10, 256, 32, 0, 64},        {90, 228 << 10, 1024, 64, 0, 32},
        {90, 228 << 10, 256, 255, 0, 8},        {90, 228 << 10, 128, 168, 227 << 10, 4},
        {90, 228 << 10, 32, 16, 0, 32},         {80, 164 << 10, 256, 32, 48 << 10, 24},
        {86, 100 << 10, 256, 40, 0, 48},        {86, 100 << 10, 1024, 32, 0, 32},
        {75, 64 << 10, 256, 32, 0, 32},         {90, 228 << 10, 128, 33, 0, 48},
        {90, 228 << 10, 256, 32, 228 << 10, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int warps = profile_resident_warps(cases[i].sm, cases[i].shared_sm, cases[i].threads,
                                           cases[i].registers, cases[i].shared);
        if (warps != cases[i].warps) fail_msg("%zu: %d warps", i, warps);
    }
}

TEST(kernels_are_added_by_their_launches)
{
    struct device_info device = {.compute_capability = 90, .l1_bytes = 228 << 10};
    struct profile_counts counts;
    struct profile profile;
    profile_init(&profile);
    profile.activities = 5;
    profile.kernel_count = 3;
    profile.kernels[0] = (struct profile_kernel){.activity = CUPTI_KERNEL,
                                                 .count = 3,
                                                 .block = {256, 1, 1},
                                                 .registers = 32,
                                                 .local_bytes = 8};
    profile.kernels[1] = (struct profile_kernel){.activity = CUPTI_KERNEL,
                                                 .count = 1,
                                                 .block = {32, 2, 2},
                                                 .registers = 40,
                                                 .static_shared_bytes = 100,
                                                 .dynamic_shared_bytes = 1000};
    profile.kernels[2] = (struct profile_kernel){.activity = CUPTI_COPY, .count = 1};
    profile.counter_count = 1;
    strcpy(profile.counter[0], COUNTER_INSTRUCTIONS);
    profile.whole[0] = 1234;
    profile_count(&profile, &device, &counts);
    assert_true(counts.value[COUNT_LAUNCHES] == 5);
    assert_true(counts.value[COUNT_INSTRUCTIONS] == 1234);
    assert_true(isnan(counts.value[COUNT_LOCAL_LOADS]));
    assert_true(counts.value[COUNT_LOCAL_BYTES] == 24);
    assert_true(counts.value[COUNT_REGISTERS] == 136);
    assert_true(counts.value[COUNT_SHARED_BYTES] == 1100);
    assert_true(counts.value[COUNT_WARPS] == 3 * 64 + 48);
    profile.left_out = 1; /* some kernels are not known */
    profile_count(&profile, &device, &counts);
    assert_true(counts.value[COUNT_LAUNCHES] == 5);
    assert_true(isnan(counts.value[COUNT_REGISTERS]));
}

TEST(the_set_has_what_is_counted)
{
    static char counters[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC];
    assert_int_equal(counter_list(PROFILE_COUNTS_SET, counters), 3);
    assert_string_equal(counters[0], COUNTER_INSTRUCTIONS);
}
