/* plan_twins.c - the twins of a plan's variants. */

#include "base/rng.h"
#include "base/text.h"
#include "suite/plan_parts.h"

/* Fisher-Yates over the variants of a group, before they have reasons to be skipped. */
static void shuffle(struct group *group, struct rng *rng)
{
    for (int i = group->variant_count - 1; i > 0; i--) {
        int j = (int)rng_below(rng, (uint64_t)i + 1);
        const struct assay_variant *variant = group->variant[i];
        bool wrong = group->expect_wrong[i];
        group->variant[i] = group->variant[j];
        group->expect_wrong[i] = group->expect_wrong[j];
        group->variant[j] = variant;
        group->expect_wrong[j] = wrong;
    }
}

static int add_twins(struct group *group)
{
    int own = group->variant_count;
    for (int i = 0; i < own; i++)
        for (int twin = 0; twin < TWINS; twin++) {
            const struct assay_variant *one = twins_of(group->variant[i], (enum twin)twin);
            if (!one) continue;
            if (group->variant_count == PLAN_MAX_VARIANTS)
                return assay_error("more than %d variants in a group, twins counted",
                                   PLAN_MAX_VARIANTS);
            group->expect_wrong[group->variant_count] = group->expect_wrong[i];
            group->variant[group->variant_count++] = one;
        }
    return 0;
}

static void skip_obstacles(struct group *group)
{
    for (int i = 0; i < group->variant_count; i++) {
        const char *why = twins_obstacle(group->variant[i], &group->shape);
        if (why) text_copy(group->skip[i], sizeof group->skip[i], why);
    }
}

/* Which code is loaded first, and so where it lies, must not follow from the order of the sides. */
int plan_add_twins(struct plan *plan, const struct device_info *device, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (int i = 0; i < plan->count; i++) {
        struct group *group = &plan->groups[i];
        if (add_twins(group) != 0) return -1;
        shuffle(group, &rng);
        plan_skip(group, device);
        skip_obstacles(group);
    }
    return 0;
}

/* Of those that can run. */
static bool has(const struct group *group, const struct assay_variant *variant)
{
    for (int i = 0; variant && i < group->variant_count; i++)
        if (group->variant[i] == variant) return group->skip[i][0] == '\0';
    return false;
}

int group_pairs(const struct group *group)
{
    int pairs = 0;
    for (int i = 0; i < group->variant_count; i++)
        pairs += group->skip[i][0] == '\0' && has(group, twins_of(group->variant[i], TWIN_BASE));
    return pairs;
}
