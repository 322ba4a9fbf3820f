/* test_history.c - series over runs: values, changes, devices, acks. */
#include "base/sparkline.h"
#include "store/store_gate.h"
#include "history_fixture.h"

static struct device_info card(const char *uuid)
{
    struct device_info device = fixture_device();
    snprintf(device.uuid, sizeof device.uuid, "%s", uuid);
    return device;
}

static void add_one(struct store *store, int day, const char *uuid, double time_ns)
{
    const struct device_info device = card(uuid);
    history_day(store, day, &device, time_ns);
}

OPEN_STORE_TEST(a_run_has_the_median_of_its_launches)
{
    const double time_ns[] = {100, 300, 110, NAN};
    const struct device_info device = card("a");
    struct run_info run = fixture_begin_run(store, "");
    for (int i = 0; i < 4; i++)
        history_launch(store, run.id, i + 1, &device, time_ns[i]);
    struct history history = history_all(store, 0);
    assert_int_equal(history.series_count, 1);
    assert_int_equal(history.series[0].point_count, 1);
    assert_int_equal(history.series[0].points[0].launches, 3);
    assert_true(history.series[0].points[0].time_ns == 110);
    assert_int_equal(history.series[0].failed, 0);
    history_release(&history);
}

STORE_TEST(runs_without_a_time_are_counted_and_not_shown)
{
    struct store *store = fixture_open(state, "b.sqlite", STORE_WRITE);
    add_one(store, 0, "a", 100);
    add_one(store, 1, "a", NAN);
    add_one(store, 2, "a", 101);
    struct history history = history_all(store, 0);
    assert_int_equal(history.series[0].point_count, 2);
    assert_int_equal(history.series[0].failed, 1);
    assert_int_equal(history.series[0].change_count, 0);
    history_release(&history);
    store_close(store);
}

STORE_TEST(points_are_in_the_order_of_time)
{
    struct store *store = fixture_open(state, "c.sqlite", STORE_WRITE);
    add_one(store, 2, "a", 102);
    add_one(store, 0, "a", 100);
    add_one(store, 1, "a", 101);
    struct history history = history_all(store, 0);
    for (int i = 0; i < 3; i++)
        assert_true(history.series[0].points[i].time_ns == 100 + i);
    history_release(&history);
    history = history_all(store, 2);
    assert_int_equal(history.series[0].point_count, 2);
    assert_true(history.series[0].points[0].time_ns == 101);
    history_release(&history);
    store_close(store);
}

STORE_TEST(a_step_is_a_change_with_its_levels)
{
    struct store *store = fixture_open(state, "d.sqlite", STORE_WRITE);
    for (int i = 0; i < 30; i++)
        add_one(store, i, "a", (i < 18 ? 1000 : 1100) * history_wobble(i));
    struct history history = history_all(store, 0);
    assert_int_equal(history.series[0].change_count, 1);
    const struct history_change *change = &history.series[0].changes[0];
    assert_int_equal(change->at, 18);
    assert_int_equal(change->causes, 0);
    assert_true(fabs(change->before_ns - 1000) < 5);
    assert_true(fabs(change->after_ns - 1100) < 5);
    history_release(&history);
    store_close(store);
}

STORE_TEST(devices_that_take_turns_have_a_series_each)
{
    struct store *store = fixture_open(state, "g.sqlite", STORE_WRITE);
    for (int i = 0; i < 40; i++)
        add_one(store, i, i % 2 ? "b" : "a", (i % 2 ? 1080 : 1000) * history_wobble(i));
    struct history history = history_all(store, 0);
    assert_int_equal(history.series_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(history.series[i].point_count, 20);
        assert_int_equal(history.series[i].change_count, 0);
    }
    history_release(&history);
    store_close(store);
}

STORE_TEST(ceilings_are_no_cases)
{
    struct store *store = fixture_open(state, "h.sqlite", STORE_WRITE);
    struct run_info run = fixture_begin_run(store, "");
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    struct case_result result = fixture_result("fast");
    struct group group = fixture_group(PURPOSE_CEILING, "g");
    FINE(store_cases(store, launch.id, &group, &result, 1, NULL));
    struct history history = history_all(store, 0);
    assert_int_equal(history.series_count, 0);
    history_release(&history);
    store_close(store);
}

STORE_TEST(an_empty_database_has_no_series)
{
    struct store *store = fixture_open(state, "i.sqlite", STORE_WRITE);
    struct history history = history_all(store, 0);
    assert_int_equal(history.series_count, 0);
    history_release(&history);
    store_close(store);
}

STORE_TEST(an_ack_covers_the_cases_its_pattern_matches)
{
    struct store *store = fixture_open(state, "j.sqlite", STORE_WRITE);
    struct ack wide = {.pattern = "copy/f* *",
                       .reason = "a wider tile",
                       .up_to = INFINITY,
                       .expires_at = "2999-01-01"};
    struct ack other = {
        .pattern = "copy/slow *", .reason = "other", .up_to = INFINITY, .expires_at = "2999-01-01"};
    add_one(store, 0, "a", 100);
    struct history history = history_all(store, 0);
    assert_int_equal(history.ack_count, 0);
    history_release(&history);
    FINE(store_set_ack(store, &wide));
    FINE(store_set_ack(store, &other));
    history = history_all(store, 0);
    assert_int_equal(history.ack_count, 2);
    assert_true(case_matches(history.acks[0].pattern, &history.series[0].id));
    assert_false(case_matches(history.acks[1].pattern, &history.series[0].id));
    history_release(&history);
    store_close(store);
}

/* ------------------------------------------------------------ sparkline -- */

TEST(a_sparkline_has_a_cell_a_value_while_they_fit)
{
    char line[SPARKLINE_SIZE];
    const double values[] = {100, 150, 200};
    sparkline(line, values, 3, 60, true);
    assert_string_equal(line, "▁▅█");
    sparkline(line, values, 3, 60, false);
    assert_string_equal(line, ".+#");
    sparkline(line, values, 0, 60, false);
    assert_string_equal(line, "");
}

TEST(noise_below_a_percent_stays_flat)
{
    char line[SPARKLINE_SIZE];
    const double values[] = {100, 100.9, 100.3, 100.99};
    sparkline(line, values, 4, 60, false);
    assert_string_equal(line, "....");
}

TEST(a_cell_of_several_values_shows_their_median)
{
    char line[SPARKLINE_SIZE];
    const double values[] = {1, 1, 900, 2, 2, 2, 1, 1, 1};
    sparkline(line, values, 9, 3, false);
    assert_string_equal(line, ".#.");
}
