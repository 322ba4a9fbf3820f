/* test_gate.c - the decision of the gate: its rules, its symmetry, its error rates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "gate_simulation.h"

static const struct gate_rules rules = {.alpha = 0.05, .extend = true};

/* `count` rounds around `change`, all of them different. */
static void fill(struct gate_rounds *rounds, double change, int count)
{
    rounds->count = count;
    for (int i = 0; i < count; i++)
        rounds->value[i] = change + 1e-4 * (i % 2 ? i + 1 : -i);
}

static struct gate_case one_case(double change)
{
    struct gate_case one = {.threshold = 0.02, .noise = NAN};
    fill(&one.screen, change, GATE_SCREEN_ROUNDS);
    fill(&one.confirm, change, GATE_CONFIRM_ROUNDS);
    fill(&one.null, 0, GATE_CONFIRM_ROUNDS);
    return one;
}

static enum verdict verdict_of(struct gate_case *one)
{
    if (gate_screen(one, 1, &rules) > 0) gate_confirm(one, 1, &rules, false);
    return one->verdict;
}

TEST(no_change_passes_without_a_second_stage)
{
    struct gate_case one = one_case(0);
    assert_int_equal(gate_screen(&one, 1, &rules), 0);
    assert_int_equal(one.verdict, VERDICT_PASS);
    assert_int_equal(one.rounds, GATE_SCREEN_ROUNDS);
}

TEST(a_change_beyond_the_floor_is_told_in_either_direction)
{
    struct gate_case slower = one_case(0.05), faster = one_case(-0.05);
    assert_int_equal(verdict_of(&slower), VERDICT_REGRESSED);
    assert_int_equal(verdict_of(&faster), VERDICT_IMPROVED);
    assert_int_equal(slower.rounds, GATE_CONFIRM_ROUNDS);
}

TEST(a_change_at_the_floor_is_neither_passed_nor_failed)
{
    struct gate_case one = one_case(log1p(0.02));
    assert_int_equal(verdict_of(&one), VERDICT_INCONCLUSIVE);
    assert_true(gate_is_open(&one));
}

TEST(the_screen_alone_never_says_regressed)
{
    struct gate_case one = one_case(0.5);
    one.confirm.count = one.null.count = 0;
    assert_int_equal(verdict_of(&one), VERDICT_INCONCLUSIVE);
}

TEST(the_second_stage_does_not_see_the_screen)
{
    struct gate_case one = one_case(0);
    fill(&one.screen, 0.5, GATE_SCREEN_ROUNDS);
    assert_int_equal(verdict_of(&one), VERDICT_PASS);
    assert_true(fabs(one.change.mid) < 0.01);
}

TEST(a_null_arm_that_trips_voids_the_verdict)
{
    struct gate_case one = one_case(0.05);
    fill(&one.null, -0.05, GATE_CONFIRM_ROUNDS);
    assert_int_equal(verdict_of(&one), VERDICT_UNSTABLE);
}

TEST(null_arms_that_trip_in_several_cases_void_all)
{
    struct gate_case cases[20];
    for (int i = 0; i < 20; i++) {
        cases[i] = one_case(0.05);
        if (i < 2) fill(&cases[i].null, 0.05, GATE_CONFIRM_ROUNDS);
    }
    assert_int_equal(gate_screen(cases, 20, &rules), 20);
    gate_confirm(cases, 20, &rules, false);
    for (int i = 0; i < 20; i++)
        assert_int_equal(cases[i].verdict, VERDICT_UNSTABLE);
}

TEST(a_noise_floor_raises_the_floor_and_then_ends_the_verdict)
{
    struct gate_case quiet = one_case(0.035), noisy = one_case(0.05);
    quiet.noise = 0.03;
    noisy.noise = 0.051; /* above 2.5 times the threshold */
    verdict_of(&quiet);
    assert_true(quiet.floor == 0.03);
    assert_int_equal(verdict_of(&noisy), VERDICT_UNSTABLE);
}

/* After a noisy calibration 9.8 times slower is not "the instrument failed". */
TEST(what_is_shown_beyond_a_noisy_floor_is_told)
{
    struct gate_case slower = one_case(log(9.8)), faster = one_case(-log(9.8)), same = one_case(0);
    slower.noise = faster.noise = same.noise = 0.058;
    assert_int_equal(verdict_of(&slower), VERDICT_REGRESSED);
    assert_int_equal(verdict_of(&faster), VERDICT_IMPROVED);
    assert_int_equal(gate_screen(&same, 1, &rules), 0); /* no rounds for what they cannot settle */
    assert_int_equal(same.verdict, VERDICT_UNSTABLE);
}

TEST(what_only_the_screen_shows_beyond_a_noisy_floor_is_unstable)
{
    struct gate_case one = one_case(0.5);
    one.noise = 0.058;
    fill(&one.confirm, 0, GATE_CONFIRM_ROUNDS);
    assert_int_equal(verdict_of(&one), VERDICT_UNSTABLE);
}

TEST(the_floor_is_not_below_what_the_clock_can_tell)
{
    struct gate_case fine = one_case(0.03), slower = one_case(0.5);
    fine.threshold = 0.05;
    fine.quantum = 0.04;
    slower.quantum = 0.2;
    assert_int_equal(verdict_of(&fine), VERDICT_PASS);
    assert_int_equal(verdict_of(&slower), VERDICT_REGRESSED);
    assert_true(slower.floor == 0.2);
}

/* 10 % of a kernel of 600 ns, where two steps of the clock are 10.7 %. */
TEST(nothing_passes_by_a_floor_that_the_clock_raised_above_the_threshold)
{
    struct gate_case one = one_case(log1p(0.10));
    one.quantum = 64.0 / 600;
    fill(&one.screen, 0.09, GATE_SCREEN_ROUNDS);
    assert_int_equal(gate_screen(&one, 1, &rules), 0);
    assert_int_equal(one.verdict, VERDICT_INCONCLUSIVE);
    assert_true(one.slower.excluded);
}

TEST(more_suspects_ask_for_more_rounds)
{
    struct gate_case cases[200];
    for (int i = 0; i < 200; i++)
        cases[i] = one_case(0.05);
    assert_int_equal(gate_screen(cases, 1, &rules), 1);
    assert_int_equal(gate_confirm_rounds(cases, 1, &rules), GATE_CONFIRM_ROUNDS);
    assert_int_equal(gate_screen(cases, 200, &rules), 200);
    assert_int_equal(gate_confirm_rounds(cases, 200, &rules), 13); /* 2^-13 <= 0.04 / 200 */
}

TEST(too_few_rounds_decide_nothing)
{
    struct gate_case one = one_case(0);
    one.confirm.count = one.null.count = GATE_LEAST_ROUNDS - 1;
    one.screen.count = GATE_LEAST_ROUNDS - 1;
    assert_int_equal(verdict_of(&one), VERDICT_INCONCLUSIVE);
    assert_false(gate_is_open(&one));
    one.screen.count = one.confirm.count = 0;
    assert_int_equal(verdict_of(&one), VERDICT_INCONCLUSIVE);
    assert_true(isnan(one.change.mid) && isnan(one.mde));
}

/* Where a device throttled in some rounds, fresh ones decide. */
TEST(too_few_rounds_are_a_reason_for_more)
{
    struct gate_case same = one_case(0), slower = one_case(0.05), new = one_case(0);
    same.screen.count = slower.screen.count = 3;
    new.screen.count = 0;
    new.settled = true;
    assert_int_equal(verdict_of(&same), VERDICT_PASS);
    assert_int_equal(verdict_of(&slower), VERDICT_REGRESSED);
    assert_int_equal(gate_screen(&new, 1, &rules), 0);
}

/* Cases of which two builds of the same code differ by `differ`, up and down in turns. */
static double layout_of(int count, double differ, double scatter)
{
    static struct gate_case cases[60];
    memset(cases, 0, sizeof cases);
    for (int i = 0; i < count; i++) {
        struct gate_rounds *twin = &cases[i].twin;
        twin->count = GATE_SCREEN_ROUNDS;
        for (int r = 0; r < twin->count; r++)
            twin->value[r] = (i % 2 ? differ : -differ) + (r % 2 ? scatter : -scatter);
    }
    return gate_layout(cases, count, 0.05);
}

TEST(what_builds_of_the_same_code_differ_by_is_a_floor)
{
    assert_true(isnan(layout_of(9, 0.01, 0.001)));
    assert_true(layout_of(50, 0.01, 0.001) > 0.03);
    assert_true(layout_of(50, 0.01, 0.001) < 0.06);
    assert_true(layout_of(50, 0, 0.01) == 0); /* they scatter, and do not differ */
    assert_true(layout_of(50, 0.01, 0.001) > layout_of(50, 0.001, 0.001));
    struct gate_case cases[12];
    for (int i = 0; i < 12; i++) {
        cases[i] = one_case(0.03);
        cases[i].twin = cases[i].screen;
        for (int r = 0; r < GATE_SCREEN_ROUNDS; r++)
            cases[i].twin.value[r] = (i % 2 ? 0.009 : -0.009) + 1e-4 * r;
    }
    gate_screen(cases, 12, &rules);
    assert_true(cases[0].floor == cases[0].layout && cases[0].floor > 0.03);
    assert_int_equal(cases[0].verdict, VERDICT_PASS); /* 3 % may be the build's luck */
}

/* Every finding of one direction becomes that of the other. */
TEST(swapping_the_programs_mirrors_every_finding)
{
    enum { CASES = 60 };
    static struct gate_case there[CASES], back[CASES];
    double change[CASES];
    struct rng rng;
    int changed = 0;
    rng_seed(&rng, 7);
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < CASES; i++)
            change[i] = 0.015 * simulated_normal(&rng);
        simulate_gate(there, change, CASES, &launch_models[trial % LAUNCH_MODELS], &rng);
        for (int i = 0; i < CASES; i++) {
            struct gate_rounds *rounds[] = {&back[i].screen, &back[i].confirm, &back[i].null};
            back[i] = there[i];
            for (int r = 0; r < 3; r++)
                for (int v = 0; v < rounds[r]->count; v++)
                    rounds[r]->value[v] = -rounds[r]->value[v];
        }
        /* Judge both anew on all their rounds, in one look. */
        const struct gate_rules once = {.alpha = 0.05};
        gate_screen(there, CASES, &once);
        gate_confirm(there, CASES, &once, false);
        gate_screen(back, CASES, &once);
        gate_confirm(back, CASES, &once, false);
        for (int i = 0; i < CASES; i++) {
            assert_int_equal(there[i].slower.changed, back[i].faster.changed);
            assert_int_equal(there[i].slower.excluded, back[i].faster.excluded);
            assert_int_equal(there[i].faster.changed, back[i].slower.changed);
            assert_int_equal(there[i].null_tripped, back[i].null_tripped);
            assert_int_equal(there[i].verdict == VERDICT_REGRESSED,
                             back[i].verdict == VERDICT_IMPROVED);
            assert_int_equal(there[i].verdict == VERDICT_UNSTABLE,
                             back[i].verdict == VERDICT_UNSTABLE);
            assert_true(there[i].change.mid == -back[i].change.mid);
            changed += there[i].slower.changed;
        }
    }
    assert_true(changed > 10);
}

TEST(the_order_of_cases_and_rounds_changes_nothing)
{
    enum { CASES = 60 };
    static struct gate_case there[CASES], back[CASES];
    double change[CASES] = {0};
    struct rng rng;
    rng_seed(&rng, 8);
    for (int i = 0; i < CASES; i++)
        change[i] = 0.02 * simulated_normal(&rng);
    simulate_gate(there, change, CASES, &launch_models[1], &rng);
    for (int i = 0; i < CASES; i++) {
        struct gate_case *turned = &back[CASES - 1 - i];
        *turned = there[i];
        for (int v = 0; v < turned->screen.count; v++)
            turned->screen.value[v] = there[i].screen.value[turned->screen.count - 1 - v];
    }
    gate_screen(there, CASES, &rules);
    gate_screen(back, CASES, &rules);
    gate_confirm(there, CASES, &rules, false);
    gate_confirm(back, CASES, &rules, false);
    for (int i = 0; i < CASES; i++)
        assert_int_equal(there[i].verdict, back[CASES - 1 - i].verdict);
}

/* As in a round of launches, where the base is measured once for both. */
TEST(the_simulated_null_arm_shares_the_base)
{
    enum { ROUNDS = 30, TRIALS = 100 };
    double product = 0, square = 0;
    struct rng rng;
    rng_seed(&rng, 9);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct gate_rounds confirm = {.count = 0}, null = {.count = 0};
        simulate_rounds(&confirm, &null, &rng, &launch_models[1], 0, NULL, ROUNDS);
        assert_int_equal(null.count, ROUNDS);
        for (int i = 0; i < ROUNDS; i++) {
            product += confirm.value[i] * null.value[i];
            square += null.value[i] * null.value[i];
        }
    }
    assert_true(fabs(product / square - 0.5) < 0.05);
}

/* The full size is `make check-stats`; these counts follow from the seeds. */
TEST(unchanged_code_is_rarely_called_regressed)
{
    for (int m = 0; m < LAUNCH_MODELS; m++) {
        struct simulated_counts counts = simulate_gates(&launch_models[m], 20, 100, 0, 0, 1);
        assert_int_equal(counts.runs, 20);
        assert_in_range(counts.runs_with[VERDICT_REGRESSED], 0, 1);
    }
}

TEST(a_slowed_case_is_caught)
{
    struct simulated_counts three = simulate_gates(&launch_models[1], 100, 20, 1, 0.03, 2);
    struct simulated_counts five = simulate_gates(&launch_models[1], 100, 20, 1, 0.05, 4);
    struct simulated_counts ten = simulate_gates(&launch_models[1], 100, 20, 1, 0.10, 3);
    assert_true(three.of[VERDICT_REGRESSED] >= 80);
    assert_true(three.of[VERDICT_PASS] < 1);
    assert_true(five.of[VERDICT_REGRESSED] >= 98);
    assert_int_equal(ten.of[VERDICT_REGRESSED], 100);
}

TEST(a_pass_finds_about_what_it_says)
{
    for (int changed = 0; changed <= 10; changed += 10) {
        struct simulated_finds finds = simulate_finds(&launch_models[1], 200, 20, changed, 5);
        assert_in_range(100 * finds.found / finds.tried, 70, 90);
    }
}
