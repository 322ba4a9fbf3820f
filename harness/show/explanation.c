#include "show/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "judge/compare.h"
#include "show/comparison_formats.h"
#include "show/view.h"

/* The case's profile in any launch: what is counted is the same in all of them. NULL: none. */
static const struct profile *profile_of(const struct stored_run *run, const struct case_id *id)
{
    for (int i = 0; i < run->case_count; i++)
        if (run->profiles[i] && case_id_order(&run->cases[i].result.id, id) == 0)
            return run->profiles[i];
    return NULL;
}

/* By records of the case's samples, where there are several kernels; else by its profile. */
static double gaps_of(const struct case_result *result, const struct profile *profile)
{
    if (result->kernels == 1) return 0;
    if (result->kernels > 1 && result->busy_ns > 0 && result->busy_ns <= result->time_ns)
        return result->time_ns - result->busy_ns;
    return profile ? profile->idle_ns : NAN;
}

static void add_counted(struct account_facts *facts, const struct profile *profile)
{
    const double *whole = profile->whole;
    double issue = profile_counter(profile, whole, COUNTER_ISSUE);
    double at_work = profile_counter(profile, whole, COUNTER_AT_WORK);
    facts->launches = profile->activities;
    if (profile->passes < 0) return;
    facts->bytes = profile_counter(profile, whole, COUNTER_DRAM_READ) +
                   profile_counter(profile, whole, COUNTER_DRAM_WRITE);
    facts->instructions = profile_counter(profile, whole, COUNTER_INSTRUCTIONS);
    facts->issue_share = issue / 100 * (isnan(at_work) ? 1 : at_work / 100);
    facts->memory_share = profile_counter(profile, whole, COUNTER_DRAM) / 100;
}

static struct account_facts facts_of(const struct view_row *row, const struct stored_run *run,
                                     const struct profile *profile)
{
    const struct case_result *result = &row->result;
    const struct launch_info *launch = stored_run_launch(run, row->stored->launch_id);
    struct account_facts facts = {.time_ns = result->time_ns,
                                  .launches = result->kernels >= 0 ? result->kernels : NAN,
                                  .start_ns = launch ? launch->device.kernel_floor_ns : NAN,
                                  .gaps_ns = gaps_of(result, profile),
                                  .sm_mhz = result->sm_mhz,
                                  .bytes = NAN,
                                  .instructions = NAN,
                                  .issue_share = NAN,
                                  .memory_share = NAN};
    if (profile) add_counted(&facts, profile);
    /* Not counted: its least bytes per second, as a share of the measured bandwidth. */
    if (isnan(facts.memory_share) && row->ceiling[0] && view_arithmetic(row->ceiling) < 0)
        facts.memory_share = row->ceiling_fraction;
    return facts;
}

static struct explained_wait wait_of(const struct profile *profile)
{
    struct explained_wait wait = {"", NAN};
    const char *what = profile ? profile_top_stall(profile, profile->whole, 0, &wait.cycles) : NULL;
    /* A simulated device counts none. */
    if (what && wait.cycles > 0) text_copy(wait.what, sizeof wait.what, what);
    return wait;
}

/* A copy has no counters. */
static bool has_kernel(const struct profile *profile)
{
    for (int i = 0; i < profile->kernel_count; i++)
        if (profile->kernels[i].activity == CUPTI_KERNEL) return true;
    return false;
}

static void explain(struct explained_case *one, const struct view_row *const row[2],
                    const struct stored_run run[2])
{
    one->id = row[0]->result.id;
    one->uncountable = true;
    for (int i = 0; i < 2; i++) {
        const struct profile *profile = profile_of(&run[i], &one->id);
        one->facts[i] = facts_of(row[i], &run[i], profile);
        one->lo_ns[i] = row[i]->result.lo_ns;
        one->hi_ns[i] = row[i]->result.hi_ns;
        one->wait[i] = wait_of(profile);
        if (!profile || has_kernel(profile)) one->uncountable = false;
    }
    one->account = account_make(&one->facts[0], &one->facts[1]);
}

static bool is_explained(const struct view_row *row)
{
    return row && status_has_time(row->result.status) && row->result.time_ns > 0;
}

static void add_cases(struct explanation *explanation, const struct view views[2],
                      const struct stored_run run[2], const char *pattern)
{
    for (int i = 0; i < views[0].count; i++) {
        const struct view_row *row[] = {&views[0].rows[i], NULL};
        if (!is_explained(row[0]) || !case_matches(pattern, &row[0]->result.id)) continue;
        row[1] = view_row_of(&views[1], &row[0]->result.id);
        if (is_explained(row[1])) explain(&explanation->cases[explanation->count++], row, run);
    }
}

/* Whether counters could tell more: the variant runs on a GPU, and a term lacks its facts. */
static bool lacks_counters(const struct explained_case *one)
{
    if (one->id.place != ASSAY_CUDA || one->uncountable) return false;
    for (int i = TERM_BYTES; i < ACCOUNT_TERMS; i++)
        if (isnan(one->account.term_ns[i])) return true;
    return false;
}

/* Each side by its own objects: by name where they are named alike. */
static void add_objects(struct explanation *explanation, const struct stored_run run[2])
{
    for (int i = 0; i < run[1].run.object_count; i++) {
        const char *name = run[1].run.objects[i].name;
        bool alike = i < run[0].run.object_count && strcmp(run[0].run.objects[i].name, name) == 0;
        text_add(explanation->next, sizeof explanation->next, " ", "--load %s",
                 alike ? name : "FILE.so");
    }
}

static void offer_counters(struct explanation *explanation, const struct stored_run run[2])
{
    char name[CASE_TEXT], suite[SUITE_WORD];
    const struct comparison_side *side = &explanation->side[1];
    if (!suite_word_is_there(side)) return;
    suite_word_of(side, suite);
    for (int i = 0; i < explanation->count; i++) {
        if (!lacks_counters(&explanation->cases[i])) continue;
        case_text(&explanation->cases[i].id, name);
        snprintf(explanation->next, sizeof explanation->next,
                 "assay profile %s --filter '%s' --counters " EXPLANATION_COUNTERS, suite, name);
        add_objects(explanation, run);
        return;
    }
}

int explanation_make(struct explanation *explanation, const struct stored_run run[2],
                     const char *pattern)
{
    struct view views[2];
    *explanation = (struct explanation){0};
    if (view_make(&views[0], &run[0]) != 0) return -1;
    if (view_make(&views[1], &run[1]) != 0) {
        view_release(&views[0]);
        return -1;
    }
    explanation->cases = calloc((size_t)views[0].count + 1, sizeof *explanation->cases);
    if (explanation->cases) add_cases(explanation, views, run, pattern);
    for (int i = 0; i < 2; i++) {
        comparison_side_of(&explanation->side[i], &run[i]);
        view_release(&views[i]);
    }
    offer_counters(explanation, run);
    if (run[0].launch_count > 0 && run[1].launch_count > 0)
        comparability_difference(&run[0].launches[0], &run[1].launches[0], explanation->difference,
                                 sizeof explanation->difference);
    return explanation->cases ? 0 : assay_error("out of memory for an explanation");
}

bool explanation_says(const struct explanation *explanation)
{
    for (int i = 0; i < explanation->count; i++)
        for (int term = 0; term < ACCOUNT_TERMS; term++)
            if (!isnan(explanation->cases[i].account.term_ns[term])) return true;
    return false;
}

void explanation_release(struct explanation *explanation)
{
    free(explanation->cases);
    *explanation = (struct explanation){0};
}
