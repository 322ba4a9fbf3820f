/* plan.c - what a run will measure: the groups chosen from a suite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "case/case_name.h"
#include "case/ceiling.h"
#include "case/shape.h"
#include "suite/plan_parts.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"

WORDS(purpose, "case", "ceiling");

/* Sampling time of a ceiling that a run measures for itself: ceilings are long
 * and steady kernels, and a run must not wait for them. */
static const double BRIEF_S = 0.08;

static void apply_settings(struct plan *plan, const struct plan_options *options)
{
    for (int i = 0; i < plan->count; i++) {
        if (options->budget_s > 0) plan->groups[i].budget_s = options->budget_s;
        if (options->precision_pct > 0) plan->groups[i].precision_pct = options->precision_pct;
    }
}

/* --------------------------------------------------------------- filter -- */

void group_case_id(const struct group *group, int variant, struct case_id *id)
{
    case_id_of(id, group->variant[variant], &group->shape, group->temperature);
}

/* Number `from` becomes number `to`, at or before it. */
static void keep_variant(struct group *group, int to, int from)
{
    group->variant[to] = group->variant[from];
    group->expect_wrong[to] = group->expect_wrong[from];
    memmove(group->skip[to], group->skip[from], sizeof group->skip[to]);
}

static void filter_variants(struct group *group, const char *filter)
{
    int kept = 0;
    bool has_baseline = false;
    for (int i = 0; i < group->variant_count; i++) {
        struct case_id id;
        group_case_id(group, i, &id);
        if (!case_matches(filter, &id)) continue;
        has_baseline = has_baseline || !strcmp(group->baseline, group->variant[i]->name);
        keep_variant(group, kept++, i);
    }
    group->variant_count = kept;
    if (!has_baseline) group->baseline[0] = '\0';
}

/* Names of the plan's operations, each once; returns how many. */
static int operation_names(const struct plan *plan, const char **names, int max)
{
    int count = 0;
    for (int i = 0; i < plan->count; i++) {
        const char *name = plan->groups[i].shape.operation->name;
        int at = 0;
        while (at < count && strcmp(names[at], name))
            at++;
        if (at == count && count < max) names[count++] = name;
    }
    return count;
}

static bool matches_any(const struct group *group, const char *filter)
{
    struct case_id id;
    for (int i = 0; i < group->variant_count; i++) {
        group_case_id(group, i, &id);
        if (case_matches(filter, &id)) return true;
    }
    return false;
}

/* Whether the first word names cases of the plan: then what is behind it is the mistake. */
static bool explain_shape(const struct plan *plan, const char *filter, char *hint, size_t size)
{
    enum { MOST = 2 };
    char first[2 * ASSAY_MAX_NAME], heading[CASE_TEXT];
    struct case_id id;
    int found = 0;
    if (strchr(filter, ',') || text_copy(first, sizeof first, filter) != 0) return false;
    first[strcspn(first, " ")] = '\0';
    snprintf(hint, size, "%s is there with", first);
    for (int i = 0; i < plan->count; i++) {
        if (!matches_any(&plan->groups[i], first) || found++ >= MOST) continue;
        group_case_id(&plan->groups[i], 0, &id);
        case_group_text(&id, heading);
        text_add(hint, size, found > 1 ? ", " : " ", "%s", heading + strcspn(heading, " ") + 1);
    }
    if (found > MOST) text_add(hint, size, " ", "and %d more", found - MOST);
    return found > 0;
}

static bool find_near(const struct plan *plan, const char *filter, char near[2 * ASSAY_MAX_NAME])
{
    int all = 0, count = 0;
    for (int i = 0; i < plan->count; i++)
        all += plan->groups[i].variant_count;
    struct case_names *names = calloc((size_t)all + 1, sizeof *names);
    for (int i = 0; names && i < plan->count; i++)
        for (int v = 0; v < plan->groups[i].variant_count; v++)
            names[count++] = (struct case_names){plan->groups[i].shape.operation->name,
                                                 plan->groups[i].variant[v]->name};
    bool found = names && case_nearest(filter, names, count, near);
    free(names);
    return found;
}

static int refuse_filter(const struct plan *plan, const char *filter)
{
    char hint[512], near[2 * ASSAY_MAX_NAME];
    const char *names[64];
    bool is_near = find_near(plan, filter, near);
    if (!is_near) {
        int count = operation_names(plan, names, 64);
        snprintf(hint, sizeof hint, "a glob on operation/variant; operations here: ");
        for (int i = 0; i < count; i++)
            text_add(hint, sizeof hint, i ? ", " : "", "%s", names[i]);
    } else if (!explain_shape(plan, filter, hint, sizeof hint)) {
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    }
    return assay_error("nothing in suite '%s' matches the filter '%s' (%s)", plan->suite, filter,
                       hint);
}

static int filter_groups(struct plan *plan, const char *filter)
{
    int first = 0, kept = 0;
    while (first < plan->count && !matches_any(&plan->groups[first], filter))
        first++;
    if (first == plan->count) return refuse_filter(plan, filter);
    for (int i = first; i < plan->count; i++) {
        filter_variants(&plan->groups[i], filter);
        if (!plan->groups[i].variant_count) continue;
        if (kept != i) plan->groups[kept] = plan->groups[i];
        kept++;
    }
    plan->count = kept;
    return 0;
}

/* ------------------------------------------------------------- ceilings -- */

/* The names of ceilings that the plan's groups can be held against. */
struct wanted {
    int count;
    const char *name[4 * CEILING_MAX];
};

static bool is_wanted(const struct wanted *wanted, const char *name)
{
    for (int i = 0; i < wanted->count; i++)
        if (!strcmp(wanted->name[i], name)) return true;
    return false;
}

static bool runs(const struct group *group)
{
    for (int i = 0; i < group->variant_count; i++)
        if (!*group->skip[i]) return true;
    return false;
}

static struct wanted wanted_ceilings(const struct plan *plan, const struct device_info *device)
{
    struct wanted wanted = {0};
    for (int i = 0; i < plan->count; i++) {
        const struct group *group = &plan->groups[i];
        if (!runs(group)) continue;
        const char *names[CEILING_MAX];
        struct case_work work = case_work_of(&group->shape);
        int count = ceilings_needed(&work, group->temperature, device->cache_bytes, names);
        for (int j = 0; j < count && wanted.count < 4 * CEILING_MAX; j++)
            if (!is_wanted(&wanted, names[j])) wanted.name[wanted.count++] = names[j];
    }
    return wanted;
}

static const char *measured_ceiling(const struct group *group)
{
    const struct assay_operation *operation = group->shape.operation;
    if (!operation->ceiling) return NULL;
    return operation->ceiling(&group->shape, group->temperature);
}

/* A ceiling is a maximum: what cannot run here says nothing about it. */
static void drop_skipped(struct group *group)
{
    int kept = 0;
    for (int i = 0; i < group->variant_count; i++) {
        if (*group->skip[i]) continue;
        keep_variant(group, kept++, i);
    }
    group->variant_count = kept;
}

/* Leave in `found` what is wanted, not in `plan` already, and can run. */
static void keep_wanted(struct plan *found, const struct plan *plan, const struct wanted *wanted)
{
    int kept = 0;
    for (int i = 0; i < found->count; i++) {
        struct group *group = &found->groups[i];
        const char *name = measured_ceiling(group);
        if (!name || !is_wanted(wanted, name) || !runs(group)) continue;
        if (plan_find(plan, &group->shape, group->temperature)) continue;
        drop_skipped(group);
        group->purpose = PURPOSE_CEILING;
        group->budget_s = BRIEF_S;
        group->energy_s = 0;
        if (kept != i) found->groups[kept] = *group;
        kept++;
    }
    found->count = kept;
}

static int add_ceilings(struct plan *plan, const struct suite *ceilings,
                        const struct device_info *device)
{
    struct plan found = {0};
    struct wanted wanted = wanted_ceilings(plan, device);
    int failed = plan_expand(&found, ceilings, device);
    if (!failed) keep_wanted(&found, plan, &wanted);
    for (int i = 0; i < plan->count && !failed; i++)
        failed = grow_keep(&found.groups, &found.count, &plan->groups[i], sizeof *plan->groups,
                           "the groups of the plan");
    if (!failed) {
        free(plan->groups);
        plan->groups = found.groups;
        plan->count = found.count;
    } else {
        plan_release(&found);
    }
    return failed;
}

int plan_add_own_ceilings(struct plan *plan, const struct device_info *device)
{
    struct suite ceilings;
    if (suite_read(&ceilings, "ceilings")) {
        char why[512];
        snprintf(why, sizeof why, "%s", assay_last_error());
        return assay_error("%s; --no-ceilings does without", why);
    }
    int failed = add_ceilings(plan, &ceilings, device);
    suite_release(&ceilings);
    return failed;
}

/* ------------------------------------------------------------------ make -- */

/* Nothing is left of the suite: the line where the last hope went. */
static int explain_empty(const struct suite *suite, const struct device_info *device)
{
    const char *place = place_name((enum assay_place)device->place);
    for (int i = 0; i < suite->group_count; i++) {
        const struct suite_group *group = &suite->groups[i];
        const struct suite_key *chosen = suite_key_find(group, "variants");
        const struct suite_key *home = suite_key_find(group, "device");
        if (!chosen || (home && place_parse(home->value) != device->place)) continue;
        return suite_error(group->file, chosen->line,
                           "no variant on the device %s matches '%s': nothing is left to measure",
                           place, chosen->value);
    }
    return suite_error(suite->groups[0].file, suite->groups[0].line,
                       "nothing in the suite is for the device %s", place);
}

static int select_groups(struct plan *plan, const struct suite *suite,
                         const struct device_info *device, const struct plan_options *options)
{
    if (plan_expand(plan, suite, device)) return -1;
    if (!plan->count) return explain_empty(suite, device);
    if (options->filter && filter_groups(plan, options->filter)) return -1;
    apply_settings(plan, options);
    return options->with_ceilings ? plan_add_own_ceilings(plan, device) : 0;
}

int plan_make(struct plan *plan, const struct suite *suite, const struct device_info *device,
              const struct plan_options *options)
{
    *plan = (struct plan){0};
    text_copy(plan->suite, sizeof plan->suite, suite->name);
    if (!select_groups(plan, suite, device, options)) return 0;
    plan_release(plan);
    return -1;
}

void plan_release(struct plan *plan)
{
    free(plan->groups);
    *plan = (struct plan){0};
}
