/* run_plan.c - expands the suites of a run into its plan, or its share of that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "case/case_name.h"
#include "run/runner_state.h"
#include "store/store_id.h"
#include "store/store_shard.h"
#include "suite/plan_cut.h"
#include "suite/plan_parts.h"

/* If two suites have the same group, its variants are measured once, together. */
static int append_plan(struct plan *plan, const struct plan *more)
{
    for (int i = 0; i < more->count; i++) {
        const struct group *group = &more->groups[i];
        struct group *same = plan_find(plan, &group->shape, group->temperature);
        int failed = same
                         ? plan_merge(same, group)
                         : grow_keep(&plan->groups, &plan->count, group, sizeof *group, "the plan");
        if (failed) return -1;
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
    return status;
}

int run_plan_read(struct runner *runner)
{
    for (int i = 0; i < runner->options->suite_count; i++) {
        if (suite_read(&runner->suite[i], runner->options->suites[i]) < 0) return -1;
        text_add(runner->run.suite, sizeof runner->run.suite, "+", "%s", runner->suite[i].name);
        runner->suite_count++;
    }
    return 0;
}

/* ----------------------------------------------------------------- share -- */

/* How long each group took before. Without a name of the job nothing says which runs were stored
 * before it began, and every process must find the same ones. */
static int read_costs(const struct runner *runner, int64_t *cost_us)
{
    const char *path = runner->options->times, *before = runner->began;
    struct group_past *past = NULL;
    struct store *store;
    for (int i = 0; i < runner->plan.count; i++)
        cost_us[i] = -1;
    if (!path || !runner->run.shard.group[0] || access(path, F_OK) != 0) return 0;
    if (store_open(&store, path, STORE_READ) < 0) return -1;
    past = calloc((size_t)runner->plan.count + 1, sizeof *past);
    int status = past ? 0 : assay_error("out of memory for the costs of groups");
    if (status == 0)
        status = store_group_past(store, &runner->run.shard, before[0] ? before : NULL,
                                  runner->child.device.simulated, &runner->plan, past);
    for (int i = 0; status == 0 && i < runner->plan.count; i++)
        cost_us[i] = past[i].cost_us;
    free(past);
    store_close(store);
    return status;
}

/* What was built in another way, or has other objects loaded, measures something else. */
static void hash_build(struct id_hash *hash)
{
    struct program_info program;
    const struct object *objects;
    int count = objects_loaded(&objects);
    provenance_program(&program);
    const char *const texts[] = {program.version,   program.commit, program.diff_hash,
                                 program.compiler,  program.flags,  program.nvcc,
                                 program.nvcc_flags};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        id_hash_text(hash, texts[i]);
    for (int i = 0; i < count; i++)
        id_hash_text(hash, objects[i].info.sha256);
}

static void hash_group(struct id_hash *hash, const struct group *group)
{
    for (int v = 0; v < group->variant_count; v++) {
        struct case_id id;
        char name[CASE_TEXT];
        group_case_id(group, v, &id);
        case_text(&id, name);
        id_hash_text(hash, name);
    }
}

/* Processes with the same one are of one build, and have divided one plan in the same way. */
static void name_cut(struct runner *runner, const int *share)
{
    struct id_hash hash;
    id_hash_begin(&hash);
    hash_build(&hash);
    for (int i = 0; i < runner->plan.count; i++) {
        hash_group(&hash, &runner->plan.groups[i]);
        id_hash_bytes(&hash, &share[i], sizeof share[i]);
    }
    id_hash_end(&hash, runner->run.shard.cut);
}

static int take_share(struct runner *runner)
{
    size_t count = (size_t)runner->plan.count + 1;
    struct shard *shard = &runner->run.shard;
    int64_t *cost_us = calloc(count, sizeof *cost_us);
    int *share = calloc(count, sizeof *share);
    int status = cost_us && share ? 0 : assay_error("out of memory for a share of the plan");
    if (status == 0) status = read_costs(runner, cost_us);
    if (status == 0) status = plan_cut(&runner->plan, shard->count, cost_us, share);
    if (status == 0) {
        name_cut(runner, share);
        plan_keep(&runner->plan, share, shard->index);
    }
    free(cost_us);
    free(share);
    return status;
}

/* ------------------------------------------------------------------ whole -- */

int run_plan_make(struct runner *runner)
{
    for (int i = 0; i < runner->suite_count; i++)
        if (plan_suite(runner, &runner->suite[i]) < 0) return -1;
    snprintf(runner->plan.suite, sizeof runner->plan.suite, "%s", runner->run.suite);
    if (runner->run.shard.count > 1 && take_share(runner) < 0) return -1;
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
