/* test_sweep.c - what a sweep takes from a run. */
#include "plot/sweep.h"
#include "plot_fixture.h"

static struct sweep sweep;
static struct plot plot; /* of the fake run */

static int choose_from_fake(struct plot_request request)
{
    static struct plot_request kept;
    kept = request;
    kept.run = &fake.run;
    assert_int_equal(plot_open(&plot, NULL, &kept), 0);
    return sweep_make(&sweep, &plot);
}

static int choose(const char *operation, const char *only)
{
    make_run();
    return choose_from_fake((struct plot_request){.operation = operation, .only = only});
}

static void forget(void)
{
    plot_close(&plot);
    fake_end(&fake);
}

TEST(sweep_takes_the_panel_with_the_most_sizes)
{
    assert_int_equal(choose(NULL, NULL), 1);
    assert_string_equal(sweep.operation, "int8_quantize");
    assert_string_equal(sweep.dim, "n");
    assert_string_equal(sweep.panel, "input=fp32 cold");
    assert_int_equal(sweep.sizes, 3);
    forget();
}

TEST(sweep_has_baselines_first_and_then_the_fastest)
{
    assert_int_equal(choose(NULL, NULL), 1);
    assert_int_equal(sweep.count, 3);
    assert_string_equal(sweep.curve[0].variant, "copy");
    assert_string_equal(sweep.curve[1].variant, "fast");
    assert_string_equal(sweep.curve[2].variant, "slow");
    assert_float_equal(sweep.curve[2].standing, 1 / 3.0, 1e-9);
    forget();
}

TEST(sweep_points_go_by_size)
{
    assert_int_equal(choose(NULL, NULL), 1);
    assert_int_equal(sweep.curve[1].count, 3);
    for (int i = 1; i < 3; i++)
        assert_true(view_bytes(&sweep.curve[1].point[i - 1].row->result.work) <
                    view_bytes(&sweep.curve[1].point[i].row->result.work));
    forget();
}

TEST(sweep_keeps_to_the_operation_and_the_panel_asked_for)
{
    assert_int_equal(choose("other", NULL), 1);
    assert_string_equal(sweep.operation, "other");
    assert_int_equal(sweep.sizes, 1);
    forget();
    assert_int_equal(choose(NULL, "*bf16*"), 1);
    assert_string_equal(sweep.panel, "input=bf16 cold");
    assert_int_equal(sweep.sizes, 2);
    forget();
    assert_int_equal(choose("absent", NULL), 0);
    forget();
}

TEST(sweep_keeps_to_the_cases_asked_for)
{
    make_run();
    assert_int_equal(choose_from_fake((struct plot_request){.cases = "int8_quantize/[fs]*"}), 1);
    assert_int_equal(sweep.count, 2);
    forget();
}

TEST(sweep_leaves_out_what_has_no_time)
{
    fake_begin(&fake, 1);
    fake_failure(&fake, 0, "o", "n=1", "bad", STATUS_WRONG, "");
    assert_int_equal(choose_from_fake((struct plot_request){0}), 0);
    forget();
}

TEST(sweep_goes_by_bytes_where_they_grow_with_the_size)
{
    assert_int_equal(choose("int8_quantize", NULL), 1);
    assert_true(sweep.by_bytes);
    assert_float_equal(sweep_x(&sweep, &sweep.curve[1].point[0]), 5e6, 0);
    forget();
}

TEST(sweep_goes_by_the_dim_where_sizes_move_like_bytes)
{
    fake_begin(&fake, 1);
    for (int rows = 16; rows >= 1; rows /= 4) {
        char shape[32];
        snprintf(shape, sizeof shape, "rows=%d k=big", rows);
        fake_case(&fake, 0, "layer", shape, "only", 1000)->work.read_bytes = 29e6 + 1e5 * rows;
    }
    assert_int_equal(choose_from_fake((struct plot_request){0}), 1);
    assert_false(sweep.by_bytes);
    assert_float_equal(sweep_x(&sweep, &sweep.curve[0].point[0]), 1, 0);
    assert_float_equal(sweep_x(&sweep, &sweep.curve[0].point[2]), 16, 0);
    forget();
}

TEST(sweep_takes_the_first_dim_where_several_vary_alike)
{
    fake_begin(&fake, 1);
    for (int i = 0; i < 9; i++) {
        char shape[48];
        snprintf(shape, sizeof shape, "z=%d a=%d", 1 << i % 3, 1 << i / 3);
        fake_case(&fake, 0, "grid", shape, "only", 1000);
    }
    assert_int_equal(choose_from_fake((struct plot_request){0}), 1);
    assert_string_equal(sweep.dim, "z");
    assert_string_equal(sweep.panel, "a=1 cold");
    forget();
}

TEST(sweep_takes_no_size_of_zero)
{
    fake_begin(&fake, 1);
    for (int vocabulary = 0; vocabulary <= 200; vocabulary += 100) {
        char shape[48];
        snprintf(shape, sizeof shape, "layers=12 vocabulary=%d", vocabulary);
        fake_case(&fake, 0, "model", shape, "only", 1000)->work.read_bytes = 1e6 + vocabulary;
    }
    assert_int_equal(choose_from_fake((struct plot_request){0}), 1);
    assert_string_equal(sweep.dim, "vocabulary");
    assert_int_equal(sweep.sizes, 2);
    forget();
}
