/* test_change_point.c - planted changes are found where they are, noise shows none. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/test.h"
#include "base/rng.h"
#include "judge/change_point.h"

enum { MOST = 2000 };

static double uniform(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller's method. */
static double normal(struct rng *rng)
{
    return sqrt(-2 * log(uniform(rng))) * cos(2 * M_PI * uniform(rng));
}

static void noise(double *values, int count, double sigma, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (int i = 0; i < count; i++)
        values[i] = sigma * normal(&rng);
}

static void step(double *values, int from, int count, double by)
{
    for (int i = from; i < count; i++)
        values[i] += by;
}

static int found(const double *values, const int *segment, int count, int *at)
{
    return change_points(values, segment, count, at);
}

TEST(a_planted_step_is_found_at_its_place)
{
    double values[100];
    int at[100 / CHANGE_LEAST];
    for (int place = 10; place <= 90; place += 10) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            noise(values, 100, 0.005, 100 * (uint64_t)place + seed);
            step(values, place, 100, 0.05);
            assert_int_equal(found(values, NULL, 100, at), 1);
            assert_int_equal(at[0], place);
        }
    }
}

TEST(a_step_of_six_sigma_is_found_within_a_point)
{
    double values[60];
    int at[60 / CHANGE_LEAST], hits = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        noise(values, 60, 0.005, seed);
        step(values, 37, 60, 0.03);
        if (found(values, NULL, 60, at) >= 1 && abs(at[0] - 37) <= 1) hits++;
    }
    assert_true(hits >= 48);
}

TEST(a_step_down_is_found_too)
{
    double values[60];
    int at[60 / CHANGE_LEAST];
    noise(values, 60, 0.005, 1);
    step(values, 20, 60, -0.05);
    assert_int_equal(found(values, NULL, 60, at), 1);
    assert_int_equal(at[0], 20);
}

TEST(several_steps_are_found_in_order)
{
    static double values[MOST];
    static int at[MOST / CHANGE_LEAST];
    static const int places[] = {120, 131, 700, 1025, 1980};
    noise(values, MOST, 0.003, 5);
    for (int i = 0; i < 5; i++)
        step(values, places[i], MOST, i % 2 ? -0.04 : 0.06);
    assert_int_equal(found(values, NULL, MOST, at), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(at[i], places[i]);
}

TEST(a_visit_of_less_than_four_points_is_no_change)
{
    double values[80];
    int at[80 / CHANGE_LEAST];
    noise(values, 80, 0.005, 9);
    for (int i = 40; i < 43; i++)
        values[i] += 0.5;
    assert_int_equal(found(values, NULL, 80, at), 0);
}

/* Whether both ends of a visit of points [from, to) are found within a point. */
static bool visit_is_found(int count, int from, int to, double by, double sigma, uint64_t seed)
{
    static double values[MOST];
    static int at[MOST / CHANGE_LEAST];
    bool begin = false, end = false;
    noise(values, count, sigma, seed);
    step(values, from, to, by);
    int changes = found(values, NULL, count, at);
    for (int i = 0; i < changes; i++) {
        begin |= abs(at[i] - from) <= 1;
        end |= abs(at[i] - to) <= 1;
    }
    return begin && end;
}

/* Fifty per cent slower in runs 50 to 59, and mended. */
TEST(a_regression_that_was_mended_is_remembered)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_true(visit_is_found(85, 50, 60, log(1.5), 0.01, seed));
        assert_true(visit_is_found(150, 50, 60, log(1.5), 0.01, seed));
    }
}

TEST(a_visit_of_four_points_is_found)
{
    int hits = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
        hits += visit_is_found(85, 50, 54, 0.02, 0.005, seed);
    assert_true(hits >= 85);
}

TEST(a_step_of_four_sigma_is_found_after_three_points)
{
    double values[63];
    int at[63 / CHANGE_LEAST], hits = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        noise(values, 63, 0.005, seed);
        step(values, 60, 63, 0.02);
        int count = found(values, NULL, 63, at);
        hits += count > 0 && abs(at[count - 1] - 60) <= 1;
    }
    assert_true(hits >= 75);
}

/* One test in a thousand may fire: at most 4 of 4,000 windows are to be expected, and
 * 12 or more would be seen once in a thousand trials of that rate. */
TEST(noise_shows_a_change_in_one_window_of_a_thousand_at_most)
{
    double values[CHANGE_WINDOW];
    int at[CHANGE_WINDOW / CHANGE_LEAST], changed = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        noise(values, CHANGE_WINDOW, 0.01, 1000000 + seed);
        changed += found(values, NULL, CHANGE_WINDOW, at) > 0;
    }
    assert_true(changed < 12);
}

/* Skewed and with rare spikes, as times are. */
TEST(spikes_show_no_more_changes_than_noise)
{
    double values[CHANGE_WINDOW];
    int at[CHANGE_WINDOW / CHANGE_LEAST], changed = 0;
    struct rng rng;
    rng_seed(&rng, 77);
    for (int trial = 0; trial < 4000; trial++) {
        for (int i = 0; i < CHANGE_WINDOW; i++)
            values[i] = -0.01 * log(uniform(&rng)) + (uniform(&rng) < 0.05 ? 0.3 : 0);
        changed += found(values, NULL, CHANGE_WINDOW, at) > 0;
    }
    assert_true(changed < 12);
}

TEST(a_long_quiet_series_stays_quiet_mostly)
{
    static double values[MOST];
    static int at[MOST / CHANGE_LEAST];
    int changes = 0;
    /* 40 series of 79 windows: 3 changes are to be expected. */
    for (uint64_t seed = 0; seed < 40; seed++) {
        noise(values, MOST, 0.01, 2000000 + seed);
        changes += found(values, NULL, MOST, at);
    }
    assert_true(changes <= 10);
}

TEST(equal_values_show_no_change)
{
    double values[100];
    int at[100 / CHANGE_LEAST];
    for (int i = 0; i < 100; i++)
        values[i] = 7.1;
    assert_int_equal(found(values, NULL, 100, at), 0);
}

TEST(short_series_show_no_change)
{
    double values[13];
    int at[13 / CHANGE_LEAST];
    for (int count = 0; count <= 13; count++) {
        noise(values, 13, 0.001, (uint64_t)count);
        step(values, 4, 13, 1);
        assert_int_equal(found(values, NULL, count, at), 0);
    }
}

TEST(the_same_values_give_the_same_changes)
{
    static double values[MOST];
    static int first[MOST / CHANGE_LEAST], second[MOST / CHANGE_LEAST];
    noise(values, MOST, 0.01, 3);
    for (int i = 0; i < MOST; i += 130)
        step(values, i, MOST, 0.015); /* weak enough for the permutations to matter */
    int count = found(values, NULL, MOST, first);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(found(values, NULL, MOST, second), count);
        assert_memory_equal(first, second, (size_t)count * sizeof *first);
    }
}

TEST(the_scale_of_the_values_does_not_matter)
{
    double values[100], scaled[100];
    int at[100 / CHANGE_LEAST], again[100 / CHANGE_LEAST];
    noise(values, 100, 0.01, 4);
    step(values, 55, 100, 0.06);
    for (int i = 0; i < 100; i++)
        scaled[i] = 1024 * values[i] + 4096;
    assert_int_equal(found(values, NULL, 100, at), 1);
    assert_int_equal(found(scaled, NULL, 100, again), 1);
    assert_int_equal(at[0], again[0]);
}

TEST(a_border_is_no_change_and_no_test_looks_across)
{
    double values[120];
    int segment[120], at[120 / CHANGE_LEAST];
    noise(values, 120, 0.005, 6);
    step(values, 60, 120, 0.2);
    for (int i = 0; i < 120; i++)
        segment[i] = i < 60 ? 1 : 2;
    assert_int_equal(found(values, segment, 120, at), 0);
    step(values, 90, 120, 0.05);
    assert_int_equal(found(values, segment, 120, at), 1);
    assert_int_equal(at[0], 90);
}

TEST(segments_are_judged_alone)
{
    double values[120];
    int segment[120], whole[120 / CHANGE_LEAST], alone[120 / CHANGE_LEAST];
    noise(values, 120, 0.005, 8);
    step(values, 30, 120, 0.05);
    for (int i = 0; i < 120; i++)
        segment[i] = i / 60;
    assert_int_equal(found(values, segment, 120, whole), 1);
    assert_int_equal(found(values, NULL, 60, alone), 1);
    assert_int_equal(whole[0], alone[0]);
}
