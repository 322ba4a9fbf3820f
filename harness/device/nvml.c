/*
 * nvml.c - the few NVML functions used are declared here from their documented interface
 * (NVIDIA, NVML API Reference Guide, 12.2), which is stable: a function that changes
 * gets a new name. NVML's enumerations are declared as int.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "base/text.h"
#include "device/nvml.h"

/* nvmlReturn_t, nvmlClockType_t, nvmlTemperatureSensors_t, nvmlMemoryErrorType_t,
 * nvmlEccCounterType_t */
enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_UNCORRECTED = 1, NVML_SINCE_DRIVER = 0 };

struct nvml_card; /* nvmlDevice_t points to it */

/* clang-format off */
/* Functions that may be missing are NULL. */
#define CARD struct nvml_card *card
#define EACH_CALL(f) \
    f(init, int, (void), "nvmlInit_v2", "nvmlInit", false) \
    f(shutdown, int, (void), "nvmlShutdown", NULL, false) \
    f(error_text, const char *, (int code), "nvmlErrorString", NULL, false) \
    f(card_by_uuid, int, (const char *uuid, struct nvml_card **card), "nvmlDeviceGetHandleByUUID", NULL, false) \
    f(clock, int, (CARD, int type, unsigned *mhz), "nvmlDeviceGetClockInfo", NULL, true) \
    f(clock_max, int, (CARD, int type, unsigned *mhz), "nvmlDeviceGetMaxClockInfo", NULL, true) \
    f(temperature, int, (CARD, int sensor, unsigned *celsius), "nvmlDeviceGetTemperature", NULL, true) \
    f(power, int, (CARD, unsigned *milliwatts), "nvmlDeviceGetPowerUsage", NULL, true) \
    f(power_limit, int, (CARD, unsigned *milliwatts), "nvmlDeviceGetEnforcedPowerLimit", NULL, true) \
    f(energy, int, (CARD, unsigned long long *millijoules), "nvmlDeviceGetTotalEnergyConsumption", NULL, true) \
    f(clock_reasons, int, (CARD, unsigned long long *bits), "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", true) \
    f(vbios, int, (CARD, char *text, unsigned size), "nvmlDeviceGetVbiosVersion", NULL, true) \
    f(driver, int, (char *text, unsigned size), "nvmlSystemGetDriverVersion", NULL, true) \
    f(ecc, int, (CARD, int *now, int *after_reboot), "nvmlDeviceGetEccMode", NULL, true) \
    f(mig, int, (CARD, unsigned *now, unsigned *after_reset), "nvmlDeviceGetMigMode", NULL, true) \
    f(persistence, int, (CARD, int *mode), "nvmlDeviceGetPersistenceMode", NULL, true) \
    f(processes, int, (CARD, unsigned *count, void *list), "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", true) \
    f(link_width, int, (CARD, unsigned *lanes), "nvmlDeviceGetCurrPcieLinkWidth", NULL, true) \
    f(link_width_max, int, (CARD, unsigned *lanes), "nvmlDeviceGetMaxPcieLinkWidth", NULL, true) \
    f(link_generation, int, (CARD, unsigned *generation), "nvmlDeviceGetCurrPcieLinkGeneration", NULL, true) \
    f(link_generation_max, int, (CARD, unsigned *generation), "nvmlDeviceGetMaxPcieLinkGeneration", NULL, true) \
    f(ecc_errors, int, (CARD, int type, int counter, unsigned long long *count), "nvmlDeviceGetTotalEccErrors", NULL, true)
/* clang-format on */
struct api {
    EACH_CALL(LIBRARY_MEMBER)
};
static const struct library_symbol symbols[] = {EACH_CALL(LIBRARY_SYMBOL)};
#undef CARD

/* Global because NVML's own state is per process and a process uses one card. */
static struct {
    void *library;
    struct api api;
    bool is_started;
    struct nvml_card *card;
} nvml;

/* -------------------------------------------------------------- opening -- */

static int load(void)
{
    const char *chosen = getenv("ASSAY_NVML");
    const char *const names[] = {chosen && *chosen ? chosen : "libnvidia-ml.so.1", NULL};
    const char *const patterns[] = {NULL};
    nvml.library = library_open(names, patterns);
    if (!nvml.library) return -1;
    return library_bind(nvml.library, symbols, sizeof symbols / sizeof *symbols, &nvml.api);
}

/* Close what is open, and say why. `why` may be a text of the library that is unloaded here. */
static int refuse(const char *what, const char *why)
{
    char text[512];
    snprintf(text, sizeof text, "%s", why);
    nvml_close();
    return assay_error("NVML %s: %s", what, text);
}

int nvml_open(const char *uuid)
{
    char what[RESULT_MAX_PROPERTY + 32];
    nvml_close();
    if (load()) return refuse("cannot be loaded", assay_last_error());
    int code = nvml.api.init();
    if (code != NVML_SUCCESS) return refuse("does not start", nvml.api.error_text(code));
    nvml.is_started = true;
    code = nvml.api.card_by_uuid(uuid, &nvml.card);
    if (code == NVML_SUCCESS) return 0;
    snprintf(what, sizeof what, "does not find the card %s", uuid);
    return refuse(what, nvml.api.error_text(code));
}

void nvml_close(void)
{
    if (nvml.is_started) nvml.api.shutdown();
    if (nvml.library) dlclose(nvml.library);
    memset(&nvml, 0, sizeof nvml);
}

/* -------------------------------------------------------------- reading -- */

/* A figure of which the card has several: a clock, or the temperature of a sensor. */
static double read_figure(int (*get)(struct nvml_card *, int, unsigned *), int which,
                          double fallback)
{
    unsigned value = 0;
    return get && get(nvml.card, which, &value) == NVML_SUCCESS ? value : fallback;
}

static double read_power_w(int (*get)(struct nvml_card *, unsigned *), double fallback)
{
    unsigned milliwatts = 0;
    return get && get(nvml.card, &milliwatts) == NVML_SUCCESS ? milliwatts * 1e-3 : fallback;
}

static uint64_t read_clock_reasons(void)
{
    unsigned long long bits = 0;
    if (!nvml.api.clock_reasons) return 0;
    return nvml.api.clock_reasons(nvml.card, &bits) == NVML_SUCCESS ? bits : 0;
}

static void read_versions(struct device_info *info)
{
    char text[RESULT_MAX_PROPERTY] = "";
    if (nvml.api.vbios && nvml.api.vbios(nvml.card, text, sizeof text) == NVML_SUCCESS)
        snprintf(info->vbios, sizeof info->vbios, "%s", text);
    if (nvml.api.driver && nvml.api.driver(text, sizeof text) == NVML_SUCCESS)
        snprintf(info->driver, sizeof info->driver, "%s", text);
}

static void read_modes(struct device_info *info)
{
    int ecc = 0, ecc_later = 0;
    unsigned mig = 0, mig_later = 0;
    if (nvml.api.ecc && nvml.api.ecc(nvml.card, &ecc, &ecc_later) == NVML_SUCCESS) info->ecc = ecc;
    if (nvml.api.mig && nvml.api.mig(nvml.card, &mig, &mig_later) == NVML_SUCCESS)
        info->mig = (int32_t)mig;
}

void nvml_describe(struct device_info *info)
{
    if (!nvml.card) return;
    read_versions(info);
    read_modes(info);
    info->sm_mhz_max = read_figure(nvml.api.clock_max, NVML_CLOCK_SM, info->sm_mhz_max);
    info->memory_mhz_max = read_figure(nvml.api.clock_max, NVML_CLOCK_MEMORY, info->memory_mhz_max);
    info->power_limit_w = read_power_w(nvml.api.power_limit, info->power_limit_w);
}

double nvml_energy_mj(void)
{
    unsigned long long millijoules = 0;
    if (!nvml.card || !nvml.api.energy) return NAN;
    return nvml.api.energy(nvml.card, &millijoules) == NVML_SUCCESS ? (double)millijoules : NAN;
}

void nvml_state(struct device_state *state)
{
    device_state_init(state);
    if (!nvml.card) return;
    state->sm_mhz = read_figure(nvml.api.clock, NVML_CLOCK_SM, NAN);
    state->memory_mhz = read_figure(nvml.api.clock, NVML_CLOCK_MEMORY, NAN);
    state->temperature_c = read_figure(nvml.api.temperature, NVML_TEMPERATURE_GPU, NAN);
    state->power_w = read_power_w(nvml.api.power, NAN);
    state->energy_mj = nvml_energy_mj();
    state->clock_reasons = read_clock_reasons();
}

static int32_t read_count(int (*get)(struct nvml_card *, unsigned *))
{
    unsigned count = 0;
    return get && get(nvml.card, &count) == NVML_SUCCESS ? (int32_t)count : -1;
}

void nvml_health(struct card_health *health)
{
    unsigned long long errors = 0;
    *health = (struct card_health){-1, -1, -1, -1, -1};
    if (!nvml.card) return;
    health->link_width = read_count(nvml.api.link_width);
    health->link_width_max = read_count(nvml.api.link_width_max);
    health->link_generation = read_count(nvml.api.link_generation);
    health->link_generation_max = read_count(nvml.api.link_generation_max);
    if (nvml.api.ecc_errors && nvml.api.ecc_errors(nvml.card, NVML_UNCORRECTED, NVML_SINCE_DRIVER,
                                                   &errors) == NVML_SUCCESS)
        health->ecc_uncorrected = (int64_t)errors;
}

int nvml_persistence(void)
{
    int mode = 0;
    if (!nvml.card || !nvml.api.persistence) return -1;
    return nvml.api.persistence(nvml.card, &mode) == NVML_SUCCESS ? mode : -1;
}

int nvml_processes(void)
{
    /* With a list of length 0, NVML only returns the count. */
    unsigned count = 0;
    if (!nvml.card || !nvml.api.processes) return -1;
    int code = nvml.api.processes(nvml.card, &count, NULL);
    return code == NVML_SUCCESS || code == NVML_INSUFFICIENT_SIZE ? (int)count : -1;
}

/* -------------------------------------------------------------- reasons -- */

/* nvmlClocksEventReasons. A software power cap is normal under full load; the slow-downs
 * protect the card. */
static const struct {
    uint64_t bit;
    bool is_slowdown;
    const char *name;
} reasons[] = {
    {0x001, false, "idle"},
    {0x002, false, "application clocks"},
    {0x004, false, "sw power cap"},
    {0x008, true, "hw slowdown"},
    {0x010, false, "sync boost"},
    {0x020, true, "sw thermal slowdown"},
    {0x040, true, "hw thermal slowdown"},
    {0x080, true, "hw power brake"},
    {0x100, false, "display clocks"},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

bool nvml_is_slowdown(uint64_t clock_reasons)
{
    for (int i = 0; i < REASONS; i++)
        if (reasons[i].is_slowdown && clock_reasons & reasons[i].bit) return true;
    return false;
}

void nvml_reasons_text(uint64_t clock_reasons, char *out, size_t size)
{
    if (size == 0) return;
    out[0] = '\0';
    for (int i = 0; i < REASONS; i++) {
        if (clock_reasons & reasons[i].bit) text_add(out, size, ", ", "%s", reasons[i].name);
        clock_reasons &= ~reasons[i].bit;
    }
    if (clock_reasons)
        text_add(out, size, ", ", "reason 0x%llx", (unsigned long long)clock_reasons);
}
