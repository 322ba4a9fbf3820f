/* test_history.c - series over runs: values, borders, devices, acks, the filter. */
#include "history.h"
#include "sparkline.h"
#include "tests/store_fixture.h"

/* What a launch of a made-up run had. */
struct made {
    const char *uuid, *driver;
    double time_ns; /* NAN: the case crashed */
};

static void add_case(struct store *store, const char *launch_id, const char *variant,
                     double time_ns)
{
    struct case_result result = fixture_result(variant);
    result.time_ns = time_ns;
    if (isnan(time_ns)) result.status = STATUS_CRASHED;
    FINE(store_case(store, launch_id, PURPOSE_CASE, "g", &result));
}

static void add_launch(struct store *store, const char *run_id, int number, struct made made)
{
    struct group group;
    struct plan plan = fixture_plan(&group);
    struct launch_info launch = fixture_launch(run_id, number);
    snprintf(launch.device.uuid, sizeof launch.device.uuid, "%s", made.uuid);
    snprintf(launch.device.driver, sizeof launch.device.driver, "%s", made.driver);
    FINE(store_begin_launch(store, &launch, &plan));
    add_case(store, launch.id, "fast", made.time_ns);
}

/* Runs begin in the order made: their times are set apart by hand. */
static void add_run(struct store *store, int day, const struct made *made, int launches)
{
    char sql[256];
    struct run_info run = fixture_begin_run(store, "");
    for (int i = 0; i < launches; i++)
        add_launch(store, run.id, i + 1, made[i]);
    snprintf(sql, sizeof sql,
             "UPDATE run SET started_at = strftime('%%Y-%%m-%%dT00:00:00.000Z', '2026-01-01',"
             " '%d days') WHERE id = '%s'",
             day, run.id);
    FINE(store_exec(store, "date a run", sql));
}

static void add_one(struct store *store, int day, const char *uuid, const char *driver,
                    double time_ns)
{
    const struct made made = {uuid, driver, time_ns};
    add_run(store, day, &made, 1);
}

static struct history read_all(struct store *store, int last)
{
    const struct history_filter filter = {.glob = "*"};
    struct history history;
    FINE(history_read(&history, store, &filter));
    FINE(history_analyse(&history, last));
    return history;
}

/* A little noise that is the same every time. */
static double wobble(int i)
{
    return 1 + 0.001 * (double)(i * 7919 % 13 - 6);
}

static void a_run_has_the_median_of_its_launches(void **state)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    const struct made made[] = {{"a", "1", 100}, {"a", "1", 300}, {"a", "1", 110}, {"a", "1", NAN}};
    add_run(store, 0, made, 4);
    struct history history = read_all(store, 0);
    assert_int_equal(history.series_count, 1);
    assert_int_equal(history.series[0].point_count, 1);
    assert_int_equal(history.series[0].points[0].launches, 3);
    assert_true(history.series[0].points[0].time_ns == 110);
    assert_int_equal(history.series[0].failed, 0);
    history_release(&history);
    store_close(store);
}

static void runs_without_a_time_are_counted_and_not_shown(void **state)
{
    struct store *store = fixture_open(state, "b.sqlite", STORE_WRITE);
    add_one(store, 0, "a", "1", 100);
    add_one(store, 1, "a", "1", NAN);
    add_one(store, 2, "a", "1", 101);
    struct history history = read_all(store, 0);
    assert_int_equal(history.series[0].point_count, 2);
    assert_int_equal(history.series[0].failed, 1);
    assert_int_equal(history.series[0].change_count, 0);
    history_release(&history);
    store_close(store);
}

static void points_are_in_the_order_of_time(void **state)
{
    struct store *store = fixture_open(state, "c.sqlite", STORE_WRITE);
    add_one(store, 2, "a", "1", 102);
    add_one(store, 0, "a", "1", 100);
    add_one(store, 1, "a", "1", 101);
    struct history history = read_all(store, 0);
    for (int i = 0; i < 3; i++)
        assert_true(history.series[0].points[i].time_ns == 100 + i);
    history_release(&history);
    history = read_all(store, 2);
    assert_int_equal(history.series[0].point_count, 2);
    assert_true(history.series[0].points[0].time_ns == 101);
    history_release(&history);
    store_close(store);
}

static void a_step_is_a_change_with_its_levels(void **state)
{
    struct store *store = fixture_open(state, "d.sqlite", STORE_WRITE);
    for (int i = 0; i < 30; i++)
        add_one(store, i, "a", "1", (i < 18 ? 1000 : 1100) * wobble(i));
    struct history history = read_all(store, 0);
    assert_int_equal(history.series[0].change_count, 1);
    const struct history_change *change = &history.series[0].changes[0];
    assert_int_equal(change->at, 18);
    assert_int_equal(change->causes, 0);
    assert_true(fabs(change->before_ns - 1000) < 5);
    assert_true(fabs(change->after_ns - 1100) < 5);
    history_release(&history);
    store_close(store);
}

static void another_driver_is_a_border_even_without_a_step(void **state)
{
    struct store *store = fixture_open(state, "e.sqlite", STORE_WRITE);
    for (int i = 0; i < 20; i++)
        add_one(store, i, "a", i < 3 ? "570" : "580", 1000 * wobble(i));
    struct history history = read_all(store, 0);
    assert_int_equal(history.series[0].change_count, 1);
    assert_int_equal(history.series[0].changes[0].at, 3);
    assert_int_equal(history.series[0].changes[0].causes, CAUSE_DRIVER);
    history_release(&history);
    store_close(store);
}

static void another_device_in_its_place_is_a_border(void **state)
{
    struct store *store = fixture_open(state, "f.sqlite", STORE_WRITE);
    for (int i = 0; i < 40; i++)
        add_one(store, i, i < 20 ? "a" : "b", i < 20 ? "1" : "2",
                (i < 20 ? 1000 : 1080) * wobble(i));
    struct history history = read_all(store, 0);
    assert_int_equal(history.series_count, 1);
    assert_int_equal(history.series[0].change_count, 1);
    assert_int_equal(history.series[0].changes[0].at, 20);
    assert_int_equal(history.series[0].changes[0].causes, CAUSE_DEVICE);
    history_release(&history);
    store_close(store);
}

static void devices_that_take_turns_have_a_series_each(void **state)
{
    struct store *store = fixture_open(state, "g.sqlite", STORE_WRITE);
    for (int i = 0; i < 40; i++)
        add_one(store, i, i % 2 ? "b" : "a", "1", (i % 2 ? 1080 : 1000) * wobble(i));
    struct history history = read_all(store, 0);
    assert_int_equal(history.series_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(history.series[i].point_count, 20);
        assert_int_equal(history.series[i].change_count, 0);
    }
    history_release(&history);
    store_close(store);
}

static void ceilings_are_no_cases(void **state)
{
    struct store *store = fixture_open(state, "h.sqlite", STORE_WRITE);
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct case_result result = fixture_result("fast");
    FINE(store_case(store, launch.id, PURPOSE_CEILING, "g", &result));
    struct history history = read_all(store, 0);
    assert_int_equal(history.series_count, 0);
    history_release(&history);
    store_close(store);
}

static void an_empty_database_has_no_series(void **state)
{
    struct store *store = fixture_open(state, "i.sqlite", STORE_WRITE);
    struct history history = read_all(store, 0);
    assert_int_equal(history.series_count, 0);
    history_release(&history);
    store_close(store);
}

static void acks_are_read_where_the_database_has_them(void **state)
{
    struct store *store = fixture_open(state, "j.sqlite", STORE_WRITE);
    FINE(store_exec(store, "test", "DROP TABLE IF EXISTS ack"));
    add_one(store, 0, "a", "1", 100);
    struct history history = read_all(store, 0);
    assert_int_equal(history.ack_count, 0);
    history_release(&history);
    FINE(store_exec(store, "test",
                    "CREATE TABLE ack (operation TEXT, variant TEXT, shape TEXT, temperature TEXT,"
                    " reason TEXT, set_at TEXT, expires_at TEXT);"
                    "INSERT INTO ack VALUES ('copy', 'f*', '', '', 'a wider tile', '2026-01-01',"
                    " NULL), ('copy', 'slow', '', '', 'other', '2026-01-02', NULL)"));
    history = read_all(store, 0);
    assert_int_equal(history.ack_count, 2);
    assert_true(history_ack_covers(&history.acks[0], &history.series[0].id));
    assert_false(history_ack_covers(&history.acks[1], &history.series[0].id));
    assert_string_equal(history.acks[0].expires_at, "");
    history_release(&history);
    store_close(store);
}

static void a_filter_takes_what_glob_and_words_name(void **state)
{
    (void)state;
    const struct case_id id = {.operation = "int8_quantize",
                               .variant = "best",
                               .shape = "n=5000000 input=fp32",
                               .temperature = ASSAY_COLD};
    static const struct {
        struct history_filter filter;
        bool takes;
    } cases[] = {
        {{.glob = "int8_quantize/best"}, true},
        {{.glob = "int8*/b*"}, true},
        {{.glob = "int8_quantize"}, true},
        {{.glob = "*"}, true},
        {{.glob = "*/worst"}, false},
        {{.glob = "int8"}, false},
        {{.glob = "*", .word = {"n=5000000"}, .word_count = 1}, true},
        {{.glob = "*", .word = {"n=500000"}, .word_count = 1}, false},
        {{.glob = "*", .word = {"n=5*", "input=fp32"}, .word_count = 2}, true},
        {{.glob = "*", .word = {"n=5*", "input=fp16"}, .word_count = 2}, false},
        {{.glob = "*", .word = {"cold"}, .word_count = 1}, true},
        {{.glob = "*", .word = {"hot"}, .word_count = 1}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(history_takes(&cases[i].filter, &id), cases[i].takes);
}

/* ------------------------------------------------------------ sparkline -- */

static void a_sparkline_has_a_cell_a_value_while_they_fit(void **state)
{
    (void)state;
    char line[SPARKLINE_SIZE];
    const double values[] = {100, 150, 200};
    sparkline(line, values, 3, 60, true);
    assert_string_equal(line, "▁▅█");
    sparkline(line, values, 3, 60, false);
    assert_string_equal(line, ".+#");
    sparkline(line, values, 0, 60, false);
    assert_string_equal(line, "");
}

static void noise_below_a_percent_stays_flat(void **state)
{
    (void)state;
    char line[SPARKLINE_SIZE];
    const double values[] = {100, 100.9, 100.3, 100.99};
    sparkline(line, values, 4, 60, false);
    assert_string_equal(line, "....");
}

static void a_cell_of_several_values_shows_their_median(void **state)
{
    (void)state;
    char line[SPARKLINE_SIZE];
    const double values[] = {1, 1, 900, 2, 2, 2, 1, 1, 1};
    sparkline(line, values, 9, 3, false);
    assert_string_equal(line, ".#.");
}

#define TEST(name)   cmocka_unit_test(name)
#define STORED(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORED(a_run_has_the_median_of_its_launches),
        STORED(runs_without_a_time_are_counted_and_not_shown),
        STORED(points_are_in_the_order_of_time),
        STORED(a_step_is_a_change_with_its_levels),
        STORED(another_driver_is_a_border_even_without_a_step),
        STORED(another_device_in_its_place_is_a_border),
        STORED(devices_that_take_turns_have_a_series_each),
        STORED(ceilings_are_no_cases),
        STORED(an_empty_database_has_no_series),
        STORED(acks_are_read_where_the_database_has_them),
        TEST(a_filter_takes_what_glob_and_words_name),
        TEST(a_sparkline_has_a_cell_a_value_while_they_fit),
        TEST(noise_below_a_percent_stays_flat),
        TEST(a_cell_of_several_values_shows_their_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
