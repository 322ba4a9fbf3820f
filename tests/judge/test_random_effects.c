/* test_random_effects.c - Student's t and the mean over nodes against SciPy and statsmodels
 * (golden/fleet.tsv, made by golden/make_fleet.py), and what they say of few nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "base/rng.h"
#include "judge/random_effects.h"
#include "judge/student_t.h"
#include "stepped_clock.h"

enum { NODES = 64 };

static void near(double value, double expected, const char *line)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-15))
        fail_msg("%.17g is not %.17g: %.60s", value, expected, line);
}

static int nodes_of(char **field, struct node_effect *nodes)
{
    char *effects = field[0], *variances = field[1], *next;
    int count = 0;
    for (; count < NODES; count++) {
        nodes[count].effect = strtod(effects, &next);
        if (next == effects) break;
        effects = next;
        nodes[count].variance = strtod(variances, &variances);
    }
    return count;
}

static const char figures[] = "tests/golden/fleet.tsv";

static void check_above(char **field, const char *line)
{
    double t = atof(field[1]), freedom = atof(field[2]), p = atof(field[3]);
    near(student_t_above(t, freedom), p, line);
    if (p > 1e-12 && p < 0.9 && fabs(t) > 0.01)
        near(student_t_exceeded(student_t_above(t, freedom), freedom), t, line);
}

TEST(the_tail_of_t_is_that_of_scipy)
{
    assert_int_equal(golden_lines(figures, "above", check_above), 88);
}

static void check_pooled(char **field, const char *line)
{
    struct node_effect nodes[NODES];
    int count = nodes_of(field + 6, nodes);
    struct pooled_effect pooled = random_effects(nodes, count);
    assert_int_equal(pooled.nodes, count);
    near(pooled.effect, atof(field[1]), line);
    near(pooled.error, atof(field[2]), line);
    near(pooled.between, atof(field[3]), line);
    near(pooled.q, atof(field[4]), line);
    near(pooled_margin(&pooled, 0.95), atof(field[5]), line);
}

TEST(the_mean_over_nodes_is_that_of_statsmodels)
{
    assert_int_equal(golden_lines(figures, "pooled", check_pooled), 18);
}

static void check_alike(char **field, const char *line)
{
    struct node_effect nodes[NODES];
    int count = nodes_of(field + 3, nodes);
    near(node_p_alike(nodes, count, atoi(field[1])), atof(field[2]), line);
}

TEST(a_node_is_held_against_the_others_without_it)
{
    assert_int_equal(golden_lines(figures, "alike", check_alike), 12);
}

TEST(one_node_says_nothing_of_others)
{
    const struct node_effect one = {0.1, 1e-6};
    struct pooled_effect pooled = random_effects(&one, 1), none = random_effects(&one, 0);
    assert_true(pooled.effect == 0.1);
    assert_true(isnan(pooled.error) && isnan(pooled_margin(&pooled, 0.95)));
    assert_true(pooled_p_above(&pooled, 0) == 1 && pooled_p_below(&pooled, 1) == 1);
    assert_true(isnan(none.effect) && pooled_p_above(&none, 0) == 1);
    assert_true(node_p_alike(&one, 1, 0) == 1);
}

/* Four nodes that differ by 1 % among themselves, and measure themselves to 0.1 %: what holds for
 * all of them is known no better than four nodes know it. */
TEST(nodes_that_differ_are_no_proof)
{
    int found = 0;
    enum { DRAWS = 4000 };
    for (int draw = 0; draw < DRAWS; draw++) {
        struct node_effect nodes[4];
        struct rng rng;
        rng_seed(&rng, (uint64_t)draw + 1);
        for (int i = 0; i < 4; i++)
            nodes[i] = (struct node_effect){0.01 * simulated_normal(&rng), 1e-6};
        struct pooled_effect pooled = random_effects(nodes, 4);
        found += pooled_p_above(&pooled, 0) <= 0.05;
    }
    assert_in_range(found, DRAWS * 4 / 100, DRAWS * 6 / 100);
}
