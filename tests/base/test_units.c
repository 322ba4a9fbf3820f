/*
 * test_units.c - figures with three digits and a unit, above all at the borders.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "base/rng.h"
#include "base/units.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct row {
    double value;
    const char *text;
};

static void check_rows(const char *(*write)(char out[UNITS_MAX], double value),
                       const struct row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        char out[UNITS_MAX];
        write(out, rows[i].value);
        assert_string_equal(out, rows[i].text);
    }
}

TEST(times_have_three_digits_and_the_unit_that_fits)
{
    static const struct row rows[] = {
        {0, "0.00 ns"},        {0.57, "0.570 ns"},   {1, "1.00 ns"},     {570, "570 ns"},
        {1234, "1.23 us"},     {12345, "12.3 us"},   {61800, "61.8 us"}, {123456, "123 us"},
        {1.5e6, "1.50 ms"},    {2e9, "2.00 s"},      {1234e9, "1230 s"}, {-1500, "-1.50 us"},
        {1e-9, "1.00e-09 ns"}, {1e18, "1.00e+09 s"},
    };
    check_rows(units_time, rows, COUNT(rows));
}

TEST(rounding_up_to_a_thousand_takes_the_next_unit)
{
    static const struct row rows[] = {
        {999.4, "999 ns"},    {999.6, "1.00 us"},  {999499, "999 us"},  {999501, "1.00 ms"},
        {9.994, "9.99 ns"},   {9.996, "10.0 ns"},  {99.94, "99.9 ns"},  {99.96, "100 ns"},
        {0.9994, "0.999 ns"}, {0.9996, "1.00 ns"}, {999.6e6, "1.00 s"},
    };
    check_rows(units_time, rows, COUNT(rows));
}

TEST(rates_go_by_thousands)
{
    static const struct row rows[] = {
        {512, "512 B/s"},      {55e9, "55.0 GB/s"}, {999.6e9, "1.00 TB/s"}, {4.3e12, "4.30 TB/s"},
        {1.2e15, "1.20 PB/s"}, {1500, "1.50 kB/s"}, {2.5e6, "2.50 MB/s"},
    };
    check_rows(units_rate, rows, COUNT(rows));
}

TEST(integer_operations_are_no_flops)
{
    char out[UNITS_MAX];
    units_ops(out, 356e12, false);
    assert_string_equal(out, "356 TFLOP/s");
    units_ops(out, 915e12, true);
    assert_string_equal(out, "915 TOP/s");
    units_ops(out, 51.3e9, false);
    assert_string_equal(out, "51.3 GFLOP/s");
}

TEST(bytes_go_by_1024_and_small_ones_are_whole)
{
    static const struct row rows[] = {
        {0, "0 B"},
        {5, "5 B"},
        {512, "512 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1024 * 999.4, "999 KiB"},
        {1024 * 1016, "1016 KiB"},
        {1024 * 1023.4, "1023 KiB"},
        {1024 * 1023.6, "1.00 MiB"},
        {1048576, "1.00 MiB"},
        {62914560, "60.0 MiB"},
        {0x1p30, "1.00 GiB"},
        {0x1.8p41, "3.00 TiB"},
        {12.5, "12.5 B"},
        {-2048, "-2.00 KiB"},
    };
    check_rows(units_bytes, rows, COUNT(rows));
}

TEST(percents_and_ratios_have_three_digits)
{
    static const struct row percents[] = {
        {0.953, "95.3 %"}, {1, "100 %"},     {0.9996, "100 %"},     {0.01234, "1.23 %"},
        {0, "0.00 %"},     {12.5, "1250 %"}, {0.00012, "0.0120 %"},
    };
    static const struct row ratios[] = {
        {1.234, "1.23x"}, {0.98, "0.980x"},    {12.34, "12.3x"},  {123.4, "123x"},
        {1234, "1230x"},  {0.0123, "0.0123x"}, {0.9996, "1.00x"},
    };
    check_rows(units_percent, percents, COUNT(percents));
    check_rows(units_ratio, ratios, COUNT(ratios));
}

static const char *write_ops(char out[UNITS_MAX], double value)
{
    return units_ops(out, value, false);
}

static const char *(*const writers[])(char out[UNITS_MAX], double value) = {
    units_time, units_rate, write_ops, units_percent, units_ratio, units_bytes,
};

TEST(what_was_not_measured_is_a_dash)
{
    for (int i = 0; i < COUNT(writers); i++) {
        char out[UNITS_MAX];
        writers[i](out, NAN);
        assert_string_equal(out, "-");
        writers[i](out, -NAN);
        assert_string_equal(out, "-");
    }
}

TEST(infinity_is_said_and_no_figure_overflows_its_room)
{
    static const double extremes[] = {1e308, -1e308, 5e-324, -5e-324, 1e15, 123456789};
    for (int i = 0; i < COUNT(writers); i++) {
        char out[UNITS_MAX];
        writers[i](out, INFINITY);
        assert_int_equal(strncmp(out, "inf", 3), 0);
        for (int j = 0; j < COUNT(extremes); j++) {
            writers[i](out, extremes[j]);
            assert_true(strlen(out) < UNITS_MAX - 1);
        }
    }
}

TEST(a_time_read_back_is_within_half_a_digit)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        double ns = pow(10, (double)rng_below(&rng, 12000) / 1000);
        char out[UNITS_MAX], unit[UNITS_MAX];
        double figure;
        units_time(out, ns);
        assert_int_equal(sscanf(out, "%lf %s", &figure, unit), 2);
        double scale = strcmp(unit, "ns") == 0   ? 1
                       : strcmp(unit, "us") == 0 ? 1e3
                       : strcmp(unit, "ms") == 0 ? 1e6
                                                 : 1e9;
        assert_true(fabs(figure * scale - ns) <= 0.00501 * ns);
        assert_true(figure < 1000);
    }
}
