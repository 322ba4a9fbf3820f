/* run_plan.c - expands the suites of a run into its plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case_name.h"
#include "run/runner_state.h"
#include "suite/plan_parts.h"

/* If two suites have the same group, its variants are measured once, together. */
static int append_plan(struct plan *plan, const struct plan *more)
{
    size_t bytes = (size_t)(plan->count + more->count + 1) * sizeof *plan->groups;
    struct group *groups = realloc(plan->groups, bytes);
    if (groups == NULL) return assay_error("out of memory for the plan");
    plan->groups = groups;
    for (int i = 0; i < more->count; i++) {
        struct group *same = plan_find(plan, &more->groups[i].shape, more->groups[i].temperature);
        if (same == NULL)
            plan->groups[plan->count++] = more->groups[i];
        else if (plan_merge(same, &more->groups[i]) < 0)
            return -1;
    }
    return 0;
}

static int append_text(struct runner *runner, const char *text)
{
    size_t used = runner->suite_text ? strlen(runner->suite_text) : 0;
    char *all = realloc(runner->suite_text, used + strlen(text) + 2);
    if (all == NULL) return assay_error("out of memory for the suite");
    strcpy(all + used, text);
    runner->suite_text = all;
    return 0;
}

static int plan_suite(struct runner *runner, const struct suite *suite)
{
    struct plan plan;
    /* Ceilings are added once, for all suites (run_plan_make). */
    struct plan_options options = runner->options->plan;
    options.with_ceilings = false;
    int status = plan_make(&plan, suite, &runner->child.device, &options);
    if (status == 0) {
        status = append_plan(&runner->plan, &plan);
        plan_release(&plan);
    }
    if (status == 0) status = append_text(runner, suite->text);
    size_t used = strlen(runner->run.suite);
    snprintf(runner->run.suite + used, sizeof runner->run.suite - used, "%s%s", used ? "+" : "",
             suite->name);
    return status;
}

int run_plan_read(struct runner *runner)
{
    for (int i = 0; i < runner->options->suite_count; i++) {
        if (suite_read(&runner->suite[i], runner->options->suites[i]) < 0) return -1;
        runner->suite_count++;
    }
    return 0;
}

int run_plan_make(struct runner *runner)
{
    for (int i = 0; i < runner->suite_count; i++)
        if (plan_suite(runner, &runner->suite[i]) < 0) return -1;
    snprintf(runner->plan.suite, sizeof runner->plan.suite, "%s", runner->run.suite);
    /* The suite `ceilings` has them as its cases. */
    if (!runner->options->plan.with_ceilings || strcmp(runner->run.suite, "ceilings") == 0)
        return 0;
    return plan_add_own_ceilings(&runner->plan, &runner->child.device);
}

int run_plan_cases(const struct plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->count; i++)
        count += plan->groups[i].variant_count;
    return count;
}

void run_plan_print(const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        const struct group *group = &plan->groups[i];
        for (int v = 0; v < group->variant_count; v++) {
            struct case_id id;
            char name[CASE_TEXT];
            group_case_id(group, v, &id);
            case_text(&id, name);
            printf("%s%s%s%s\n", name, group->purpose == PURPOSE_CEILING ? "  (ceiling)" : "",
                   group->skip[v][0] ? "  skipped: " : "", group->skip[v]);
        }
        fputc('\n', stdout);
    }
    printf("%d groups, %d cases\n", plan->count, run_plan_cases(plan));
}
