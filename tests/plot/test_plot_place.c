/* test_plot_place.c - from axes to pixels, by what a script says of its frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"
#include "plot/plot_place.h"

static struct plot_places places;
static char path[] = "/tmp/assay-test-place-XXXXXX";

static int read_frames(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return plot_places_read(&places, path);
}

static int end(void **state)
{
    (void)state;
    plot_places_release(&places);
    assay_clear_error();
    return 0;
}

/* 600 x 400; x from 100 to 500 px, y from 50 to 350 px above the bottom. */
static void a_logarithmic_axis_has_decades_of_one_length(void **state)
{
    (void)state;
    plot_place_point(&places, 7, 0, 10, 1);
    assert_int_equal(read_frames("0 600 400 100 500 1 10000 1 50 350 1 1000 1\n"), 0);
    assert_int_equal(places.count, 1);
    assert_int_equal(places.place[0].row, 7);
    assert_float_equal(places.place[0].x, 200, 1e-9);
    assert_float_equal(places.place[0].y, 350, 1e-9);
    assert_float_equal(places.wide, 600, 0);
    assert_float_equal(places.high, 400, 0);
    assert_true(isnan(places.place[0].high));
}

static void a_linear_axis_is_linear(void **state)
{
    (void)state;
    plot_place_point(&places, 0, 0, 0, 75);
    assert_int_equal(read_frames("0 600 400 100 500 -1 3 0 50 350 0 100 0\n"), 0);
    assert_float_equal(places.place[0].x, 200, 1e-9);
    assert_float_equal(places.place[0].y, 400 - 275, 1e-9);
}

static void a_line_of_a_chart_counts_from_the_top(void **state)
{
    (void)state;
    plot_place_line(&places, 3, 12, 0);
    plot_place_line(&places, 4, 1, 2);
    assert_int_equal(read_frames("0 600 400 100 500 1 2 1 50 350 2.5 -0.5 0\n"), 0);
    assert_int_equal(places.count, 2);
    assert_true(isnan(places.place[0].x));
    assert_float_equal(places.place[0].y, 100, 1e-9);
    assert_float_equal(places.place[0].high, 100, 1e-9);
    assert_int_equal(places.place[0].cases, 12);
    assert_float_equal(places.place[1].y, 300, 1e-9);
}

static void each_panel_has_its_own_axes(void **state)
{
    (void)state;
    plot_place_point(&places, 0, 1, 5, 5);
    plot_place_point(&places, 1, 0, 5, 5);
    assert_int_equal(read_frames("1 600 400 0 100 0 10 0 0 400 0 10 0\n"
                                 "0 600 400 200 300 0 10 0 0 400 0 10 0\n"),
                     0);
    assert_float_equal(places.place[0].x, 50, 1e-9);
    assert_float_equal(places.place[1].x, 250, 1e-9);
}

static void what_is_outside_the_frame_or_in_no_panel_goes(void **state)
{
    (void)state;
    plot_place_point(&places, 0, 0, 11, 5);
    plot_place_point(&places, 1, 0, 5, -1);
    plot_place_point(&places, 2, 0, NAN, 5);
    plot_place_point(&places, 3, 0, 5, NAN);
    plot_place_point(&places, 4, 1, 5, 5);
    plot_place_point(&places, 5, 0, 5, 5);
    assert_int_equal(read_frames("0 600 400 0 100 0 10 0 0 400 0 10 0\n"), 0);
    assert_int_equal(places.count, 1);
    assert_int_equal(places.place[0].row, 5);
}

static void a_script_that_says_nothing_gives_no_places(void **state)
{
    (void)state;
    plot_place_point(&places, 0, 0, 5, 5);
    assert_int_equal(read_frames(""), 0);
    assert_int_equal(places.count, 0);
}

static void strange_words_are_an_error_and_no_places(void **state)
{
    (void)state;
    plot_place_point(&places, 0, 0, 5, 5);
    assert_int_equal(read_frames("0 600 400 0 100\n"), -1);
    assert_int_equal(places.count, 0);
    plot_place_point(&places, 0, 0, 5, 5);
    assert_int_equal(read_frames("9 600 400 0 100 0 10 0 0 400 0 10 0\n"), -1);
    assert_int_equal(places.count, 0);
    assert_int_equal(plot_places_read(&places, "/nowhere/frames"), -1);
}

static void nobody_asks_and_nothing_is_kept(void **state)
{
    (void)state;
    plot_place_point(NULL, 0, 0, 5, 5);
    plot_place_line(NULL, 0, 1, 5);
    for (int i = 0; i < 1000; i++)
        plot_place_point(&places, i, 0, 5, 5);
    assert_int_equal(places.count, 1000);
    assert_int_equal(places.place[999].row, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_logarithmic_axis_has_decades_of_one_length, end),
        cmocka_unit_test_teardown(a_linear_axis_is_linear, end),
        cmocka_unit_test_teardown(a_line_of_a_chart_counts_from_the_top, end),
        cmocka_unit_test_teardown(each_panel_has_its_own_axes, end),
        cmocka_unit_test_teardown(what_is_outside_the_frame_or_in_no_panel_goes, end),
        cmocka_unit_test_teardown(a_script_that_says_nothing_gives_no_places, end),
        cmocka_unit_test_teardown(strange_words_are_an_error_and_no_places, end),
        cmocka_unit_test_teardown(nobody_asks_and_nothing_is_kept, end),
    };
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
