/* test_gate_nodes.c - one verdict over nodes: how often of unchanged programs, and whom it names.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/rng.h"
#include "judge/gate_nodes.h"
#include "stepped_clock.h"

enum { CASES = 20, NODES = 16 };

static const double ALPHA = 0.05;

struct gates {
    struct nodes_case cases[CASES];
    struct node_case nodes[CASES][NODES];
};

/* Rounds that scatter by 0.5 %, on nodes that differ by `between`, of a change that is the same on
 * all. */
static void measure(struct gates *gates, int nodes, double between, double change, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    memset(gates, 0, sizeof *gates);
    for (int c = 0; c < CASES; c++) {
        gates->cases[c] = (struct nodes_case){
            .nodes = gates->nodes[c], .count = nodes, .threshold = 0.02, .floor = 0.02};
        for (int n = 0; n < nodes; n++) {
            struct node_case *node = &gates->nodes[c][n];
            double own = log1p(change) + between * simulated_normal(&rng);
            *node = (struct node_case){.node = n, .own = VERDICT_PASS};
            for (int i = 0; i < GATE_SCREEN_ROUNDS; i++)
                node->rounds.value[node->rounds.count++] = own + 0.005 * simulated_normal(&rng);
        }
    }
}

static void judge(struct gates *gates)
{
    assert_int_equal(gate_nodes_judge(gates->cases, CASES, ALPHA), 0);
}

static int with(const struct gates *gates, enum verdict verdict)
{
    int count = 0;
    for (int c = 0; c < CASES; c++)
        count += gates->cases[c].verdict == verdict;
    return count;
}

/* How many of so many gates call any of twenty cases REGRESSED. */
static int alarms(int nodes, double between, double change, int gates_made)
{
    struct gates gates;
    int any = 0;
    for (int i = 0; i < gates_made; i++) {
        measure(&gates, nodes, between, change, rng_mix((uint64_t)nodes, (uint64_t)i));
        judge(&gates);
        any += with(&gates, VERDICT_REGRESSED) > 0;
    }
    return any;
}

/* At the floor itself: the worst of all that is no regression. */
TEST(programs_at_the_floor_regress_in_one_gate_of_twenty_at_most)
{
    enum { GATES = 200 };
    static const double between[] = {0.003, 0.02};
    for (int nodes = 4; nodes <= NODES; nodes *= 4)
        for (int b = 0; b < 2; b++) {
            int any = alarms(nodes, between[b], 0.02, GATES);
            printf("%d nodes, %.1f %% apart: %d of %d\n", nodes, 100 * between[b], any, GATES);
            assert_true(any <= GATES * 8 / 100); /* 5 %, and chance */
        }
}

TEST(unchanged_programs_pass)
{
    struct gates gates;
    measure(&gates, 8, 0.002, 0, 1);
    judge(&gates);
    assert_int_equal(with(&gates, VERDICT_PASS), CASES);
    assert_true(fabs(gates.cases[0].change.mid) < 0.005);
    assert_true(gates.cases[0].change.lo < gates.cases[0].change.hi);
    assert_true(gates.cases[0].mde > 0.02 && gates.cases[0].mde < 0.03);
}

TEST(a_program_that_is_slower_everywhere_is_found)
{
    struct gates gates;
    measure(&gates, 8, 0.002, 0, 2);
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < GATE_SCREEN_ROUNDS; i++) {
            gates.nodes[3][n].rounds.value[i] += log(1.05);
            gates.nodes[4][n].rounds.value[i] -= log(1.05);
        }
    judge(&gates);
    assert_int_equal(gates.cases[3].verdict, VERDICT_REGRESSED);
    assert_int_equal(gates.cases[4].verdict, VERDICT_IMPROVED);
    assert_int_equal(with(&gates, VERDICT_PASS), CASES - 2);
    assert_true(fabs(gates.cases[3].change.mid - log(1.05)) < 0.005);
}

/* Slower by 20 % on one node of eight, by its own gate as well: what holds for the others is no
 * regression, and the node is named. */
TEST(a_node_that_disagrees_is_told_apart)
{
    struct gates gates;
    measure(&gates, 8, 0.002, 0, 3);
    gates.nodes[5][6].own = VERDICT_REGRESSED;
    gates.nodes[7][6].own = VERDICT_REGRESSED; /* by chance: its rounds are like the others' */
    for (int i = 0; i < GATE_SCREEN_ROUNDS; i++)
        gates.nodes[5][6].rounds.value[i] += log(1.2);
    judge(&gates);
    assert_int_equal(with(&gates, VERDICT_REGRESSED), 0);
    assert_int_equal(gates.cases[5].verdict, VERDICT_INCONCLUSIVE);
    for (int c = 0; c < CASES; c++)
        for (int n = 0; n < 8; n++)
            assert_int_equal(gates.nodes[c][n].disagrees, c == 5 && n == 6);
}

TEST(a_node_that_lacks_a_regression_is_told_apart)
{
    struct gates gates;
    measure(&gates, 8, 0.001, 0.2, 4);
    for (int n = 0; n < 8; n++)
        gates.nodes[2][n].own = n == 1 ? VERDICT_PASS : VERDICT_REGRESSED;
    for (int i = 0; i < GATE_SCREEN_ROUNDS; i++)
        gates.nodes[2][1].rounds.value[i] -= log(1.2);
    for (int n = 0; n < 8; n++)
        gates.nodes[3][n].own = VERDICT_REGRESSED;
    judge(&gates);
    assert_int_equal(gates.cases[3].verdict, VERDICT_REGRESSED);
    assert_int_equal(gates.cases[2].verdict, VERDICT_REGRESSED);
    assert_true(gates.nodes[2][1].disagrees);
    assert_false(gates.nodes[2][0].disagrees || gates.nodes[3][1].disagrees);
    gates.nodes[2][1].own = VERDICT_UNCHANGED; /* proven, audited */
    judge(&gates);
    assert_true(gates.nodes[2][1].disagrees);
}

TEST(a_floor_that_noise_raised_is_none_to_pass_by)
{
    struct gates gates;
    measure(&gates, 8, 0.001, 0, 7);
    gates.cases[0].floor = 0.06;
    gates.cases[1].floor = gates.cases[1].quantum = 0.06;
    gates.cases[2].floor = gates.cases[2].quantum = 0.03;
    gates.cases[3].floor = 0.04;
    gates.cases[3].quantum = NAN;
    judge(&gates);
    assert_int_equal(gates.cases[0].verdict, VERDICT_UNSTABLE);
    assert_int_equal(gates.cases[1].verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(gates.cases[2].verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(gates.cases[3].verdict, VERDICT_PASS);
}

TEST(one_node_makes_no_verdict)
{
    struct gates gates;
    measure(&gates, 1, 0, 0.5, 5);
    gates.cases[0].verdict = VERDICT_MISSING;
    judge(&gates);
    assert_true(gates.cases[0].settled);
    assert_int_equal(gates.cases[0].verdict, VERDICT_MISSING);
}

TEST(rounds_without_any_noise_are_no_reason_to_divide_by_nothing)
{
    struct gates gates;
    measure(&gates, 4, 0, 0, 6);
    for (int n = 0; n < 4; n++)
        for (int i = 0; i < GATE_SCREEN_ROUNDS; i++)
            gates.nodes[0][n].rounds.value[i] = log(1.1);
    judge(&gates);
    assert_int_equal(gates.cases[0].verdict, VERDICT_REGRESSED);
    assert_true(fabs(gates.cases[0].change.hi - log(1.1)) < 1e-6);
}
