/*
 * test_fill.c - the values of filled inputs: their law, their range, their bits.
 */

#include <math.h>

#include "tests/test.h"
#include "base/fill.h"

enum { DRAWS = 200000 };

static double values[DRAWS];

static void draw(struct assay_fill fill, uint64_t seed)
{
    for (int i = 0; i < DRAWS; i++)
        values[i] = fill_value(&fill, fill.hard, seed, i);
}

struct moments {
    double mean, variance, excess_kurtosis, least, most;
};

static struct moments moments_of_values(void)
{
    struct moments m = {.least = INFINITY, .most = -INFINITY};
    double fourth = 0;
    for (int i = 0; i < DRAWS; i++) {
        m.mean += values[i] / DRAWS;
        m.least = fmin(m.least, values[i]);
        m.most = fmax(m.most, values[i]);
    }
    for (int i = 0; i < DRAWS; i++) {
        double away = values[i] - m.mean;
        m.variance += away * away / DRAWS;
        fourth += away * away * away * away / DRAWS;
    }
    m.excess_kurtosis = fourth / (m.variance * m.variance) - 3;
    return m;
}

/* Within 5 standard errors. */
static void assert_within(double got, double expected, double standard_error)
{
    if (!(fabs(got - expected) <= 5 * standard_error))
        fail_msg("got %g, expected %g within 5 times %g", got, expected, standard_error);
}

TEST(uniform_values_fill_their_range_evenly)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_UNIFORM, .a = -3, .b = 5};
    draw(fill, 11);
    struct moments m = moments_of_values();
    double variance = 64.0 / 12;
    assert_true(m.least >= -3 && m.most < 5);
    assert_true(m.least < -2.999 && m.most > 4.999);
    assert_within(m.mean, 1, sqrt(variance / DRAWS));
    /* The fourth moment of a uniform distribution is 9/5 of the variance squared. */
    assert_within(m.variance, variance, variance * sqrt(0.8 / DRAWS));
    assert_within(m.excess_kurtosis, -1.2, 0.01);
}

TEST(normal_values_have_the_mean_spread_and_tails_of_a_normal_law)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 10, .b = 2};
    draw(fill, 12);
    struct moments m = moments_of_values();
    assert_within(m.mean, 10, 2 / sqrt(DRAWS));
    assert_within(m.variance, 4, 4 * sqrt(2.0 / DRAWS));
    /* Sixteen uniforms: -1.2 / 16. */
    assert_within(m.excess_kurtosis, -0.075, sqrt(24.0 / DRAWS));
    assert_true(m.least >= 10 - 2 * 6.93 && m.most <= 10 + 2 * 6.93);
    assert_true(m.least < 10 - 2 * 3.9 && m.most > 10 + 2 * 3.9);
}

TEST(normal_values_lie_within_one_two_and_three_deviations_as_they_should)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    draw(fill, 13);
    for (int deviations = 1; deviations <= 3; deviations++) {
        int inside = 0;
        for (int i = 0; i < DRAWS; i++)
            inside += fabs(values[i]) < deviations;
        /* The sum of sixteen uniforms is that close to the normal law itself. */
        assert_within((double)inside / DRAWS, erf(deviations / sqrt(2)), 0.001);
    }
}

TEST(neighbouring_values_are_not_correlated)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    draw(fill, 14);
    for (int lag = 1; lag <= 8; lag++) {
        double sum = 0;
        for (int i = 0; i + lag < DRAWS; i++)
            sum += values[i] * values[i + lag];
        assert_within(sum / (DRAWS - lag), 0, 1 / sqrt(DRAWS - lag));
    }
}

TEST(integers_take_every_value_of_their_range_alike)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_INTEGER, .a = -4, .b = 4};
    draw(fill, 15);
    int count[9] = {0};
    for (int i = 0; i < DRAWS; i++) {
        assert_true(values[i] == trunc(values[i]) && values[i] >= -4 && values[i] <= 4);
        count[(int)values[i] + 4]++;
    }
    for (int i = 0; i < 9; i++)
        assert_within(count[i], DRAWS / 9.0, sqrt(DRAWS * (1 / 9.0) * (8 / 9.0)));
}

TEST(hard_values_appear_at_the_stated_share_and_alike)
{
    static const float hard[] = {1000, 2000, 3000};
    struct assay_fill fill = {
        .kind = ASSAY_FILL_UNIFORM, .b = 1, .hard = hard, .hard_count = 3, .hard_every = 50};
    draw(fill, 16);
    int count[3] = {0}, others = 0;
    for (int i = 0; i < DRAWS; i++) {
        if (values[i] < 1)
            others++;
        else
            count[(int)(values[i] / 1000) - 1]++;
    }
    double share = 1 / 150.0;
    for (int i = 0; i < 3; i++)
        assert_within(count[i], DRAWS * share, sqrt(DRAWS * share * (1 - share)));
    assert_int_equal(others + count[0] + count[1] + count[2], DRAWS);
}

TEST(hard_values_move_no_other_value)
{
    static const float hard[] = {1000};
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .a = 1, .b = 3, .hard_every = 10};
    draw(fill, 17);
    fill.hard_count = 1;
    int replaced = 0;
    for (int i = 0; i < DRAWS; i++) {
        double value = fill_value(&fill, hard, 17, i);
        replaced += value == 1000;
        assert_true(value == 1000 || value == values[i]);
    }
    assert_true(replaced > 0);
}

TEST(infinities_can_be_hard_values)
{
    static const float hard[] = {INFINITY, -INFINITY};
    struct assay_fill fill = {
        .kind = ASSAY_FILL_UNIFORM, .b = 1, .hard = hard, .hard_count = 2, .hard_every = 1};
    draw(fill, 18);
    for (int i = 0; i < DRAWS; i++)
        assert_true(isinf(values[i]));
}

static const struct assay_fill each_kind[] = {
    {.kind = ASSAY_FILL_UNIFORM, .a = -0.7, .b = 1.1},
    {.kind = ASSAY_FILL_NORMAL, .a = 0.3, .b = 1.7},
    {.kind = ASSAY_FILL_INTEGER, .a = -1000000, .b = 1000000},
};

TEST(one_seed_gives_the_same_bits_in_any_order)
{
    for (int k = 0; k < 3; k++) {
        draw(each_kind[k], 19);
        for (int i = DRAWS - 1; i >= 0; i -= 7) {
            double again = fill_value(&each_kind[k], NULL, 19, i);
            assert_memory_equal(&again, &values[i], sizeof again);
        }
    }
}

TEST(another_seed_gives_other_values)
{
    for (int k = 0; k < 3; k++) {
        draw(each_kind[k], 20);
        int equal = 0;
        for (int i = 0; i < DRAWS; i++)
            equal += fill_value(&each_kind[k], NULL, 21, i) == values[i];
        assert_true(equal <= 10);
    }
}

/* The multiply and the add are two roundings on every device; the values below
 * were worked out in exact fractions, and a fused step gives others. */
TEST(the_bits_are_those_of_two_roundings)
{
    assert_true(fill_line(-1, 1 + 0x1p-30, 1 - 0x1p-30) == 0);
    assert_true(fma(1 + 0x1p-30, 1 - 0x1p-30, -1) == -0x1p-60);
}

TEST(elements_beyond_32_bits_have_values_of_their_own)
{
    int64_t far = INT64_C(1) << 32;
    for (int i = 0; i < 100; i++)
        assert_true(fill_value(&each_kind[0], NULL, 22, i) !=
                    fill_value(&each_kind[0], NULL, 22, far + i));
}
