/*
 * test_surroundings.c - what else the processors did, and from when on it disturbs.
 */

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/made_root.h"
#include "case/result.h"
#include "case/surroundings.h"

static void assert_near(double got, double expected, double within)
{
    if (!(fabs(got - expected) <= within)) fail_msg("got %.17g, expected %.17g", got, expected);
}

static const struct machine_use nothing = {2, 1.5, 100, 10, 0, 5};

/* In 10 s of two processors: `others` and `stolen` seconds went elsewhere. */
static struct surroundings after(double own, double others, double stolen)
{
    struct machine_use use = {2, 3.5, 120, 10 + own + others, stolen, 5 + own};
    struct surroundings around;
    surroundings_between(&around, &nothing, &use);
    return around;
}

TEST(shares_leave_out_this_program)
{
    struct surroundings around = after(15, 2, 1);
    assert_near(around.other_share, 0.1, 1e-12);
    assert_near(around.steal_share, 0.05, 1e-12);
    assert_near(around.start_load, 1.5, 0);
    assert_near(around.end_load, 3.5, 0);
    /* Clocks that do not step together give no share below 0. */
    assert_near(after(15, -1, 0).other_share, 0, 0);
}

TEST(a_moment_has_no_shares)
{
    struct surroundings around;
    surroundings_between(&around, &nothing, &nothing);
    assert_true(isnan(around.other_share) && isnan(around.steal_share));
    assert_int_equal(around.processors, 2);
}

TEST(what_disturbs_is_named_and_what_does_not_is_not)
{
    struct causes causes = {0};
    struct surroundings quiet = after(15, 0.5, 0), loud = after(5, 10, 1), unknown;
    surroundings_init(&unknown);
    surroundings_causes(&causes, &quiet, 0);
    surroundings_causes(&causes, &unknown, -1);
    assert_int_equal(causes.count, 0);
    surroundings_causes(&causes, &loud, 1);
    assert_int_equal(causes.count, 3);
    assert_string_equal(causes.text[0], "other programs took 50 % of the processors' time");
    assert_string_equal(causes.text[1], "the hypervisor took 5 % of the processors' time");
    assert_string_equal(causes.text[2], "1 other process on the GPU");
    for (int i = 0; i < 20; i++)
        surroundings_causes(&causes, &loud, 1);
    assert_int_equal(causes.count, CAUSES_MOST);
}

ROOT_TEST(counters_are_read_in_seconds)
{
    struct machine_use use;
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    machine_use_read(&use, root);
    assert_true(isnan(use.load) && isnan(use.total_s) && isnan(use.busy_s));
    put("/proc/stat", "cpu  100 20 30 1000 40 5 6 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
    put("/proc/loadavg", "9.25 4.00 1.00 3/200 77\n");
    machine_use_read(&use, root);
    assert_near(use.load, 9.25, 0);
    assert_near(use.total_s, 1208 * tick_s, 1e-9);
    assert_near(use.busy_s, 161 * tick_s, 1e-9);
    assert_near(use.steal_s, 7 * tick_s, 1e-9);
    put("/proc/stat", "cpu 1 2\n");
    machine_use_read(&use, root);
    assert_true(isnan(use.total_s));
}

TEST(a_row_is_noisy_when_its_wider_side_is)
{
    struct case_result result;
    result_init(&result);
    result.status = STATUS_OK;
    result.time_ns = 100, result.lo_ns = 99, result.hi_ns = 104.9;
    assert_false(result_is_noisy(&result, 0.05));
    result.hi_ns = 105.1;
    assert_true(result_is_noisy(&result, 0.05));
    result.hi_ns = 101, result.lo_ns = 90;
    assert_true(result_is_noisy(&result, 0.05));
    assert_false(result_is_noisy(&result, 0.2));
    result.lo_ns = NAN; /* not known */
    assert_false(result_is_noisy(&result, 0.05));
    result.lo_ns = 90, result.status = STATUS_WRONG;
    assert_false(result_is_noisy(&result, 0.05));
}
