/* test_history_borders.c - where a series is cut: the parts of comparability that changed. */
#include "history_fixture.h"

enum { RUNS = 20, BEFORE = 3 };

/* What may change of a device. */
struct variation {
    double power_limit_w;
    int32_t ecc, mig, clock;
    const char *uuid, *vbios, *driver, *runtime;
};

static const struct variation plain = {700, 1, 0, CLOCK_CUPTI, "GPU-a", "96.1", "570", "13.0"};

static struct device_info device_of(const struct variation *variation)
{
    struct device_info device = fixture_device();
    device.power_limit_w = variation->power_limit_w;
    device.ecc = variation->ecc;
    device.mig = variation->mig;
    device.clock = variation->clock;
    snprintf(device.uuid, sizeof device.uuid, "%s", variation->uuid);
    snprintf(device.vbios, sizeof device.vbios, "%s", variation->vbios);
    snprintf(device.driver, sizeof device.driver, "%s", variation->driver);
    snprintf(device.runtime, sizeof device.runtime, "%s", variation->runtime);
    return device;
}

static void add_days(struct store *store, int from, int to, const struct variation *variation)
{
    const struct device_info device = device_of(variation);
    for (int i = from; i < to; i++)
        history_day(store, i, &device, 1000 * history_wobble(i));
}

/* The history of some runs of the one, and then of the other, in a database of its own. */
static struct history history_of(void **state, const struct variation *one,
                                 const struct variation *other)
{
    static int made;
    char name[32];
    snprintf(name, sizeof name, "%d.sqlite", made++);
    struct store *store = fixture_open(state, name, STORE_WRITE);
    add_days(store, 0, BEFORE, one);
    add_days(store, BEFORE, RUNS, other);
    struct history history = history_all(store, 0);
    store_close(store);
    assert_int_equal(history.series_count, 1);
    assert_int_equal(history.series[0].point_count, RUNS);
    return history;
}

static void assert_border(void **state, struct variation other, enum comparability_part cause,
                          const char *from, const char *to)
{
    struct history history = history_of(state, &plain, &other);
    const struct history_series *series = &history.series[0];
    assert_int_equal(series->change_count, 1);
    assert_int_equal(series->changes[0].at, BEFORE);
    assert_int_equal(series->changes[0].causes, 1u << cause);
    assert_string_equal(history_part_before(&history, series, BEFORE, cause), from);
    assert_string_equal(history_part_at(&history, series, BEFORE, cause), to);
    history_release(&history);
}

STORE_TEST(another_driver_is_a_border_even_without_a_step)
{
    struct variation other = plain;
    other.driver = "580";
    assert_border(state, other, PART_DRIVER, "570", "580");
}

STORE_TEST(another_power_limit_is_a_border)
{
    struct variation other = plain;
    other.power_limit_w = 350;
    assert_border(state, other, PART_POWER_LIMIT, "700 W", "350 W");
}

STORE_TEST(ecc_switched_off_is_a_border)
{
    struct variation other = plain;
    other.ecc = 0;
    assert_border(state, other, PART_ECC, "on", "off");
}

STORE_TEST(mig_switched_on_is_a_border)
{
    struct variation other = plain;
    other.mig = 1;
    assert_border(state, other, PART_MIG, "off", "on");
}

STORE_TEST(parts_that_change_at_once_make_one_border)
{
    struct variation other = plain;
    other.power_limit_w = 350;
    other.ecc = 0;
    other.clock = CLOCK_EVENT;
    struct history history = history_of(state, &plain, &other);
    assert_int_equal(history.series[0].change_count, 1);
    assert_int_equal(history.series[0].changes[0].causes,
                     1u << PART_POWER_LIMIT | 1u << PART_ECC | 1u << PART_CLOCK);
    history_release(&history);
}

STORE_TEST(another_device_in_its_place_is_a_border_and_nothing_else_is_news)
{
    struct variation other = plain;
    other.uuid = "GPU-b";
    other.driver = "580";
    other.power_limit_w = 350;
    assert_border(state, other, PART_NAME, "NVIDIA H200", "NVIDIA H200");
}

/* -------------------------------------------------------------- unknown -- */

static const struct variation unknown[] = {
    {NAN, 1, 0, CLOCK_CUPTI, "GPU-a", "96.1", "570", "13.0"},
    {700, -1, 0, CLOCK_CUPTI, "GPU-a", "96.1", "570", "13.0"},
    {700, 1, -1, CLOCK_CUPTI, "GPU-a", "96.1", "570", "13.0"},
    {700, 1, 0, -1, "GPU-a", "96.1", "570", "13.0"},
    {700, 1, 0, CLOCK_CUPTI, "GPU-a", "", "570", "13.0"},
    {700, 1, 0, CLOCK_CUPTI, "GPU-a", "96.1", "", "13.0"},
    {700, 1, 0, CLOCK_CUPTI, "GPU-a", "96.1", "570", ""},
};

static void assert_no_border(void **state, const struct variation *one,
                             const struct variation *other)
{
    struct history history = history_of(state, one, other);
    assert_int_equal(history.series[0].change_count, 0);
    /* Two settings all the same: a fence is made of equal ones. */
    assert_int_equal(history.setting_count, 2);
    assert_int_equal(history.settings[1].device, 0);
    history_release(&history);
}

STORE_TEST(what_one_side_does_not_know_is_no_border)
{
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_no_border(state, &unknown[i], &plain);
        assert_no_border(state, &plain, &unknown[i]);
    }
}

OPEN_STORE_TEST(what_changed_while_nobody_knew_is_a_border_once_it_is_known)
{
    struct variation other = plain;
    other.power_limit_w = 350;
    add_days(store, 0, 4, &plain);
    add_days(store, 4, 7, &unknown[0]);
    add_days(store, 7, RUNS, &other);
    struct history history = history_all(store, 0);
    const struct history_series *series = &history.series[0];
    assert_int_equal(series->change_count, 1);
    assert_int_equal(series->changes[0].at, 7);
    assert_true(history_is_cause(&series->changes[0], PART_POWER_LIMIT));
    assert_string_equal(history_part_before(&history, series, 7, PART_POWER_LIMIT), "700 W");
    history_release(&history);
}

OPEN_STORE_TEST(what_another_device_had_is_not_held_against_it)
{
    struct variation silent = unknown[0], known = plain;
    silent.uuid = known.uuid = "GPU-b";
    known.power_limit_w = 350;
    add_days(store, 0, 4, &plain);
    add_days(store, 4, 7, &silent);
    add_days(store, 7, RUNS, &known);
    struct history history = history_all(store, 0);
    assert_int_equal(history.series[0].change_count, 1);
    assert_int_equal(history.series[0].changes[0].at, 4);
    assert_int_equal(history.series[0].changes[0].causes, 1u << PART_NAME);
    history_release(&history);
}
