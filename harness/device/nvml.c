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
    nvml.library = library_open(names, NULL);
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

/* Whether a card is open, the library has the function, and the card answers. */
#define ANSWERS(call, ...)                                                                         \
    (nvml.card && nvml.api.call && nvml.api.call(__VA_ARGS__) == NVML_SUCCESS)
/* A figure of the card; of some it has several: a clock, or the temperature of a sensor. */
#define FIGURE(call, unit, fallback)                                                               \
    (ANSWERS(call, nvml.card, &value) ? value * (unit) : (double)(fallback))
#define FIGURE_OF(call, which, fallback)                                                           \
    (ANSWERS(call, nvml.card, which, &value) ? (double)value : (fallback))

void nvml_describe(struct device_info *info)
{
    char text[RESULT_MAX_PROPERTY] = "";
    int ecc = 0, ecc_later = 0;
    unsigned value, mig = 0, mig_later = 0;
    if (ANSWERS(vbios, nvml.card, text, sizeof text))
        snprintf(info->vbios, sizeof info->vbios, "%s", text);
    if (ANSWERS(driver, text, sizeof text)) snprintf(info->driver, sizeof info->driver, "%s", text);
    if (ANSWERS(ecc, nvml.card, &ecc, &ecc_later)) info->ecc = ecc;
    if (ANSWERS(mig, nvml.card, &mig, &mig_later)) info->mig = (int32_t)mig;
    info->sm_mhz_max = FIGURE_OF(clock_max, NVML_CLOCK_SM, info->sm_mhz_max);
    info->memory_mhz_max = FIGURE_OF(clock_max, NVML_CLOCK_MEMORY, info->memory_mhz_max);
    info->power_limit_w = FIGURE(power_limit, 1e-3, info->power_limit_w);
}

double nvml_energy_mj(void)
{
    unsigned long long value;
    return FIGURE(energy, 1.0, NAN);
}

void nvml_state(struct device_state *state)
{
    unsigned value;
    unsigned long long bits = 0;
    device_state_init(state);
    state->sm_mhz = FIGURE_OF(clock, NVML_CLOCK_SM, NAN);
    state->memory_mhz = FIGURE_OF(clock, NVML_CLOCK_MEMORY, NAN);
    state->temperature_c = FIGURE_OF(temperature, NVML_TEMPERATURE_GPU, NAN);
    state->power_w = FIGURE(power, 1e-3, NAN);
    state->energy_mj = nvml_energy_mj();
    state->clock_reasons = ANSWERS(clock_reasons, nvml.card, &bits) ? bits : 0;
}

void nvml_health(struct card_health *health)
{
    unsigned value;
    unsigned long long errors = 0;
    bool has_errors = ANSWERS(ecc_errors, nvml.card, NVML_UNCORRECTED, NVML_SINCE_DRIVER, &errors);
    *health = (struct card_health){
        .link_width = (int32_t)FIGURE(link_width, 1.0, -1),
        .link_width_max = (int32_t)FIGURE(link_width_max, 1.0, -1),
        .link_generation = (int32_t)FIGURE(link_generation, 1.0, -1),
        .link_generation_max = (int32_t)FIGURE(link_generation_max, 1.0, -1),
        .ecc_uncorrected = has_errors ? (int64_t)errors : -1,
    };
}

int nvml_persistence(void)
{
    int mode = 0;
    return ANSWERS(persistence, nvml.card, &mode) ? mode : -1;
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

/* nvmlClocksEventReasons. A software power cap is normal under load; slow-downs protect it. */
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
