#include <stdio.h>

#include "case/shape.h"
#include "run/floor.h"

void floor_learn(struct ceilings *ceilings, const struct group *group,
                 const struct case_result *result)
{
    const char *name = shape_ceiling(&group->shape, group->temperature);
    if (name) ceilings_learn(ceilings, name, result, NOISY_SPREAD);
}

void floor_judge(const struct ceilings *ceilings, const struct device_info *device,
                 const struct group *group, struct case_result *result)
{
    char name[ASSAY_MAX_NAME];
    if (shape_ceiling(&group->shape, group->temperature)) return;
    if (device->place != ASSAY_CUDA || device->simulated || !status_has_time(result->status))
        return;
    double least_ns =
        ceiling_least_ns(ceilings, &result->work, (enum assay_temperature)result->id.temperature,
                         device->cache_bytes, name);
    if (device->kernel_floor_ns > least_ns) {
        least_ns = device->kernel_floor_ns;
        snprintf(name, sizeof name, "an empty kernel");
    }
    if (!(result->time_ns * FLOOR_MARGIN < least_ns)) return;
    result->status = STATUS_WRONG;
    snprintf(result->reason, sizeof result->reason,
             "took %.4g us, and %s needs at least %.4g us for this work", result->time_ns / 1e3,
             name, least_ns / 1e3);
}
