/*
 * test_floor.c - a time that no device could reach makes a row wrong, and none that an honest
 * kernel could reach does.
 */

#include <math.h>

#include "tests/test.h"
#include "run/floor.h"

static const struct device_info gpu = {
    .place = ASSAY_CUDA, .cache_bytes = 50000000, .kernel_floor_ns = 500};

static const struct assay_operation operation = {.name = "copy"};
static const struct group plain = {.shape = {&operation, {1}}};

/* 1 byte or operation per ns in memory, 4 in the cache, 10 of int8. */
static struct ceilings measured(void)
{
    struct ceilings ceilings = {0};
    struct case_work byte = {.read_bytes = 1}, operation = {.ops = {[ASSAY_INT8_OPS] = 1}};
    ceilings_add(&ceilings, "memory_copy", &byte, 1.25);
    ceilings_add(&ceilings, "memory_read", &byte, 1);
    ceilings_add(&ceilings, "cache_read", &byte, 0.25);
    ceilings_add(&ceilings, "int8", &operation, 0.1);
    ceilings_add(&ceilings, "link_h2d", &(struct case_work){.write_bytes = 1, .over_link = true},
                 20);
    return ceilings;
}

static enum case_status judged_on(const struct device_info *device, struct case_work work,
                                  enum assay_temperature temperature, double time_ns)
{
    struct ceilings ceilings = measured();
    struct case_result result = {.work = work, .time_ns = time_ns};
    result.id.temperature = (int32_t)temperature;
    floor_judge(&ceilings, device, &plain, &result);
    assert_int_equal(result.status == STATUS_WRONG, result.reason[0] != '\0');
    return (enum case_status)result.status;
}

static enum case_status judged(struct case_work work, enum assay_temperature temperature,
                               double time_ns)
{
    return judged_on(&gpu, work, temperature, time_ns);
}

TEST(a_cold_read_faster_than_memory_is_wrong)
{
    struct case_work reads = {.read_bytes = 1e6};
    assert_int_equal(judged(reads, ASSAY_COLD, 1e6 / 1.24), STATUS_OK);
    assert_int_equal(judged(reads, ASSAY_COLD, 1e6 / 1.26), STATUS_WRONG);
}

TEST(written_bytes_may_stay_in_the_cache)
{
    struct case_work writes = {.read_bytes = 1e6, .write_bytes = 40e6};
    assert_int_equal(judged(writes, ASSAY_COLD, 41e6 / 4), STATUS_OK);
    writes.write_bytes = 150e6; /* 100e6 more than the cache holds */
    assert_int_equal(judged(writes, ASSAY_COLD, 101e6 / 1.24), STATUS_OK);
    assert_int_equal(judged(writes, ASSAY_COLD, 101e6 / 1.26), STATUS_WRONG);
}

TEST(hot_operands_are_held_against_the_cache)
{
    struct case_work reads = {.read_bytes = 10e6};
    assert_int_equal(judged(reads, ASSAY_HOT, 10e6 / 4 / 1.24), STATUS_OK);
    assert_int_equal(judged(reads, ASSAY_HOT, 10e6 / 4 / 1.26), STATUS_WRONG);
}

TEST(operations_take_their_time_whatever_the_bytes)
{
    struct case_work work = {.read_bytes = 1, .ops = {[ASSAY_INT8_OPS] = 1e8}};
    assert_int_equal(judged(work, ASSAY_HOT, 1e7 / 1.24), STATUS_OK);
    assert_int_equal(judged(work, ASSAY_HOT, 1e7 / 1.26), STATUS_WRONG);
}

TEST(nothing_is_faster_than_an_empty_kernel)
{
    struct case_work nothing = {0};
    assert_int_equal(judged(nothing, ASSAY_COLD, 500 / 1.24), STATUS_OK);
    assert_int_equal(judged(nothing, ASSAY_COLD, 500 / 1.26), STATUS_WRONG);
}

TEST(the_link_has_a_floor_of_its_own)
{
    struct case_work work = {.write_bytes = 1e6, .over_link = true};
    assert_int_equal(judged(work, ASSAY_COLD, 20e6 / 1.24), STATUS_OK);
    assert_int_equal(judged(work, ASSAY_COLD, 20e6 / 1.26), STATUS_WRONG);
}

TEST(a_limit_that_was_not_measured_refuses_nothing)
{
    struct case_work work = {.ops = {[ASSAY_BF16_OPS] = 1e12}};
    assert_int_equal(judged(work, ASSAY_COLD, 1000), STATUS_OK);
    struct device_info unknown = gpu;
    unknown.kernel_floor_ns = NAN;
    assert_int_equal(judged_on(&unknown, work, ASSAY_COLD, 1), STATUS_OK);
}

TEST(only_a_real_gpu_is_judged)
{
    struct case_work reads = {.read_bytes = 1e9};
    struct device_info other = gpu;
    other.place = ASSAY_HOST;
    assert_int_equal(judged_on(&other, reads, ASSAY_COLD, 1), STATUS_OK);
    other = gpu;
    other.simulated = true;
    assert_int_equal(judged_on(&other, reads, ASSAY_COLD, 1), STATUS_OK);
}

static const char *limit(const struct assay_shape *shape, enum assay_temperature temperature)
{
    (void)shape, (void)temperature;
    return "memory_write";
}

TEST(a_case_that_measures_a_limit_is_not_held_against_others)
{
    const struct assay_operation measures = {.name = "copy", .ceiling = limit};
    const struct group group = {.shape = {&measures, {1}}};
    struct ceilings ceilings = measured();
    struct case_result result = {.work = {.read_bytes = 1e9}, .time_ns = 1000};
    floor_judge(&ceilings, &gpu, &group, &result);
    assert_int_equal(result.status, STATUS_OK);
}

TEST(a_row_that_has_failed_keeps_its_reason)
{
    struct ceilings ceilings = measured();
    struct case_result result = {.status = STATUS_CRASHED, .reason = "why", .time_ns = 1};
    floor_judge(&ceilings, &gpu, &plain, &result);
    assert_int_equal(result.status, STATUS_CRASHED);
    assert_string_equal(result.reason, "why");
}
