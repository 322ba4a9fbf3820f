/* test_store_key.c - the comparability key follows from the facts, whenever they were stored. */
#include "judge/compare.h"
#include "store/store_gate.h"
#include "store/store_rows.h"
#include "tests/store_fixture.h"

static struct launch_info of(void (*change)(struct device_info *device))
{
    struct launch_info launch = {.device = fixture_device()};
    launch.device.mig = 0;
    if (change) change(&launch.device);
    return launch;
}

static void simulated(struct device_info *device)
{
    device->simulated = true;
}
static void name(struct device_info *device)
{
    strcpy(device->name, "NVIDIA H100");
}
static void uuid(struct device_info *device)
{
    strcpy(device->uuid, "GPU-5678");
}
static void vbios(struct device_info *device)
{
    strcpy(device->vbios, "96.00.2");
}
static void driver(struct device_info *device)
{
    strcpy(device->driver, "590");
}
static void runtime(struct device_info *device)
{
    strcpy(device->runtime, "13.1");
}
static void power(struct device_info *device)
{
    device->power_limit_w = 350;
}
static void no_power(struct device_info *device)
{
    device->power_limit_w = NAN;
}
static void ecc(struct device_info *device)
{
    device->ecc = 0;
}
static void no_ecc(struct device_info *device)
{
    device->ecc = -1;
}
static void mig(struct device_info *device)
{
    device->mig = 1;
}
static void clock_of(struct device_info *device)
{
    device->clock = CLOCK_EVENT;
}
static void flush_of(struct device_info *device)
{
    device->flush = FLUSH_READ;
}

static const struct {
    void (*change)(struct device_info *device);
    const char *words;
} parts[] = {
    {simulated, "device real and simulated"},
    {name, "device NVIDIA H200 and NVIDIA H100"},
    {uuid, "device uuid GPU-1234 and GPU-5678"},
    {vbios, "firmware 96.00.1 and 96.00.2"},
    {driver, "driver 580.159.04 and 590"},
    {runtime, "runtime 13.0 and 13.1"},
    {power, "power limit 700 W and 350 W"},
    {no_power, "power limit 700 W and unknown"},
    {ecc, "ECC on and off"},
    {no_ecc, "ECC on and unknown"},
    {mig, "MIG off and on"},
    {clock_of, "clock cupti and event"},
    {flush_of, "flush write and read"},
};

TEST(every_part_changes_the_key_and_is_named_alone)
{
    struct launch_info plain = of(NULL);
    char key[ID_SIZE], other[ID_SIZE], words[ASSAY_MAX_REASON];
    store_key(&plain.device, key);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct launch_info changed = of(parts[i].change);
        store_key(&changed.device, other);
        assert_string_not_equal(key, other);
        comparability_difference(&plain, &changed, words, sizeof words);
        assert_string_equal(words, parts[i].words);
        comparability_difference(&changed, &changed, words, sizeof words);
        assert_string_equal(words, "");
    }
}

TEST(what_else_a_launch_has_does_not)
{
    struct launch_info plain = of(NULL), other = of(NULL);
    char key[ID_SIZE], same[ID_SIZE];
    strcpy(other.device.library, "cuBLAS 14");
    strcpy(other.device.spec, "cuda:7");
    other.device.event_floor_ns = 4000;
    store_key(&plain.device, key);
    store_key(&other.device, same);
    assert_string_equal(key, same);
}

TEST(of_another_model_its_card_is_no_news)
{
    struct launch_info plain = of(NULL), other = of(NULL);
    char words[ASSAY_MAX_REASON];
    name(&other.device);
    uuid(&other.device);
    vbios(&other.device);
    power(&other.device);
    ecc(&other.device);
    comparability_difference(&plain, &other, words, sizeof words);
    assert_string_equal(words, "device NVIDIA H200 and NVIDIA H100");
}

/* A launch of the run by the second version: its key knows nothing of `change`. */
static void former_launch(struct store *store, struct run_info *run, int number, const char *former,
                          const char *change)
{
    char sql[512];
    fixture_begin_launch(store, run->id, number);
    snprintf(sql, sizeof sql,
             "UPDATE launch SET comparability = '%s'%s WHERE number = %d AND run_id = '%s'", former,
             change, number, run->id);
    FINE(store_exec(store, "test", sql));
}

STORE_TEST(what_an_older_version_exported_gets_it_too)
{
    struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct run_info run = fixture_begin_run(store, "old");
    char *text = NULL;
    size_t size;
    int added;
    former_launch(store, &run, 1, "former", "");
    FILE *file = open_memstream(&text, &size);
    FINE(store_export_ndjson(store, run.id, file));
    fclose(file);
    store_close(store);
    assert_non_null(strstr(text, "\"comparability\":\"former\""));

    store = fixture_open(state, "b.sqlite", STORE_WRITE);
    file = fmemopen(text, size, "r");
    FINE(store_import_ndjson(store, "old", file, &added));
    fclose(file);
    free(text);
    fixture_run(store, "new");
    assert_int_equal(fixture_integer(store, "SELECT count(*) FROM launch"), 2);
    assert_int_equal(fixture_integer(store, "SELECT count(DISTINCT comparability) FROM launch"), 1);
    store_close(store);
}
