/*
 * test_gate_rates.c - the rates that docs/gate-statistics.md promises, in small, with fixed seeds
 * (in full: make check-stats). Beside each stands what the rate is without that which keeps it.
 */
#include <stdlib.h>

#include "tests/test.h"
#include "gate_simulation.h"

/* Gates of 50 unchanged cases whose builds differ by 1 % in each: how many say REGRESSED. */
static int wrong_of_biased(double twins, int gates)
{
    const struct launch_model model = {.launch = 0.005, .bias = 0.01, .twins = twins};
    return simulate_gates(&model, gates, 50, 0, 0, 61).runs_with[VERDICT_REGRESSED];
}

TEST(how_builds_lie_is_no_regression_where_a_second_build_shows_it)
{
    enum { GATES = 40 };
    assert_in_range(wrong_of_biased(0, GATES), GATES / 5, GATES); /* a third of them */
    assert_in_range(wrong_of_biased(0.2, GATES), 0, GATES / 20);
    assert_in_range(wrong_of_biased(1, GATES), 0, GATES / 20);
}

TEST(a_real_change_is_found_beside_what_builds_differ_by)
{
    const struct launch_model model = {.launch = 0.005, .bias = 0.01, .twins = 1};
    struct simulated_counts ten = simulate_gates(&model, 40, 50, 1, 0.1, 62);
    assert_int_equal(ten.of[VERDICT_REGRESSED], ten.cases);
}

/* At most one in ten, over the screen and both looks; by one look of 5 % it would be at most 5. */
TEST(a_case_at_its_floor_passes_in_one_gate_of_ten_at_most)
{
    for (int m = 0; m < 3; m++) {
        struct simulated_counts at = simulate_gates(&launch_models[m], 40, 40, 20, 0.02, 63);
        assert_int_equal(at.cases, 800);
        assert_in_range(at.of[VERDICT_PASS], 1, at.cases / 10);
        struct simulated_counts beyond = simulate_gates(&launch_models[m], 40, 40, 20, 0.05, 64);
        assert_in_range(beyond.of[VERDICT_PASS], 0, beyond.cases / 100);
    }
}

TEST(short_kernels_are_told_below_a_step_of_the_clock)
{
    static const double times_ns[] = {600, 1000, 3000};
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        const struct launch_model model = {.launch = 0.001, .time_ns = times_ns[i], .step_ns = 32};
        struct simulated_counts same = simulate_gates(&model, 4, 50, 0, 0, 65);
        struct simulated_counts slower = simulate_gates(&model, 4, 50, 10, 0.05, 66);
        assert_int_equal(same.runs_with[VERDICT_REGRESSED], 0);
        assert_in_range(slower.of[VERDICT_REGRESSED], slower.cases * 95 / 100, slower.cases);
    }
}

/* Gates of 50 unchanged cases against a stored run, whose sessions differ by 1 %. */
static int wrong_of_stored(bool with_fence, int gates)
{
    struct rng rng;
    int wrong = 0;
    rng_seed(&rng, 67);
    for (int gate = 0; gate < gates; gate++) {
        bool any = false;
        for (int i = 0; i < 50; i++)
            any |= simulated_stored_regressed(&rng, 0.01, 11, with_fence);
        wrong += any;
    }
    return wrong;
}

TEST(sessions_that_differ_are_no_regression_behind_a_fence)
{
    enum { GATES = 60 };
    assert_in_range(wrong_of_stored(false, GATES), GATES / 4, GATES); /* half of them */
    assert_in_range(wrong_of_stored(true, GATES), 0, GATES / 20);
}
