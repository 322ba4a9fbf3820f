/* run_twins.c - the other build whose variants a run measures beside those of the same names. */
#include <limits.h>
#include <stdio.h>

#include "judge/twin.h"
#include "run/runner_state.h"

int run_twins_load(struct runner *runner)
{
    static const char *const names[TWINS] = {"base.so", "null.so"};
    char path[TWINS][PATH_MAX + 16];
    const char *copy[TWINS], *from = runner->options->twin;
    if (!from) return 0;
    if (temp_folder_make(&runner->twins, "twins") != 0) return -1;
    for (int twin = 0; twin < TWINS; twin++) {
        snprintf(path[twin], sizeof path[twin], "%s/%s", runner->twins.path, names[twin]);
        if (temp_folder_copy(path[twin], from) != 0) return -1;
        copy[twin] = path[twin];
    }
    return objects_load_twins(from, copy);
}

int run_twins_plan(struct runner *runner)
{
    struct plan *plan = &runner->plan;
    double asked = runner->options->twin_floor;
    int pairs = 0;
    if (!runner->options->twin) return 0;
    if (plan_add_twins(plan, &runner->child.device, runner->options->seed) != 0) return -1;
    for (int i = 0; i < plan->count; i++)
        pairs += group_pairs(&plan->groups[i]);
    for (int i = 0; i < plan->count; i++) {
        struct group *group = &plan->groups[i];
        double own = group->threshold_pct / 100, usual = own > 0 ? own : TWIN_THRESHOLD;
        if (group_pairs(group) == 0) continue;
        group->twins.floor = asked > 0 ? asked : usual;
        group->twins.alpha = twin_alpha_of(pairs);
    }
    return 0;
}
