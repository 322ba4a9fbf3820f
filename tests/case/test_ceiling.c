/*
 * test_ceiling.c - which measured limit binds a piece of work.
 */

#include <math.h>
#include <stdio.h>

#include "tests/test.h"
#include "case/ceiling.h"

static const int64_t cache_bytes = 1000000;

static struct case_work moves(double read_bytes, double write_bytes)
{
    return (struct case_work){.read_bytes = read_bytes, .write_bytes = write_bytes};
}

/* A ceiling measured at `rate` bytes per second (operations, for arithmetic). */
static void measure(struct ceilings *ceilings, const char *name, double rate)
{
    struct case_work work = moves(rate, 0);
    for (int i = 0; i < ARITHMETICS; i++)
        work.ops[i] = rate;
    ceilings_add(ceilings, name, &work, 1e9);
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static void assert_binding(const struct ceilings *ceilings, struct case_work work,
                           enum assay_temperature temperature, double time_ns,
                           const char *expected_name, double expected_fraction)
{
    char name[ASSAY_MAX_NAME];
    double fraction;
    assert_true(
        ceiling_binding(ceilings, &work, temperature, cache_bytes, time_ns, name, &fraction));
    assert_string_equal(name, expected_name);
    assert_near(fraction, expected_fraction);
}

static void assert_none_binds(const struct ceilings *ceilings, struct case_work work)
{
    char name[ASSAY_MAX_NAME] = "before";
    double fraction = 0;
    assert_false(ceiling_binding(ceilings, &work, ASSAY_COLD, cache_bytes, 2, name, &fraction));
    assert_string_equal(name, "");
    assert_true(isnan(fraction));
}

/* Which binds is known, and not how much of it was reached. */
static void assert_no_share(const struct ceilings *ceilings, struct case_work work, double time_ns,
                            const char *expected_name)
{
    char name[ASSAY_MAX_NAME];
    double fraction = 0;
    assert_true(
        ceiling_binding(ceilings, &work, ASSAY_COLD, cache_bytes, time_ns, name, &fraction));
    assert_string_equal(name, expected_name);
    assert_true(isnan(fraction));
}

TEST(the_best_rate_of_a_ceiling_is_kept)
{
    struct ceilings ceilings = {0};
    struct case_work work = moves(1000, 1000);
    ceilings_add(&ceilings, "memory_copy", &work, 20);
    ceilings_add(&ceilings, "memory_copy", &work, 10);
    ceilings_add(&ceilings, "memory_copy", &work, 40);
    assert_int_equal(ceilings.count, 1);
    assert_string_equal(ceilings.item[0].name, "memory_copy");
    assert_near(ceilings.item[0].rate, 200e9);
}

TEST(an_arithmetic_counts_its_own_operations)
{
    struct ceilings ceilings = {0};
    struct case_work work = moves(5, 5);
    work.ops[ASSAY_INT8_OPS] = 3000;
    work.ops[ASSAY_FP32] = 70;
    ceilings_add(&ceilings, "int8", &work, 10);
    assert_near(ceilings.item[0].rate, 300e9);
}

TEST(what_has_no_rate_is_no_ceiling)
{
    struct ceilings ceilings = {0};
    struct case_work nothing = moves(0, 0), some = moves(1, 0), unknown = moves(NAN, NAN);
    ceilings_add(&ceilings, "launch", &nothing, 10);
    ceilings_add(&ceilings, "memory_read", &some, NAN);
    ceilings_add(&ceilings, "memory_read", &some, 0);
    ceilings_add(&ceilings, "memory_read", &some, -1);
    ceilings_add(&ceilings, "memory_read", &unknown, 1);
    ceilings_add(&ceilings, "fp32", &some, 1);
    assert_int_equal(ceilings.count, 0);
}

TEST(a_full_table_takes_better_rates_but_no_new_names)
{
    struct ceilings ceilings = {0};
    for (int i = 0; i < CEILING_MAX + 3; i++) {
        char name[ASSAY_MAX_NAME];
        snprintf(name, sizeof name, "ceiling_%d", i);
        measure(&ceilings, name, 100);
    }
    assert_int_equal(ceilings.count, CEILING_MAX);
    measure(&ceilings, "ceiling_0", 200);
    assert_near(ceilings.item[0].rate, 200);
}

static const char *one_needed(double read_bytes, double write_bytes,
                              enum assay_temperature temperature)
{
    struct case_work work = moves(read_bytes, write_bytes);
    const char *names[CEILING_MAX];
    assert_int_equal(ceilings_needed(&work, temperature, cache_bytes, names), 1);
    return names[0];
}

TEST(the_nearest_mix_of_reads_and_writes_is_needed)
{
    assert_string_equal(one_needed(10, 0, ASSAY_COLD), "memory_read");
    assert_string_equal(one_needed(91, 9, ASSAY_COLD), "memory_read");
    assert_string_equal(one_needed(89, 11, ASSAY_COLD), "memory_r4w1");
    assert_string_equal(one_needed(4, 1, ASSAY_COLD), "memory_r4w1");
    assert_string_equal(one_needed(66, 34, ASSAY_COLD), "memory_r4w1");
    assert_string_equal(one_needed(64, 36, ASSAY_COLD), "memory_copy");
    assert_string_equal(one_needed(1, 1, ASSAY_COLD), "memory_copy");
    assert_string_equal(one_needed(26, 74, ASSAY_COLD), "memory_copy");
    assert_string_equal(one_needed(24, 76, ASSAY_COLD), "memory_write");
    assert_string_equal(one_needed(0, 3, ASSAY_COLD), "memory_write");
}

TEST(hot_work_of_half_the_cache_is_held_against_the_cache)
{
    assert_string_equal(one_needed(250000, 250000, ASSAY_HOT), "cache_copy");
    assert_string_equal(one_needed(250000, 250001, ASSAY_HOT), "memory_copy");
    assert_string_equal(one_needed(250000, 250000, ASSAY_COLD), "memory_copy");
    assert_string_equal(one_needed(1, 0, ASSAY_HOT), "cache_read");
    assert_string_equal(one_needed(4, 1, ASSAY_HOT), "cache_r4w1");
    assert_string_equal(one_needed(0, 1, ASSAY_HOT), "cache_write");
}

static struct case_work crosses(double down_bytes, double up_bytes)
{
    return (struct case_work){.read_bytes = down_bytes, .write_bytes = up_bytes, .over_link = true};
}

TEST(work_over_the_link_needs_the_directions_that_it_uses)
{
    const char *names[CEILING_MAX];
    struct case_work up = crosses(0, 5), down = crosses(5, 0), both = crosses(5, 5);
    assert_int_equal(ceilings_needed(&up, ASSAY_HOT, cache_bytes, names), 1);
    assert_string_equal(names[0], "link_h2d");
    assert_int_equal(ceilings_needed(&down, ASSAY_COLD, cache_bytes, names), 1);
    assert_string_equal(names[0], "link_d2h");
    assert_int_equal(ceilings_needed(&both, ASSAY_COLD, cache_bytes, names), 2);
}

TEST(the_slower_direction_of_the_link_binds_and_memory_does_not)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1000e9);
    measure(&ceilings, "memory_write", 1e9);
    measure(&ceilings, "link_h2d", 50e9);
    measure(&ceilings, "link_d2h", 25e9);
    /* 100 bytes up take 2 ns, 100 down take 4. */
    assert_binding(&ceilings, crosses(0, 100), ASSAY_HOT, 4, "link_h2d", 0.5);
    assert_binding(&ceilings, crosses(100, 100), ASSAY_COLD, 8, "link_d2h", 0.5);
    assert_binding(&ceilings, crosses(3, 100), ASSAY_COLD, 4, "link_h2d", 0.5);
    /* The link of a case that measures another thing does not bind. */
    assert_binding(&ceilings, moves(500, 500), ASSAY_COLD, 2, "memory_copy", 0.5);
}

TEST(work_over_a_link_that_was_not_measured_has_no_bandwidth_to_reach)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1000e9);
    assert_none_binds(&ceilings, crosses(100, 100));
}

TEST(each_arithmetic_used_is_needed)
{
    struct case_work work = moves(0, 0);
    const char *names[CEILING_MAX];
    assert_int_equal(ceilings_needed(&work, ASSAY_COLD, cache_bytes, names), 0);
    work.ops[ASSAY_FP32] = 1;
    work.ops[ASSAY_INT8_OPS] = 2;
    assert_int_equal(ceilings_needed(&work, ASSAY_COLD, cache_bytes, names), 2);
    assert_string_equal(names[0], "fp32");
    assert_string_equal(names[1], "int8");
    work.ops[ARITHMETIC_FP8] = 3;
    assert_int_equal(ceilings_needed(&work, ASSAY_COLD, cache_bytes, names), 3);
    assert_string_equal(names[2], "fp8");
}

TEST(operations_in_fp8_are_held_against_their_own_ceiling)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1e12);
    measure(&ceilings, "int8", 100e12);
    measure(&ceilings, "fp8", 50e12);
    struct case_work work = moves(500, 500);
    work.ops[ARITHMETIC_FP8] = 100e3; /* 2 ns */
    assert_binding(&ceilings, work, ASSAY_COLD, 4, "fp8", 0.5);
}

TEST(work_that_is_not_known_needs_nothing)
{
    struct case_result result;
    result_init(&result);
    const char *names[CEILING_MAX];
    assert_int_equal(ceilings_needed(&result.work, ASSAY_HOT, cache_bytes, names), 0);
}

TEST(the_share_is_of_the_nearest_mix_that_was_measured)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_write", 2e12);
    assert_binding(&ceilings, moves(4000, 1000), ASSAY_COLD, 5, "memory_write", 0.5);
    measure(&ceilings, "memory_copy", 4e12);
    assert_binding(&ceilings, moves(4000, 1000), ASSAY_COLD, 5, "memory_copy", 0.25);
    measure(&ceilings, "memory_r4w1", 1e12);
    assert_binding(&ceilings, moves(4000, 1000), ASSAY_COLD, 10, "memory_r4w1", 0.5);
}

TEST(the_ceiling_that_asks_for_the_longest_time_binds)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1e12);
    measure(&ceilings, "fp32", 10e12);
    measure(&ceilings, "tf32", 100e12);
    struct case_work work = moves(500, 500); /* 1 ns of copying */
    work.ops[ASSAY_FP32] = 5000;             /* 0.5 ns */
    assert_binding(&ceilings, work, ASSAY_COLD, 2, "memory_copy", 0.5);
    work.ops[ASSAY_FP32] = 40000; /* 4 ns */
    work.ops[ASSAY_TF32] = 40000; /* 0.4 ns */
    assert_binding(&ceilings, work, ASSAY_COLD, 5, "fp32", 0.8);
}

/* 1000 bytes that take 1 ns, and this many operations at 20 per ns. */
static void assert_binding_of_ops(double ops, double time_ns, const char *name, double fraction)
{
    struct ceilings ceilings = {0};
    struct case_work work = moves(500, 500);
    measure(&ceilings, "memory_copy", 1e12);
    measure(&ceilings, "tf32", 20e12);
    work.ops[ASSAY_TF32] = ops;
    assert_binding(&ceilings, work, ASSAY_COLD, time_ns, name, fraction);
}

/* Two runs whose ceilings differ a little name the same one. */
TEST(where_two_limits_are_near_the_shape_of_the_work_decides)
{
    assert_binding_of_ops(15000, 2, "memory_copy", 0.5); /* 0.75 ns of operations, 15 per byte */
    assert_binding_of_ops(17000, 1.7, "tf32", 0.5);      /* 0.85 ns, 17 per byte */
    assert_binding_of_ops(24000, 2.4, "tf32", 0.5);
}

TEST(a_limit_that_asks_for_clearly_longer_overrules_the_shape)
{
    struct ceilings ceilings = {0};
    struct case_work product = moves(500, 500), steps = moves(500, 500);
    measure(&ceilings, "memory_copy", 1e12);
    measure(&ceilings, "bf16", 800e12);
    measure(&ceilings, "fp32", 1e12);
    product.ops[ASSAY_BF16_OPS] = 100e3; /* 100 per byte, and 0.125 ns */
    assert_binding(&ceilings, product, ASSAY_COLD, 2, "memory_copy", 0.5);
    steps.ops[ASSAY_FP32] = 10e3; /* 10 per byte, and 10 ns */
    assert_binding(&ceilings, steps, ASSAY_COLD, 20, "fp32", 0.5);
}

/* A product is not held against a ceiling of memory because no better one is there. */
TEST(where_the_limit_that_the_shape_names_was_not_measured_none_binds)
{
    struct ceilings memory = {0}, arithmetic = {0};
    struct case_work product = moves(500, 500), copy = moves(500, 500);
    measure(&memory, "memory_copy", 1e12);
    measure(&arithmetic, "fp32", 1e12);
    product.ops[ASSAY_FP64] = 1e15;
    copy.ops[ASSAY_FP32] = 1000;
    assert_none_binds(&memory, product);
    assert_none_binds(&arithmetic, copy);
}

TEST(any_cache_ceiling_goes_before_memory)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1e12);
    assert_binding(&ceilings, moves(500, 500), ASSAY_HOT, 2, "memory_copy", 0.5);
    measure(&ceilings, "cache_read", 5e12);
    assert_binding(&ceilings, moves(500, 500), ASSAY_HOT, 2, "cache_read", 0.1);
    assert_binding(&ceilings, moves(500, 500), ASSAY_COLD, 2, "memory_copy", 0.5);
    assert_binding(&ceilings, moves(5e5, 5e5), ASSAY_HOT, 2000, "memory_copy", 0.5);
}

TEST(without_a_measured_ceiling_there_is_no_share)
{
    struct ceilings ceilings = {0};
    assert_none_binds(&ceilings, moves(500, 500));
    measure(&ceilings, "memory_copy", 1e12);
    measure(&ceilings, "fp32", 1e12);
    assert_none_binds(&ceilings, moves(0, 0));
}

TEST(a_case_without_a_time_has_a_ceiling_and_no_share)
{
    struct ceilings ceilings = {0};
    measure(&ceilings, "memory_copy", 1e12);
    assert_no_share(&ceilings, moves(500, 500), NAN, "memory_copy");
}

TEST(products_in_fp32_may_be_as_fast_as_six_in_bf16)
{
    struct ceilings ceilings = {0};
    struct case_work work = moves(0, 0);
    char name[ASSAY_MAX_NAME];
    work.ops[ASSAY_FP32] = 3e3;
    measure(&ceilings, "fp32", 1e12);
    assert_near(ceiling_least_ns(&ceilings, &work, ASSAY_COLD, cache_bytes, name), 1);
    measure(&ceilings, "bf16", 3e12); /* a sixth is less than fp32 */
    assert_near(ceiling_least_ns(&ceilings, &work, ASSAY_COLD, cache_bytes, name), 3);
    measure(&ceilings, "bf16", 12e12);
    assert_near(ceiling_least_ns(&ceilings, &work, ASSAY_COLD, cache_bytes, name), 1.5);
    assert_string_equal(name, "fp32");
}

/* A result of 1 GB/s whose interval is so wide, as a fraction of its time. */
static struct case_result measured(double gb_per_s, double half)
{
    struct case_result result;
    result_init(&result);
    result.status = STATUS_OK;
    result.work = moves(gb_per_s * 1e9, 0);
    result.time_ns = 1e9, result.lo_ns = 1e9 * (1 - half), result.hi_ns = 1e9 * (1 + half);
    return result;
}

TEST(a_noisy_case_makes_no_ceiling)
{
    struct ceilings ceilings = {0};
    struct case_result steady = measured(2, 0.01), wild = measured(3, 0.3), slow = measured(1, 0.3),
                       fast = measured(5, 0.01);
    ceilings_learn(&ceilings, "memory_copy", &steady, 0.05);
    ceilings_learn(&ceilings, "memory_copy", &slow, 0.05); /* at most 1.43: below what is known */
    assert_near(ceiling_named(&ceilings, "memory_copy")->rate, 2e9);
    ceilings_learn(&ceilings, "memory_copy", &wild, 0.05); /* 2.3 to 4.3: which, is not known */
    assert_true(isnan(ceiling_named(&ceilings, "memory_copy")->rate));
    struct case_work work = moves(1e9, 0);
    char name[ASSAY_MAX_NAME];
    assert_no_share(&ceilings, work, 1e9, "memory_copy");
    assert_near(ceiling_least_ns(&ceilings, &work, ASSAY_COLD, cache_bytes, name), 0);
    ceilings_learn(&ceilings, "memory_copy", &fast, 0.05);
    assert_near(ceiling_named(&ceilings, "memory_copy")->rate, 5e9);
}
