/* test_nvml.c - reading a card, against a library made on the spot. */
#include <math.h>

#include "tests/test.h"
#include "base/error.h"
#include "device/nvml.h"
#include "tests/shared_object.h"

/* A card that answers everything, and one ("GPU-mute") that supports nothing. */
static const char whole_library[] =
    "static int card, mute;\n"
    "#define ANSWER(value) do { if (d == &mute) return 3; *out = (value); return 0; } while (0)\n"
    "int nvmlInit_v2(void) { return 0; }\n"
    "int nvmlShutdown(void) { return 0; }\n"
    "const char *nvmlErrorString(int code) { return code == 6 ? \"Not Found\" : \"other\"; }\n"
    "int nvmlDeviceGetHandleByUUID(const char *uuid, int **out) {\n"
    "    char last = uuid[4];\n"
    "    if (last != 'a' && last != 'm') return 6;\n"
    "    *out = last == 'a' ? &card : &mute;\n"
    "    return 0;\n"
    "}\n"
    "int nvmlDeviceGetClockInfo(int *d, int type, unsigned *out)\n"
    "{ ANSWER(type == 1 ? 1755 : type == 2 ? 3201 : 1); }\n"
    "int nvmlDeviceGetMaxClockInfo(int *d, int type, unsigned *out)\n"
    "{ ANSWER(type == 1 ? 1980 : type == 2 ? 3202 : 1); }\n"
    "int nvmlDeviceGetTemperature(int *d, int sensor, unsigned *out)\n"
    "{ ANSWER(sensor == 0 ? 41 : 99); }\n"
    "int nvmlDeviceGetPowerUsage(int *d, unsigned *out) { ANSWER(123456); }\n"
    "int nvmlDeviceGetEnforcedPowerLimit(int *d, unsigned *out) { ANSWER(700000); }\n"
    "int nvmlDeviceGetTotalEnergyConsumption(int *d, unsigned long long *out)\n"
    "{ ANSWER(6000000001ull); }\n"
    "int nvmlDeviceGetCurrentClocksThrottleReasons(int *d, unsigned long long *out)\n"
    "{ ANSWER(0x44); }\n"
    "static int text(char *out, unsigned size, const char *from) {\n"
    "    unsigned i = 0;\n"
    "    for (; from[i] && i + 1 < size; i++) out[i] = from[i];\n"
    "    out[i] = 0;\n"
    "    return 0;\n"
    "}\n"
    "int nvmlDeviceGetVbiosVersion(int *d, char *out, unsigned size)\n"
    "{ return d == &mute ? 3 : text(out, size, \"96.00.A5.00.01\"); }\n"
    "int nvmlSystemGetDriverVersion(char *out, unsigned size)\n"
    "{ return text(out, size, \"580.95.05\"); }\n"
    "int nvmlDeviceGetEccMode(int *d, int *out, int *later) { *later = 0; ANSWER(1); }\n"
    "int nvmlDeviceGetMigMode(int *d, unsigned *out, unsigned *later) { *later = 1; ANSWER(0); }\n"
    "int nvmlDeviceGetPersistenceMode(int *d, int *out) { ANSWER(1); }\n"
    "int nvmlDeviceGetComputeRunningProcesses_v3(int *d, unsigned *out, void *list)\n"
    "{ if (d == &mute) return 3; *out = 2; return list ? 0 : 7; }\n"
    "int nvmlDeviceGetCurrPcieLinkWidth(int *d, unsigned *out) { ANSWER(8); }\n"
    "int nvmlDeviceGetMaxPcieLinkWidth(int *d, unsigned *out) { ANSWER(16); }\n"
    "int nvmlDeviceGetCurrPcieLinkGeneration(int *d, unsigned *out) { ANSWER(4); }\n"
    "int nvmlDeviceGetMaxPcieLinkGeneration(int *d, unsigned *out) { ANSWER(5); }\n"
    "int nvmlDeviceGetTotalEccErrors(int *d, int type, int counter, unsigned long long *out)\n"
    "{ ANSWER(type == 1 && counter == 0 ? 7 : 99); }\n";

/* What every version has, and nothing more. */
static const char bare_library[] = "static int card;\n"
                                   "int nvmlInit_v2(void) { return 0; }\n"
                                   "int nvmlShutdown(void) { return 0; }\n"
                                   "const char *nvmlErrorString(int code) { return \"?\"; }\n"
                                   "int nvmlDeviceGetHandleByUUID(const char *uuid, int **out)\n"
                                   "{ *out = &card; return 0; }\n";

static const char refusing_library[] =
    "int nvmlInit_v2(void) { return 9; }\n"
    "int nvmlShutdown(void) { return 0; }\n"
    "const char *nvmlErrorString(int code) { return code == 9 ? \"Driver Not Loaded\" : \"?\"; }\n"
    "int nvmlDeviceGetHandleByUUID(const char *uuid, int **out) { return 1; }\n";

static const char not_the_library[] = "int nvmlInit_v2(void) { return 0; }\n";

/* Open `uuid` of a library made from `source`; the code that nvml_open returned. */
static int open_with(const char *source, const char *uuid)
{
    char path[128];
    assert_int_equal(shared_object_make(source, path, sizeof path), 0);
    setenv("ASSAY_NVML", path, 1);
    int result = nvml_open(uuid);
    shared_object_remove(path);
    return result;
}

static struct device_info blank(void)
{
    return (struct device_info){.driver = "as it was",
                                .vbios = "as it was",
                                .ecc = -1,
                                .mig = -1,
                                .sm_mhz_max = NAN,
                                .memory_mhz_max = NAN,
                                .power_limit_w = NAN};
}

TEST(a_card_is_described_in_the_units_of_the_fields)
{
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    struct device_info info = blank();
    nvml_describe(&info);
    assert_string_equal(info.vbios, "96.00.A5.00.01");
    assert_string_equal(info.driver, "580.95.05");
    assert_true(info.sm_mhz_max == 1980 && info.memory_mhz_max == 3202);
    assert_true(info.power_limit_w == 700.0);
    assert_int_equal(info.ecc, 1);
    assert_int_equal(info.mig, 0);
    assert_int_equal(nvml_persistence(), 1);
    nvml_close();
}

TEST(a_state_is_read_in_the_units_of_the_fields)
{
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    struct device_state now;
    nvml_state(&now);
    assert_true(now.sm_mhz == 1755 && now.memory_mhz == 3201);
    assert_true(now.temperature_c == 41);
    assert_true(fabs(now.power_w - 123.456) < 1e-9);
    assert_true(now.energy_mj == 6000000001.0);
    nvml_close();
}

TEST(the_health_of_a_card_is_read)
{
    struct card_health health;
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    nvml_health(&health);
    assert_int_equal(health.link_width, 8);
    assert_int_equal(health.link_width_max, 16);
    assert_int_equal(health.link_generation, 4);
    assert_int_equal(health.link_generation_max, 5);
    assert_int_equal(health.ecc_uncorrected, 7);
    nvml_close();
}

TEST(clock_reasons_are_read_under_their_older_name)
{
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    struct device_state now;
    nvml_state(&now);
    assert_int_equal(now.clock_reasons, 0x44);
    nvml_close();
}

TEST(processes_are_counted_without_room_for_their_list)
{
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    assert_int_equal(nvml_processes(), 2);
    nvml_close();
}

static void assert_nothing_is_read(void)
{
    struct device_state now;
    nvml_state(&now);
    assert_true(isnan(now.sm_mhz) && isnan(now.memory_mhz) && isnan(now.temperature_c));
    assert_true(isnan(now.power_w) && isnan(now.energy_mj));
    assert_int_equal(now.clock_reasons, 0);
    struct device_info info = blank();
    nvml_describe(&info);
    assert_string_equal(info.vbios, "as it was");
    assert_int_equal(info.ecc, -1);
    assert_int_equal(info.mig, -1);
    assert_true(isnan(info.sm_mhz_max) && isnan(info.memory_mhz_max) && isnan(info.power_limit_w));
    assert_int_equal(nvml_persistence(), -1);
    assert_int_equal(nvml_processes(), -1);
    struct card_health health;
    nvml_health(&health);
    assert_int_equal(health.link_width, -1);
    assert_int_equal(health.link_generation_max, -1);
    assert_int_equal(health.ecc_uncorrected, -1);
}

TEST(what_a_card_does_not_support_is_no_number)
{
    assert_int_equal(open_with(whole_library, "GPU-mute"), 0);
    assert_nothing_is_read();
    nvml_close();
}

TEST(what_a_library_does_not_have_is_no_number)
{
    assert_int_equal(open_with(bare_library, "GPU-a"), 0);
    assert_nothing_is_read();
    nvml_close();
}

TEST(nothing_is_read_while_none_is_open)
{
    assert_nothing_is_read();
    assert_int_equal(open_with(whole_library, "GPU-a"), 0);
    nvml_close();
    assert_nothing_is_read();
}

TEST(an_unknown_card_is_an_error_with_its_name)
{
    assert_int_equal(open_with(whole_library, "GPU-x"), -1);
    assert_non_null(strstr(assay_last_error(), "GPU-x"));
    assert_non_null(strstr(assay_last_error(), "Not Found"));
    assert_nothing_is_read();
}

TEST(a_library_that_does_not_start_says_why)
{
    assert_int_equal(open_with(refusing_library, "GPU-a"), -1);
    assert_non_null(strstr(assay_last_error(), "Driver Not Loaded"));
    assert_nothing_is_read();
}

TEST(a_missing_library_is_an_error_with_its_path)
{
    setenv("ASSAY_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    assert_int_equal(nvml_open("GPU-a"), -1);
    assert_non_null(strstr(assay_last_error(), "/nowhere/libnvidia-ml.so.1"));
    assert_nothing_is_read();
}

TEST(another_library_under_the_name_is_an_error)
{
    assert_int_equal(open_with(not_the_library, "GPU-a"), -1);
    assert_non_null(strstr(assay_last_error(), "nvmlShutdown"));
}

TEST(only_protection_is_a_slowdown)
{
    const uint64_t slow[] = {0x8, 0x20, 0x40, 0x80}, normal[] = {0, 0x1, 0x2, 0x4, 0x10, 0x100};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        assert_true(nvml_is_slowdown(slow[i]));
        assert_true(nvml_is_slowdown(slow[i] | 0x4));
    }
    for (size_t i = 0; i < sizeof normal / sizeof *normal; i++)
        assert_false(nvml_is_slowdown(normal[i]));
}

TEST(reasons_are_named_in_the_order_of_their_bits)
{
    char text[64];
    nvml_reasons_text(0, text, sizeof text);
    assert_string_equal(text, "");
    nvml_reasons_text(0x44, text, sizeof text);
    assert_string_equal(text, "sw power cap, hw thermal slowdown");
    nvml_reasons_text(0x401, text, sizeof text);
    assert_string_equal(text, "idle, reason 0x400");
}

TEST(reasons_that_do_not_fit_are_cut)
{
    char text[8] = "xxxxxxx";
    nvml_reasons_text(0x1ff, text, sizeof text);
    assert_string_equal(text, "idle, a");
}
