/* test_twin_processes.c - the decision by several processes: its error rates, what it finds. */
#include <math.h>
#include <stdlib.h>

#include "tests/test.h"
#include "twin_simulation.h"
#include "judge/twin_processes.h"

/* Where a copy lies, in ln(time): a normal draw, or with probability `share` also `slow`. */
struct place_model {
    const char *name;
    double deviation, share, slow;
};

static const struct place_model places[] = {
    {"places of 0.02 %", .deviation = 0.0002},
    {"places of 0.5 %", .deviation = 0.005},
    {"one copy in 25 slower by 2 %", .deviation = 0.0002, .share = 0.04, .slow = 0.02},
    /* The shares at which the test errs most (docs/gate-statistics.md). */
    {"one copy in two slower by 0.3 %", .deviation = 0.0002, .share = 0.5, .slow = 0.003},
    {"seven copies in ten slower by 0.3 %", .deviation = 0.0002, .share = 0.7, .slow = 0.003},
};
enum { PLACES = sizeof places / sizeof places[0], MOST_PROCESSES = 14 };

/* TWIN_TRIALS=100 in the environment: a hundred times as many. */
static int trials(int usual)
{
    const char *more = getenv("TWIN_TRIALS");
    return more ? usual * atoi(more) : usual;
}

static double draw_place(const struct place_model *model, struct rng *rng)
{
    double place = model->deviation * turn_normal(rng);
    return turn_uniform(rng) < model->share ? place + model->slow : place;
}

/* A case of `processes` processes, judged as one of `cases`. */
static struct twin_case draw_case(const struct place_model *model, double change, double threshold,
                                  int processes, int cases, struct rng *rng)
{
    struct twin_process process[MOST_PROCESSES];
    struct twin_case one = {.threshold = threshold};
    for (int i = 0; i < processes; i++) {
        double candidate = draw_place(model, rng) + change;
        double base = draw_place(model, rng), copy = draw_place(model, rng);
        process[i] = (struct twin_process){candidate - (base + copy) / 2, copy - base};
    }
    twin_processes_judge(&one, process, processes, twin_alpha_of(cases));
    return one;
}

static int count_verdicts(const struct place_model *model, double change, double threshold,
                          int processes, int cases, int draws, enum verdict verdict)
{
    struct rng rng;
    int found = 0;
    rng_seed(&rng, 21);
    for (int i = 0; i < draws; i++)
        found += draw_case(model, change, threshold, processes, cases, &rng).verdict == verdict;
    return found;
}

TEST(a_gate_of_unchanged_code_says_changed_in_one_per_cent_at_most)
{
    enum { CASES = 100 };
    int gates = trials(60);
    for (size_t m = 0; m < PLACES; m++)
        for (int processes = TWIN_LEAST_PROCESSES; processes <= MOST_PROCESSES; processes += 3) {
            struct rng rng;
            int wrong = 0;
            rng_seed(&rng, 7 + (uint64_t)processes);
            for (int gate = 0; gate < gates; gate++) {
                bool changed = false;
                for (int i = 0; i < CASES; i++)
                    changed |= verdict_is_change(
                        draw_case(&places[m], 0, 0, processes, CASES, &rng).verdict);
                wrong += changed;
            }
            /* Three deviations above 1 %. */
            if (wrong > 0.01 * gates + 3 * sqrt(0.01 * gates))
                fail_msg("%s, %d processes: %d of %d gates", places[m].name, processes, wrong,
                         gates);
        }
}

TEST(a_case_that_is_slower_by_the_floor_passes_in_five_per_cent_at_most)
{
    int draws = trials(4000);
    for (size_t m = 0; m < PLACES; m++) {
        int passed = count_verdicts(&places[m], log1p(0.001), 0.001, 8, 1, draws, VERDICT_PASS);
        if (passed > 0.05 * draws + 2 * sqrt(0.05 * draws))
            fail_msg("%s: %d of %d", places[m].name, passed, draws);
    }
}

TEST(a_tenth_of_a_per_cent_is_found_by_eight_processes_among_a_hundred_cases)
{
    int draws = trials(1000);
    int found = count_verdicts(&places[0], log1p(0.001), 0, 8, 100, draws, VERDICT_REGRESSED);
    assert_true(found >= 0.95 * draws);
    found = count_verdicts(&places[0], log1p(-0.001), 0, 8, 100, draws, VERDICT_IMPROVED);
    assert_true(found >= 0.95 * draws);
}

TEST(what_it_finds_is_found_in_about_95_of_100)
{
    struct rng rng;
    int draws = trials(400), found = 0;
    double mean = 0;
    rng_seed(&rng, 3);
    for (int i = 0; i < draws; i++)
        mean += draw_case(&places[0], 0, 0.001, 8, 10, &rng).mde / draws;
    for (int i = 0; i < draws; i++)
        found +=
            draw_case(&places[0], log1p(mean), 0.001, 8, 10, &rng).verdict == VERDICT_REGRESSED;
    assert_in_range(100 * found / draws, 90, 99);
}

TEST(places_that_differ_widely_are_mostly_open)
{
    int draws = trials(500);
    assert_true(count_verdicts(&places[1], 0, 0.001, 8, 10, draws, VERDICT_PASS) < 0.15 * draws);
}

TEST(too_few_processes_say_nothing)
{
    struct rng rng;
    rng_seed(&rng, 1);
    struct twin_case one = draw_case(&places[0], 0.5, 0, TWIN_LEAST_PROCESSES - 1, 1, &rng);
    assert_int_equal(one.verdict, VERDICT_INCONCLUSIVE);
    assert_string_equal(one.reason, "too few processes measured it");
}

TEST(a_clock_that_is_coarser_than_the_threshold_passes_nothing)
{
    struct twin_process alike[TWIN_LEAST_PROCESSES] = {{0, 0}};
    struct twin_case one = {.threshold = 0.001, .quantum = 0.01};
    twin_processes_judge(&one, alike, TWIN_LEAST_PROCESSES, twin_alpha_of(1));
    assert_int_equal(one.verdict, VERDICT_INCONCLUSIVE);
    assert_float_equal(one.floor, 0.01, 0);
}

TEST(a_process_is_read_from_its_turns)
{
    enum { TURNS = 2048 };
    static float side[SIM_SIDES][TURNS];
    float *sides[SIM_SIDES] = {side[0], side[1], side[2]};
    struct twin_process found;
    struct rng rng;
    rng_seed(&rng, 5);
    turns_draw(&turn_models[0], 0.01, TURNS, &rng, sides);
    struct twin_case turns = {.base_ns = side[SIM_BASE],
                              .candidate_ns = side[SIM_CANDIDATE],
                              .null_ns = side[SIM_NULL],
                              .turns = TURNS};
    assert_true(twin_process_read(&turns, &found));
    assert_float_equal(found.change, 0.01, 0.0005);
    assert_float_equal(found.copies, 0, 0.0005);
    turns.turns = TWIN_FIRST_TURNS - 1;
    assert_false(twin_process_read(&turns, &found));
    turns = (struct twin_case){.base_ns = side[SIM_BASE], .turns = TURNS};
    assert_false(twin_process_read(&turns, &found));
}
