/* test_gate_stats.c - the gate's tests against SciPy and against their own symmetry. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "base/rng.h"
#include "judge/gate_stats.h"

enum { VALUES = 256 };

static void near(double value, double expected, const char *line)
{
    if (isnan(value) && isnan(expected)) return;
    if (!(fabs(value - expected) <= 1e-10 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g: %.60s", value, expected, line);
}

static int numbers(const char *text, double *out)
{
    int count = 0;
    char *end;
    for (const char *at = text; count < VALUES; at = end) {
        double value = strtod(at, &end);
        if (end == at) break;
        out[count++] = value;
    }
    return count;
}

static const char figures[] = "tests/golden/gate.tsv";

static void check_signed(char **field, const char *line)
{
    double d[VALUES];
    int count = numbers(field[4], d);
    double p =
        signed_rank_p(d, count, atof(field[2]), atoi(field[1]) > 0 ? SIDE_GREATER : SIDE_LESS);
    near(p, atof(field[3]), line);
}

TEST(the_signed_rank_p_is_that_of_every_pattern_of_signs)
{
    assert_true(golden_lines(figures, "signed", check_signed) > 100);
}

static void check_interval(struct interval got, char **field, const char *line)
{
    near(got.mid, atof(field[2]), line);
    near(got.lo, atof(field[3]), line);
    near(got.hi, atof(field[4]), line);
}

static void check_centre(char **field, const char *line)
{
    double d[VALUES];
    int count = numbers(field[5], d);
    check_interval(signed_rank_interval(d, count, atof(field[1])), field, line);
}

TEST(the_signed_rank_interval_is_the_inverted_test)
{
    assert_true(golden_lines(figures, "centre", check_centre) > 20);
}

static void check_ranksum(char **field, const char *line)
{
    double x[VALUES], y[VALUES];
    int x_count = numbers(field[4], x), y_count = numbers(field[5], y);
    double p = rank_sum_p(x, x_count, y, y_count, atof(field[2]),
                          atoi(field[1]) > 0 ? SIDE_GREATER : SIDE_LESS);
    near(p, atof(field[3]), line);
}

TEST(the_rank_sum_p_is_that_of_every_choice)
{
    assert_true(golden_lines(figures, "ranksum", check_ranksum) > 50);
}

static void check_move(char **field, const char *line)
{
    double x[VALUES], y[VALUES];
    struct interval move;
    int x_count = numbers(field[5], x), y_count = numbers(field[6], y);
    assert_int_equal(rank_sum_interval(x, x_count, y, y_count, atof(field[1]), &move), 0);
    check_interval(move, field, line);
}

TEST(the_rank_sum_interval_is_the_inverted_test)
{
    assert_true(golden_lines(figures, "move", check_move) > 15);
}

static void check_rejected(void (*reject)(struct hypothesis *family, int count, double level),
                           char **field, const char *line)
{
    double p[VALUES], expected[VALUES];
    struct hypothesis family[VALUES];
    int count = numbers(field[3], p);
    assert_int_equal(numbers(field[2], expected), count);
    for (int i = 0; i < count; i++)
        family[i] = (struct hypothesis){.p = p[i], .index = i};
    reject(family, count, atof(field[1]));
    for (int i = 0; i < count; i++)
        near(family[i].rejected, expected[family[i].index], line);
}

static void check_holm(char **field, const char *line)
{
    check_rejected(holm_reject, field, line);
}

static void check_bh(char **field, const char *line)
{
    check_rejected(bh_reject, field, line);
}

TEST(holm_rejects_what_its_adjusted_p_values_do)
{
    assert_true(golden_lines(figures, "holm", check_holm) >= 10);
}

TEST(benjamini_hochberg_rejects_what_scipy_does)
{
    assert_true(golden_lines(figures, "bh", check_bh) >= 15);
}

static void check_normal(char **field, const char *line)
{
    near(normal_quantile(atof(field[1])), atof(field[2]), line);
}

TEST(the_normal_quantile_is_scipys)
{
    assert_true(golden_lines(figures, "normal", check_normal) >= 8);
}

/* ----------------------------------------------------------- properties -- */

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static int draw(struct rng *rng, double *values, int most)
{
    int count = 1 + (int)rng_below(rng, (uint64_t)most);
    for (int i = 0; i < count; i++)
        values[i] = floor(uniform(rng) * 64) / 32 - 1; /* exact in binary, ties and all */
    return count;
}

TEST(turning_the_signs_turns_the_sides)
{
    struct rng rng;
    double d[20], turned[20];
    rng_seed(&rng, 1);
    for (int trial = 0; trial < 500; trial++) {
        int count = draw(&rng, d, 20);
        for (int i = 0; i < count; i++)
            turned[count - 1 - i] = -d[i]; /* in another order, too */
        assert_true(signed_rank_p(d, count, 0.25, SIDE_GREATER) ==
                    signed_rank_p(turned, count, -0.25, SIDE_LESS));
        struct interval a = signed_rank_interval(d, count, 0.95);
        struct interval b = signed_rank_interval(turned, count, 0.95);
        assert_true(a.mid == -b.mid);
        assert_true(isnan(a.lo) ? isnan(b.hi) : a.lo == -b.hi && a.hi == -b.lo);
    }
}

TEST(swapping_the_samples_turns_the_sides)
{
    struct rng rng;
    double x[9], y[9];
    struct interval there, back;
    rng_seed(&rng, 2);
    for (int trial = 0; trial < 200; trial++) {
        int x_count = draw(&rng, x, 9), y_count = draw(&rng, y, 9);
        near(rank_sum_p(x, x_count, y, y_count, 0.25, SIDE_GREATER),
             rank_sum_p(y, y_count, x, x_count, -0.25, SIDE_LESS), "swapped");
        assert_int_equal(rank_sum_interval(x, x_count, y, y_count, 0.95, &there), 0);
        assert_int_equal(rank_sum_interval(y, y_count, x, x_count, 0.95, &back), 0);
        assert_true(there.mid == -back.mid);
        assert_true(isnan(there.lo) ? isnan(back.hi) : there.lo == -back.hi);
    }
}

/* A p value at most a holds in at most a share a of unchanged cases. */
TEST(unchanged_differences_are_rarely_called_changed)
{
    struct rng rng;
    int called = 0;
    const int trials = 20000;
    rng_seed(&rng, 3);
    for (int trial = 0; trial < trials; trial++) {
        double d[10];
        for (int i = 0; i < 10; i++)
            d[i] = uniform(&rng) - uniform(&rng);
        called += signed_rank_p(d, 10, 0, SIDE_GREATER) <= 0.05;
    }
    assert_in_range(called, trials * 35 / 1000, trials * 5 / 100);
}

TEST(six_of_six_is_one_in_64)
{
    const double d[] = {1, 2, 3, 4, 5, 6};
    assert_true(signed_rank_p(d, 6, 0, SIDE_GREATER) == 1.0 / 64);
    assert_int_equal(signed_rank_outside(6, 0.95), 1);
    assert_int_equal(signed_rank_outside(5, 0.95), 0);
    assert_int_equal(rank_sum_outside(4, 4, 0.95), 1);
    assert_true(fabs(rank_sum_least_p(5, 5) * 252 - 1) < 1e-12);
    assert_true(fabs(rank_sum_least_p(7, 5) * 792 - 1) < 1e-12);
    assert_int_equal(rank_sum_values_for(1 / 252.0 + 1e-9), 5);
    assert_int_equal(rank_sum_values_for(0.001), 7);
    assert_int_equal(rank_sum_outside(3, 4, 0.95), 0);
}

TEST(a_difference_of_exactly_the_shift_speaks_against_a_change)
{
    const double d[] = {0, 0, 0, 1, 1, 1};
    assert_true(signed_rank_p(d, 6, 0, SIDE_GREATER) > 1.0 / 64);
    assert_true(signed_rank_p(d, 3, 0, SIDE_GREATER) == 1);
    assert_true(signed_rank_p(d, 3, 0, SIDE_LESS) == 1);
}

TEST(nothing_is_evidence_of_nothing)
{
    const double one = 1;
    struct interval move;
    assert_true(signed_rank_p(&one, 0, 0, SIDE_GREATER) == 1);
    assert_true(rank_sum_p(&one, 1, &one, 0, 0, SIDE_LESS) == 1);
    assert_true(isnan(signed_rank_interval(&one, 0, 0.95).mid));
    assert_int_equal(rank_sum_interval(&one, 0, &one, 1, 0.95, &move), 0);
    assert_true(isnan(move.mid) && isnan(move.lo));
}

/* Beyond the exact table the normal law goes on where it ended. */
TEST(the_interval_of_many_launches_joins_the_exact_one)
{
    int exact = rank_sum_outside(RANK_SUM_MAX, RANK_SUM_MAX, 0.95);
    int beyond = rank_sum_outside(RANK_SUM_MAX, RANK_SUM_MAX + 1, 0.95);
    assert_in_range(beyond, exact, exact + 16);
}

/* Sums of twelve uniform values: near enough to normal for two per cent. */
TEST(the_spread_of_few_values_is_right_in_the_mean)
{
    enum { TRIALS = 40000 };
    struct rng rng;
    rng_seed(&rng, 11);
    for (int count = 2; count <= 12; count++) {
        double mean = 0, values[12];
        for (int trial = 0; trial < TRIALS; trial++) {
            for (int i = 0; i < count; i++) {
                values[i] = -6;
                for (int u = 0; u < 12; u++)
                    values[i] += (double)(rng_next(&rng) >> 11) * 0x1p-53;
            }
            mean += spread_of_few(values, count) / TRIALS;
        }
        assert_true(fabs(mean - 1) < 0.02);
    }
}
