/* plan_skip.c - why a variant of a group is not run. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "base/units.h"
#include "case/shape.h"
#include "suite/plan_parts.h"

/* Why no variant can: "" when some may. */
static void group_reason(const struct group *group, const struct device_info *device,
                         char reason[ASSAY_MAX_REASON])
{
    const struct assay_operation *operation = group->shape.operation;
    const char *why = operation->supports ? operation->supports(&group->shape) : NULL;
    reason[0] = '\0';
    if (why) {
        text_copy(reason, ASSAY_MAX_REASON, why);
        return;
    }
    double needed = shape_buffer_bytes(&group->shape) + 2.0 * GUARD_BYTES * ASSAY_MAX_BUFFERS;
    if (device->memory_bytes > 0 && !(needed <= (double)device->memory_bytes)) {
        char need[UNITS_MAX], have[UNITS_MAX];
        units_bytes(need, needed);
        units_bytes(have, (double)device->memory_bytes);
        snprintf(reason, ASSAY_MAX_REASON, "needs %s, the device has %s", need, have);
    }
}

static void variant_reason(const struct assay_variant *variant, const struct assay_shape *shape,
                           const struct device_info *device, char reason[ASSAY_MAX_REASON])
{
    const char *why = variant->supports ? variant->supports(shape) : NULL;
    reason[0] = '\0';
    if (variant->min_sm > device->compute_capability)
        snprintf(reason, ASSAY_MAX_REASON, "needs compute capability %d.%d, the device has %d.%d",
                 variant->min_sm / 10, variant->min_sm % 10, device->compute_capability / 10,
                 device->compute_capability % 10);
    else if (variant->max_sm > 0 && variant->max_sm < device->compute_capability)
        snprintf(reason, ASSAY_MAX_REASON,
                 "for compute capability %d.%d at most, the device has %d.%d", variant->max_sm / 10,
                 variant->max_sm % 10, device->compute_capability / 10,
                 device->compute_capability % 10);
    else if (why)
        text_copy(reason, ASSAY_MAX_REASON, why);
}

void plan_skip(struct group *group, const struct device_info *device)
{
    char all[ASSAY_MAX_REASON];
    group_reason(group, device, all);
    for (int i = 0; i < group->variant_count; i++)
        if (*all)
            text_copy(group->skip[i], sizeof group->skip[i], all);
        else
            variant_reason(group->variant[i], &group->shape, device, group->skip[i]);
}
