/* test_twin.c - the decision between twins: what it assumes, its error rates, what it finds. */
#include <math.h>
#include <stdlib.h>

#include "tests/test.h"
#include "twin_simulation.h"

enum { MOST_CASES = 60, MOST_TURNS = 8192 };

/* TWIN_TRIALS=100 in the environment: a hundred times as many. */
static int trials(int usual)
{
    const char *more = getenv("TWIN_TRIALS");
    return more ? usual * atoi(more) : usual;
}

/* The turns of a gate; free. */
struct gate {
    struct twin_case cases[MOST_CASES];
    float *side[MOST_CASES][SIM_SIDES];
};

static struct gate *gate_new(int turns)
{
    struct gate *gate = calloc(1, sizeof *gate);
    assert_non_null(gate);
    for (int i = 0; i < MOST_CASES; i++)
        for (int side = 0; side < SIM_SIDES; side++) {
            gate->side[i][side] = calloc((size_t)turns, sizeof(float));
            assert_non_null(gate->side[i][side]);
        }
    return gate;
}

static void gate_free(struct gate *gate)
{
    for (int i = 0; i < MOST_CASES; i++)
        for (int side = 0; side < SIM_SIDES; side++)
            free(gate->side[i][side]);
    free(gate);
}

static void gate_draw(struct gate *gate, const struct turn_model *model, double change,
                      double threshold, int cases, int turns, struct rng *rng)
{
    for (int i = 0; i < cases; i++) {
        float **side = gate->side[i];
        turns_draw(model, change, turns, rng, side);
        gate->cases[i] = (struct twin_case){.base_ns = side[SIM_BASE],
                                            .candidate_ns = side[SIM_CANDIDATE],
                                            .null_ns = side[SIM_NULL],
                                            .turns = turns,
                                            .threshold = threshold};
    }
    twin_judge(gate->cases, cases);
}

static int count_verdicts(const struct gate *gate, int cases, enum verdict verdict)
{
    int found = 0;
    for (int i = 0; i < cases; i++)
        found += gate->cases[i].verdict == verdict;
    return found;
}

/* ---------------------------------------------------------------- blocks -- */

static void fill(float *times, int turns, float time_ns)
{
    for (int i = 0; i < turns; i++)
        times[i] = time_ns;
}

TEST(swapping_the_sides_negates_the_values)
{
    float base[200], other[200];
    struct gate_rounds there, back;
    for (int i = 0; i < 200; i++) {
        base[i] = 1000 + (float)(i * 37 % 101);
        other[i] = 1010 + (float)(i * 53 % 97) + (i == 77 ? 90000 : 0);
    }
    twin_blocks(base, other, 200, &there);
    twin_blocks(other, base, 200, &back);
    assert_int_equal(there.count, SIGNED_RANK_MAX);
    for (int i = 0; i < there.count; i++)
        assert_true(there.value[i] == -back.value[i]);
}

TEST(a_turn_that_is_not_valid_on_one_side_is_left_out_of_both)
{
    float base[64], other[64];
    struct gate_rounds blocks;
    fill(base, 64, 1000);
    fill(other, 64, 1100);
    base[3] = NAN;
    other[5] = NAN;
    twin_blocks(base, other, 64, &blocks);
    assert_int_equal(blocks.count, 62);
    for (int i = 0; i < blocks.count; i++)
        assert_true(fabs(blocks.value[i] - log(1.1)) < 1e-9);
}

TEST(a_rare_long_launch_moves_its_block_by_little)
{
    float base[6400], other[6400];
    struct gate_rounds blocks;
    for (int i = 0; i < 6400; i++)
        base[i] = other[i] = 1000 + (float)(i % 100);
    other[17] = 1e6;
    twin_blocks(base, other, 6400, &blocks);
    assert_true(blocks.value[0] > 0 && blocks.value[0] < 2e-3);
}

TEST(steps_of_the_clock_are_told_and_bound_what_is_found)
{
    float base[400], other[400];
    for (int i = 0; i < 400; i++)
        base[i] = other[i] = i % 3 ? 608 : 640;
    double dithered = twin_quantum(base, other, 400);
    assert_true(dithered > 0.004 && dithered < 0.007);
    fill(base, 400, 608);
    fill(other, 400, 640);
    base[0] = other[0] = 608;
    assert_true(twin_quantum(base, other, 400) > 0); /* two readings, half of them each */
    for (int i = 0; i < 400; i++)
        base[i] = other[i] = 50000 + (float)i;
    assert_true(twin_quantum(base, other, 400) == 0);
}

/* --------------------------------------------------------------- verdicts -- */

TEST(each_verdict_is_told)
{
    static const struct {
        double change;
        enum verdict verdict;
    } changes[] = {{0, VERDICT_PASS}, {0.01, VERDICT_REGRESSED}, {-0.01, VERDICT_IMPROVED}};
    struct gate *gate = gate_new(1024);
    struct rng rng;
    rng_seed(&rng, 1);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        gate_draw(gate, &turn_models[0], changes[i].change, TWIN_THRESHOLD, 1, 1024, &rng);
        assert_int_equal(gate->cases[0].verdict, changes[i].verdict);
        assert_true(gate->cases[0].change.lo < changes[i].change);
        assert_true(gate->cases[0].change.hi > changes[i].change);
    }
    gate_draw(gate, &turn_models[0], TWIN_THRESHOLD, TWIN_THRESHOLD, 1, 1024, &rng);
    assert_int_equal(gate->cases[0].verdict, VERDICT_INCONCLUSIVE);
    gate_free(gate);
}

TEST(a_copy_of_the_base_that_differs_voids_the_verdict)
{
    struct gate *gate = gate_new(1024);
    struct rng rng;
    rng_seed(&rng, 2);
    turns_draw(&turn_models[0], 0, 1024, &rng, gate->side[0]);
    for (int i = 0; i < 1024; i++)
        gate->side[0][SIM_BASE][i] *= 1.02F;
    gate->cases[0] = (struct twin_case){.base_ns = gate->side[0][SIM_BASE],
                                        .candidate_ns = gate->side[0][SIM_CANDIDATE],
                                        .null_ns = gate->side[0][SIM_NULL],
                                        .turns = 1024,
                                        .threshold = TWIN_THRESHOLD};
    twin_judge(gate->cases, 1);
    assert_int_equal(gate->cases[0].verdict, VERDICT_UNSTABLE);
    gate->cases[0].null_ns = NULL;
    twin_judge(gate->cases, 1);
    assert_int_equal(gate->cases[0].verdict, VERDICT_IMPROVED);
    gate->cases[0].on_host = true;
    twin_judge(gate->cases, 1);
    assert_int_equal(gate->cases[0].verdict, VERDICT_UNSTABLE);
    for (int i = 0; i < 1024; i++)
        gate->side[0][SIM_CANDIDATE][i] *= 1.5F;
    twin_judge(gate->cases, 1);
    assert_int_equal(gate->cases[0].verdict, VERDICT_REGRESSED);
    gate_free(gate);
}

/* Ten cases, whose copies of the base lie better or worse by 1 %. */
TEST(what_copies_differ_by_is_a_floor)
{
    enum { CASES = 10, TURNS = 256 };
    static float base[CASES][TURNS], candidate[CASES][TURNS], null[CASES][TURNS];
    struct twin_case cases[CASES];
    struct rng rng;
    rng_seed(&rng, 7);
    for (int lies = 0; lies < 2; lies++) {
        for (int i = 0; i < CASES; i++) {
            float *side[] = {base[i], candidate[i], null[i]};
            turns_draw(&turn_models[0], 0, TURNS, &rng, side);
            for (int turn = 0; lies && turn < TURNS; turn++)
                null[i][turn] *= i % 2 ? 1.01F : 0.99F;
            cases[i] = (struct twin_case){.base_ns = base[i],
                                          .candidate_ns = candidate[i],
                                          .null_ns = null[i],
                                          .turns = TURNS,
                                          .threshold = TWIN_THRESHOLD};
        }
        twin_judge(cases, CASES);
        if (lies)
            assert_true(cases[0].layout > 0.02 && cases[0].floor == cases[0].layout);
        else
            assert_true(cases[0].layout < 0.001 && cases[0].floor == TWIN_THRESHOLD);
    }
}

/* Unchanged code of three cases of an H200 was up to 1 % faster by where its memory lay. */
TEST(memory_of_its_own_is_told_no_finer_than_that)
{
    static const struct {
        double threshold, change;
        enum verdict verdict;
    } told[] = {{TWIN_THRESHOLD, -0.01, VERDICT_UNSTABLE},
                {TWIN_THRESHOLD, 0.01, VERDICT_UNSTABLE},
                {TWIN_THRESHOLD, 0.03, VERDICT_REGRESSED},
                {TWIN_MEMORY, 0.01, VERDICT_PASS},
                {TWIN_MEMORY, -0.03, VERDICT_IMPROVED}};
    struct gate *gate = gate_new(1024);
    struct rng rng;
    rng_seed(&rng, 8);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        gate_draw(gate, &turn_models[0], told[i].change, told[i].threshold, 1, 1024, &rng);
        gate->cases[0].has_memory = true;
        assert_true(isnan(twin_judge(gate->cases, 1)));
        assert_int_equal(gate->cases[0].verdict, told[i].verdict);
        assert_true(gate->cases[0].floor == TWIN_MEMORY);
    }
    gate_free(gate);
}

TEST(too_few_valid_turns_decide_nothing)
{
    float base[64], other[64];
    struct twin_case one = {
        .base_ns = base, .candidate_ns = other, .turns = 64, .threshold = TWIN_THRESHOLD};
    fill(base, 64, 1000);
    fill(other, 64, 2000);
    fill(base, 50, NAN);
    twin_judge(&one, 1);
    assert_int_equal(one.verdict, VERDICT_INCONCLUSIVE);
}

TEST(turns_end_when_both_directions_are_decided)
{
    struct gate *gate = gate_new(4096);
    struct rng rng;
    struct twin_goal goal = {TWIN_THRESHOLD, twin_alpha_of(96)};
    float **side = gate->side[0];
    rng_seed(&rng, 3);
    turns_draw(&turn_models[0], 0, 4096, &rng, side);
    assert_true(twin_is_decided(side[SIM_BASE], side[SIM_CANDIDATE], 256, &goal));
    turns_draw(&turn_models[0], 0.02, 4096, &rng, side);
    assert_true(twin_is_decided(side[SIM_BASE], side[SIM_CANDIDATE], 64, &goal));
    turns_draw(&turn_models[0], TWIN_THRESHOLD, 4096, &rng, side);
    assert_false(twin_is_decided(side[SIM_BASE], side[SIM_CANDIDATE], 4096, &goal));
    gate_free(gate);
}

/* ------------------------------------------------------------ error rates -- */

/* Without a floor: any difference counts. Of gates of 3 cases, 1 in 100 may be wrong at most. */
TEST(the_same_code_raises_no_alarm_in_any_model)
{
    enum { CASES = 3, TURNS = 150 };
    struct gate *gate = gate_new(TURNS);
    struct rng rng;
    rng_seed(&rng, 4);
    for (int m = 0; m < TURN_MODELS; m++) {
        int gates = trials(10), wrong = 0;
        for (int i = 0; i < gates; i++) {
            gate_draw(gate, &turn_models[m], 0, 0, CASES, TURNS, &rng);
            int told = count_verdicts(gate, CASES, VERDICT_REGRESSED) +
                       count_verdicts(gate, CASES, VERDICT_IMPROVED);
            wrong += told > 0;
        }
        if (gates > 100) print_message("%s: %d of %d gates\n", turn_models[m].name, wrong, gates);
        assert_true(wrong <= gates / 100);
    }
    gate_free(gate);
}

/* One alarm in a hundred gates of any size: of 60 cases that are each told at that rate, three of
 * these 30 gates would raise one. */
TEST(a_gate_of_many_cases_raises_no_more_alarms)
{
    enum { TURNS = 32 };
    struct gate *gate = gate_new(TURNS);
    struct rng rng;
    int gates = trials(30), wrong = 0;
    rng_seed(&rng, 10);
    for (int i = 0; i < gates; i++) {
        gate_draw(gate, &turn_models[0], 0, 0, MOST_CASES, TURNS, &rng);
        for (int k = 0; k < MOST_CASES; k++)
            gate->cases[k].null_ns = NULL; /* what they show would be a floor */
        twin_judge(gate->cases, MOST_CASES);
        wrong += count_verdicts(gate, MOST_CASES, VERDICT_REGRESSED) +
                     count_verdicts(gate, MOST_CASES, VERDICT_IMPROVED) >
                 0;
    }
    if (gates > 100) print_message("%d of %d gates\n", wrong, gates);
    assert_true(wrong <= gates / 100);
    gate_free(gate);
}

/* Over all looks together: by looks of 5 % each it would be three times as many. */
TEST(a_case_at_its_floor_passes_in_one_gate_of_twenty_at_most)
{
    enum { TURNS = 512 };
    struct gate *gate = gate_new(TURNS);
    struct rng rng;
    int gates = trials(100), passed = 0, regressed = 0;
    rng_seed(&rng, 9);
    for (int i = 0; i < gates; i++) {
        gate_draw(gate, &turn_models[0], log1p(TWIN_THRESHOLD), TWIN_THRESHOLD, 1, TURNS, &rng);
        passed += gate->cases[0].verdict == VERDICT_PASS;
        regressed += gate->cases[0].verdict == VERDICT_REGRESSED;
    }
    if (gates > 100) print_message("%d passed, %d REGRESSED of %d\n", passed, regressed, gates);
    assert_in_range(passed, 1, gates / 20);
    assert_in_range(regressed, 0, gates / 100);
    gate_free(gate);
}

/* A tenth of a per cent, beyond a floor of half as much, at the error rate of a gate of 96. */
TEST(a_change_of_a_tenth_of_a_per_cent_is_found)
{
    struct gate *gate = gate_new(MOST_TURNS);
    struct rng rng;
    int gates = trials(4), found = 0;
    struct twin_goal goal = {0.0005, twin_alpha_of(96)};
    rng_seed(&rng, 5);
    for (int i = 0; i < gates; i++) {
        bool is_found = false;
        turns_draw(&turn_models[0], 0.001, MOST_TURNS, &rng, gate->side[0]);
        for (int look = 2048; look <= MOST_TURNS && !is_found; look *= 2)
            is_found =
                twin_is_decided(gate->side[0][SIM_BASE], gate->side[0][SIM_CANDIDATE], look, &goal);
        found += is_found;
    }
    if (gates > 100) print_message("found in %d of %d\n", found, gates);
    assert_true(found >= gates * 95 / 100);
    gate_free(gate);
}

TEST(the_interval_has_the_change_in_it)
{
    enum { TURNS = 128 };
    struct gate *gate = gate_new(TURNS);
    struct rng rng;
    rng_seed(&rng, 6);
    for (int m = 0; m < TURN_MODELS; m++) {
        int gates = trials(20), missed = 0;
        double change = 0.01;
        for (int i = 0; i < gates; i++) {
            gate_draw(gate, &turn_models[m], change, TWIN_THRESHOLD, 1, TURNS, &rng);
            struct interval found = gate->cases[0].change;
            /* Readings of a coarse clock are not quite the constant times the base's. */
            double coarse = turn_models[m].step_ns / turn_models[m].time_ns / 10;
            missed += !(found.lo - coarse <= change && change <= found.hi + coarse);
        }
        if (gates > 100)
            print_message("%s: missed in %d of %d\n", turn_models[m].name, missed, gates);
        assert_true(missed <= gates / 20);
    }
    gate_free(gate);
}
