/* The energy of a launch, alone and behind a flush. */
#include <math.h>

#include "tests/test.h"
#include "device/cuda/energy.h"

/* A hundred groups of ten launches in half a second, at 500 W. */
static const struct energy_stretch plain = {250e3, 1000, 500e6, 5e6};

TEST(a_launch_has_its_share_and_the_error_of_one_group)
{
    double error;
    assert_true(fabs(energy_per_launch(&plain, &error) - 250) < 1e-9);
    assert_true(fabs(error - 2.5) < 1e-9);
    const struct energy_stretch lengthy = {1500e3, 1, 3e9, 3e9};
    assert_true(fabs(energy_per_launch(&lengthy, &error) - 1500e3) < 1e-6);
    assert_true(fabs(error - 50e3) < 1e-6);
}

TEST(a_flush_is_taken_off)
{
    const struct energy_stretch flush = {250e3, 5000, 500e6, 5e6};
    assert_true(fabs(energy_behind_flush(&plain, &flush) - 200) < 1e-9);
}

/* 250 and 2.5 mJ of error, less 235 and 2.35: 15 is fewer than five times 4.85. */
TEST(a_launch_that_is_lost_in_the_flush_has_no_energy)
{
    const struct energy_stretch flush = {235e3, 1000, 500e6, 5e6};
    assert_true(isnan(energy_behind_flush(&plain, &flush)));
    const struct energy_stretch finer = {235e3, 1000, 500e6, 1e5};
    const struct energy_stretch finely = {250e3, 1000, 500e6, 1e5};
    assert_true(fabs(energy_behind_flush(&finely, &finer) - 15) < 1e-9);
}

TEST(a_counter_that_stood_still_gives_nothing)
{
    const struct energy_stretch lost = {NAN, 0, 0, 5e6};
    double error;
    assert_true(isnan(energy_per_launch(&lost, &error)));
    assert_true(isnan(energy_behind_flush(&lost, &plain)));
    assert_true(isnan(energy_behind_flush(&plain, &lost)));
}
