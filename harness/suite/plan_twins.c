/* plan_twins.c - a plan in which each variant is measured beside its twins alone. */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "suite/plan_parts.h"

static void add_twins(struct group *group, const struct device_info *device)
{
    const struct assay_variant *of = group->variant[0];
    for (int twin = 0; twin < TWINS; twin++) {
        const struct assay_variant *one = twins_of(of, (enum twin)twin);
        if (one) group->variant[group->variant_count++] = one;
    }
    plan_skip(group, device);
    for (int i = 1; i < group->variant_count; i++) {
        const char *why = twins_obstacle(group->variant[i], &group->shape);
        if (why) text_copy(group->skip[i], sizeof group->skip[i], why);
    }
}

bool group_is_pair(const struct group *group)
{
    return group->variant_count > 1 && !group->skip[0][0] && !group->skip[1][0];
}

/* Variant number `index` of a group, with nothing beside it. */
static void split(struct group *to, const struct group *from, int index)
{
    *to = *from;
    to->variant_count = 1;
    to->variant[0] = from->variant[index];
    to->expect_wrong[0] = from->expect_wrong[index];
    to->baseline[0] = '\0';
}

int plan_split_twins(struct plan *plan, const struct device_info *device)
{
    int count = 0;
    for (int i = 0; i < plan->count; i++)
        count += plan->groups[i].variant_count;
    struct group *groups = malloc(((size_t)count + 1) * sizeof *groups);
    if (!groups) return assay_error("out of memory for a plan of %d groups", count);
    count = 0;
    for (int i = 0; i < plan->count; i++)
        for (int v = 0; v < plan->groups[i].variant_count; v++) {
            struct group *group = &groups[count++];
            split(group, &plan->groups[i], v);
            add_twins(group, device);
        }
    free(plan->groups);
    plan->groups = groups;
    plan->count = count;
    return 0;
}
