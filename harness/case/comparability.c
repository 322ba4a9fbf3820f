#include "case/comparability.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"

static void simulated(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->simulated ? "simulated" : "real");
}

static void name(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->name);
}

static void uuid(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->uuid);
}

static void firmware(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->vbios);
}

static void driver(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->driver);
}

static void runtime(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, device->runtime);
}

static void power_limit(const struct device_info *device, char *out, size_t size)
{
    out[0] = '\0';
    if (!isnan(device->power_limit_w)) snprintf(out, size, "%.10g W", device->power_limit_w);
}

static const char *on_off(int32_t flag)
{
    return flag < 0 ? "" : flag ? "on" : "off";
}

static void ecc(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, on_off(device->ecc));
}

static void mig(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, on_off(device->mig));
}

static void clock_source(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, clock_name((enum clock_source)device->clock));
}

static void flush(const struct device_info *device, char *out, size_t size)
{
    text_copy(out, size, flush_name((enum cache_flush)device->flush));
}

static const struct {
    const char *name;
    bool of_card;
    void (*read)(const struct device_info *device, char *out, size_t size);
} parts[COMPARABILITY_PARTS] = {
    [PART_SIMULATED] = {"device", false, simulated},
    [PART_NAME] = {"device", false, name},
    [PART_UUID] = {"device uuid", true, uuid},
    [PART_FIRMWARE] = {"firmware", true, firmware},
    [PART_DRIVER] = {"driver", false, driver},
    [PART_RUNTIME] = {"runtime", false, runtime},
    [PART_POWER_LIMIT] = {"power limit", true, power_limit},
    [PART_ECC] = {"ECC", true, ecc},
    [PART_MIG] = {"MIG", true, mig},
    [PART_CLOCK] = {"clock", false, clock_source},
    [PART_FLUSH] = {"flush", false, flush},
};

void comparability_of(const struct device_info *device, struct comparability *out)
{
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        parts[i].read(device, out->part[i], sizeof out->part[i]);
}

const char *comparability_part_name(int part)
{
    return parts[part].name;
}

bool comparability_is_of_card(int part)
{
    return parts[part].of_card;
}
