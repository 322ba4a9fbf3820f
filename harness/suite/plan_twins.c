/* plan_twins.c - a plan in which each variant is measured beside its twins alone. */
#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "suite/plan_parts.h"

/* Which code is loaded first, and where it then lies, follows from the order, which so must not be
 * that of the sides. */
static void add_twins(struct group *group, const struct device_info *device, struct rng *rng)
{
    const struct assay_variant *of = group->variant[0];
    int order[TWINS + 1], count = 0;
    for (int i = 0; i <= TWINS; i++)
        order[i] = i;
    rng_shuffle(rng, order, TWINS + 1);
    for (int i = 0; i <= TWINS; i++) {
        const struct assay_variant *one = order[i] < TWINS ? twins_of(of, (enum twin)order[i]) : of;
        if (one) group->variant[count++] = one;
    }
    for (int i = 1; i < count; i++)
        group->expect_wrong[i] = group->expect_wrong[0];
    group->variant_count = count;
    plan_skip(group, device);
    for (int i = 0; i < count; i++) {
        const char *why = twins_obstacle(group->variant[i], &group->shape);
        if (why) text_copy(group->skip[i], sizeof group->skip[i], why);
    }
}

bool group_is_pair(const struct group *group)
{
    bool has_base = false, has_candidate = false;
    for (int i = 0; i < group->variant_count; i++) {
        char plain[ASSAY_MAX_NAME];
        int twin = twin_split(group->variant[i]->name, plain);
        if (group->skip[i][0]) continue;
        has_base |= twin == TWIN_BASE;
        has_candidate |= twin < 0;
    }
    return has_base && has_candidate;
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

int plan_split_twins(struct plan *plan, const struct device_info *device, uint64_t seed)
{
    struct rng rng;
    int count = 0;
    rng_seed(&rng, seed);
    for (int i = 0; i < plan->count; i++)
        count += plan->groups[i].variant_count;
    struct group *groups = malloc(((size_t)count + 1) * sizeof *groups);
    if (!groups) return assay_error("out of memory for a plan of %d groups", count);
    count = 0;
    for (int i = 0; i < plan->count; i++)
        for (int v = 0; v < plan->groups[i].variant_count; v++) {
            struct group *group = &groups[count++];
            split(group, &plan->groups[i], v);
            add_twins(group, device, &rng);
        }
    free(plan->groups);
    plan->groups = groups;
    plan->count = count;
    return 0;
}
