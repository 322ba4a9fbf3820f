#include "case/comparability.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"

static const char *on_off(int32_t flag)
{
    return flag < 0 ? "" : flag ? "on" : "off";
}

static const struct {
    const char *name;
    bool of_card;
} parts[COMPARABILITY_PARTS] = {
    [PART_SIMULATED] = {"device", false},
    [PART_NAME] = {"device", false},
    [PART_UUID] = {"device uuid", true},
    [PART_FIRMWARE] = {"firmware", true},
    [PART_DRIVER] = {"driver", false},
    [PART_RUNTIME] = {"runtime", false},
    [PART_POWER_LIMIT] = {"power limit", true},
    [PART_ECC] = {"ECC", true},
    [PART_MIG] = {"MIG", true},
    [PART_CLOCK] = {"clock", false},
    [PART_FLUSH] = {"flush", false},
};

void comparability_of(const struct device_info *device, struct comparability *out)
{
    char power[RESULT_MAX_PROPERTY] = "";
    if (!isnan(device->power_limit_w))
        snprintf(power, sizeof power, "%.10g W", device->power_limit_w);
    const char *const text[COMPARABILITY_PARTS] = {
        [PART_SIMULATED] = device->simulated ? "simulated" : "real",
        [PART_NAME] = device->name,
        [PART_UUID] = device->uuid,
        [PART_FIRMWARE] = device->vbios,
        [PART_DRIVER] = device->driver,
        [PART_RUNTIME] = device->runtime,
        [PART_POWER_LIMIT] = power,
        [PART_ECC] = on_off(device->ecc),
        [PART_MIG] = on_off(device->mig),
        [PART_CLOCK] = clock_name((enum clock_source)device->clock),
        [PART_FLUSH] = flush_name((enum cache_flush)device->flush),
    };
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        text_copy(out->part[i], sizeof out->part[i], text[i]);
}

const char *comparability_part_name(int part)
{
    return parts[part].name;
}

bool comparability_is_of_card(int part)
{
    return parts[part].of_card;
}
