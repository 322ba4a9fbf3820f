/* gate_filter.c - the cases that the launches of a second stage measure: those that are still to be
 * judged, and what their values are made of. */
#include <stdio.h>
#include <string.h>

#include "case/case_name.h"
#include "gate/gate_run_state.h"

/* What names a case in a filter; false: nothing does. */
typedef bool (*name_of)(const struct case_id *id, char out[CASE_TEXT]);

/* The case alone. A comma would part its name, and the others are not themselves in a pattern. */
static bool case_name(const struct case_id *id, char out[CASE_TEXT])
{
    case_text(id, out);
    return !strpbrk(out, ",*?[\\");
}

/* Its variant at all shapes, which is all that the filters of older builds can say. */
static bool variant_name(const struct case_id *id, char out[CASE_TEXT])
{
    snprintf(out, CASE_TEXT, "%s/%s", id->operation, id->variant);
    return true;
}

static bool has_name(const char *filter, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = filter; (at = strstr(at, name)); at++)
        if ((at == filter || at[-1] == ',') && (at[length] == ',' || !at[length])) return true;
    return false;
}

/* false: it cannot be named, or there is no room. */
static bool add(char filter[GATE_FILTER], const struct case_id *id, name_of name_it)
{
    char name[CASE_TEXT];
    if (!name_it(id, name)) return false;
    if (has_name(filter, name)) return true;
    size_t used = strlen(filter);
    if (used + strlen(name) + 2 > GATE_FILTER) return false;
    snprintf(filter + used, GATE_FILTER - used, "%s%s", used ? "," : "", name);
    return true;
}

/* The baselines of its group, where ratios to them are compared. */
static bool add_baselines(const struct gate_run *run, char filter[GATE_FILTER],
                          const struct case_id *id, name_of name_it)
{
    const struct timings *base = &run->pool[ARM_BASE];
    for (int i = 0; run->options->speedup && i < base->count; i++)
        if (base->rows[i].is_baseline && case_id_same_group(&base->rows[i].id, id) &&
            !add(filter, &base->rows[i].id, name_it))
            return false;
    return true;
}

static bool add_wanted(const struct gate_run *run, char filter[GATE_FILTER], name_of name_it)
{
    filter[0] = '\0';
    for (int i = 0; i < run->comparison->count; i++) {
        const struct case_id *id = &run->comparison->rows[i].id;
        if (!gate_is_wanted(run, &run->cases[i])) continue;
        if (!add(filter, id, name_it) || !add_baselines(run, filter, id, name_it)) return false;
    }
    return filter[0] != '\0';
}

bool gate_both_plan(const struct gate_run *run, const char *filter)
{
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++) {
        struct program_call call = gate_call(run, arm, run->screen_rounds, filter);
        call.counters = NULL; /* what counts has no plan */
        if (!program_plans(&call, NULL)) return false;
    }
    return true;
}

/* An older build takes a shape for a part of the variant's name, and plans nothing. Both sides
 * have to measure the same. */
const char *gate_wanted_filter(const struct gate_run *run, char filter[GATE_FILTER])
{
    if (add_wanted(run, filter, case_name) && gate_both_plan(run, filter)) return filter;
    fputs("assay: not all of these can be named by shape, by both programs: their variants are "
          "measured at every shape\n",
          stderr);
    if (add_wanted(run, filter, variant_name)) return filter;
    return run->filter;
}

bool gate_filter_add(char filter[GATE_FILTER], const struct case_id *id)
{
    return add(filter, id, case_name);
}

bool gate_open_filter(const struct gate_run *run, char filter[GATE_FILTER])
{
    filter[0] = '\0';
    for (int i = 0; i < run->plan.count; i++)
        if (run->plan.cases[i].proof != PROOF_HOLDS &&
            !add(filter, &run->plan.cases[i].id, case_name))
            return false;
    return true;
}
