/* test_noise_bands.c - the noise of unchanged code by how long it takes. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "judge/noise.h"

static bool is_near(double got, double wanted)
{
    return fabs(got - wanted) < 1e-12;
}

TEST(a_pair_differs_by_as_much_whichever_launch_was_slower)
{
    struct noise_pair one = noise_pair_of(1000, 1100), other = noise_pair_of(1100, 1000);
    assert_true(is_near(one.change, 0.1));
    assert_true(is_near(one.change, other.change) && one.time_ns == other.time_ns);
    assert_true(is_near(one.time_ns, 1050));
}

TEST(pairs_are_counted_in_the_power_of_ten_that_they_take)
{
    struct noise none = {0};
    struct noise_pair pairs[] = {{20000, 0.04}, {2000, 0.03}, {9999, 0.01}, {1000, 0.02}};
    struct noise_band bands[NOISE_DECADES];
    assert_int_equal(noise_prepare(&none), 0);
    assert_int_equal(noise_bands_make(bands, &none, pairs, 4), 2);
    assert_true(bands[0].least_ns == 1000 && bands[1].least_ns == 10000);
    assert_int_equal(bands[0].pairs, 3);
    assert_true(is_near(bands[0].p50, 0.02));
    assert_true(is_near(bands[0].p95, 0.029)); /* nine tenths of the way from 2 to 3 % */
    assert_true(is_near(bands[0].max, 0.03));
    assert_int_equal(bands[1].pairs, 1);
    assert_true(is_near(bands[1].p50, 0.04) && is_near(bands[1].max, 0.04));
    assert_true(isnan(bands[0].floor)); /* no block, no floor */
}

TEST(blocks_give_a_band_its_cases_and_its_floor)
{
    struct noise_block blocks[3] = {{.time_ns = 5e5, .spread = 0.01},
                                    {.time_ns = 5e5, .spread = 0.02},
                                    {.time_ns = 5e5, .spread = 0.03}};
    struct noise noise = {.blocks = blocks, .count = 3};
    struct noise_band bands[NOISE_DECADES];
    strcpy(blocks[2].id.variant, "another");
    assert_int_equal(noise_prepare(&noise), 0);
    assert_int_equal(noise_bands_make(bands, &noise, NULL, 0), 1);
    assert_true(bands[0].least_ns == 1e5);
    assert_int_equal(bands[0].blocks, 3);
    assert_int_equal(bands[0].cases, 2);
    assert_int_equal(bands[0].pairs, 0);
    assert_true(isnan(bands[0].p50) && isnan(bands[0].p95) && isnan(bands[0].max));
    assert_true(is_near(bands[0].floor, expm1(3 * 0.02 / sqrt(10))));
}

TEST(nothing_known_has_no_band)
{
    struct noise none = {0};
    struct noise_band bands[NOISE_DECADES];
    assert_int_equal(noise_prepare(&none), 0);
    assert_int_equal(noise_bands_make(bands, &none, NULL, 0), 0);
}
