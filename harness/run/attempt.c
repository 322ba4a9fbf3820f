/*
 * attempt.c - measures one group through a worker. A variant that crashes the worker costs
 * only its own row: the others are measured again without it, by a new worker
 * (watch.h watches it).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "case/case_name.h"
#include "case/shape.h"
#include "run/interrupt.h"
#include "run/floor.h"
#include "run/watch.h"

/* --------------------------------------------------------------- storing -- */

/* A result without figures, only with a status and reason. */
static void outcome_only(struct case_result *result, const struct group *group, int index,
                         enum case_status status, const char *reason)
{
    result_init(result);
    group_case_id(group, index, &result->id);
    result->work = shape_work(&group->shape);
    result->status = status;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

static void tell(struct runner *runner, const struct case_result *result)
{
    char name[CASE_TEXT];
    case_text(&result->id, name);
    progress_case(&runner->progress, name, result->status, result->reason);
}

/* Told once it is stored: what a full disk took must not look as if it were there. */
static int keep(struct runner *runner, const struct group *group, const struct case_result *result,
                const struct timespec *begun)
{
    if (store_cases(runner->store, runner->launch.id, group, result, 1, begun) < 0) return -1;
    tell(runner, result);
    return 0;
}

static int keep_outcome(struct runner *runner, const struct attempt *attempt, int index,
                        enum case_status status, const char *reason)
{
    struct case_result result;
    outcome_only(&result, attempt->group, index, status, reason);
    return keep(runner, attempt->group, &result, &attempt->begun);
}

/* ------------------------------------------------------------- measuring -- */

enum attempt_end ensure_child(struct runner *runner, bool use_events)
{
    if (runner->child.pid > 0 && runner->child_uses_events == use_events) return ATTEMPT_DONE;
    if (runner->child.pid > 0) child_quit(&runner->child, NULL);
    runner->child_uses_events = use_events;
    /* A new worker opens the device that the first one found. */
    const char *found = runner->launch.device.spec;
    struct device_options options = {.spec = found[0] ? found : runner->options->device,
                                     .pick = runner->pick,
                                     .use_events = use_events,
                                     .trace = runner->options->fingerprints != NULL,
                                     .flush = runner->options->flush};
    if (child_start(&runner->child, &options) == 0) return ATTEMPT_DONE;
    return interrupt_signal() != 0 ? ATTEMPT_STOPPED : ATTEMPT_FAILED;
}

/* A worker that has read counters is not used for timing: the next group gets a new one. */
static void leave_child(struct runner *runner)
{
    struct device_state state;
    if (runner->child.pid <= 0 || runner->child.socket < 0) return;
    state = runner->child.state;
    child_quit(&runner->child, &state);
    runner->child.state = state;
}

/* Whether the worker must not load CUPTI: if all variants are timed by the host clock,
 * recording would add half a microsecond to every launch and contribute nothing. */
static bool wants_events(const struct runner *runner, const struct attempt *attempt)
{
    if (runner->options->use_events) return true;
    if (runner->options->profile || runner->options->fingerprints)
        return false; /* these need the records */
    if (runner->launch.device.place != ASSAY_CUDA) return false;
    for (int i = 0; i < attempt->count; i++)
        if (attempt->group->variant[attempt->index[i]]->clock != ASSAY_CLOCK_WALL) return false;
    return true;
}

static void tell_all(struct runner *runner, const struct attempt *attempt)
{
    for (int i = 0; i < attempt->count; i++)
        if (attempt->received[i])
            tell(runner, &attempt->cases[i].result);
        else
            progress_case(&runner->progress, attempt->group->variant[attempt->index[i]]->name, -1,
                          "the worker did not report it");
}

/* Store all results in one transaction: rows measured together share a baseline and its
 * rounds, so a resumed launch must find all of them or none. A case that the worker did not
 * report gets no row and counts as missing. */
static int keep_all(struct runner *runner, const struct attempt *attempt)
{
    struct case_result *reported = malloc(((size_t)attempt->count + 1) * sizeof *reported);
    int count = 0;
    if (reported == NULL) return assay_error("out of memory for results");
    for (int i = 0; i < attempt->count; i++) {
        if (attempt->received[i]) {
            struct case_result *result = &attempt->cases[i].result;
            floor_judge(runner->known, &runner->launch.device, attempt->group, result);
            reported[count++] = *result;
        }
    }
    for (int i = 0; i < count; i++)
        floor_learn(runner->known, attempt->group, &reported[i]);
    int status = store_cases(runner->store, runner->launch.id, attempt->group, reported, count,
                             &attempt->begun);
    if (status == 0) tell_all(runner, attempt);
    free(reported);
    for (int i = 0; i < attempt->count && status == 0; i++)
        if (attempt->cases[i].profile)
            status = store_profile(runner->store, runner->launch.id, &attempt->cases[i].result.id,
                                   attempt->cases[i].profile);
    for (int i = 0; i < attempt->count && status == 0; i++)
        if (attempt->cases[i].print)
            status = fingerprint_write(runner->prints.stream, attempt->cases[i].print);
    return status;
}

static void drop_cases(struct attempt *attempt)
{
    for (int i = 0; i < attempt->count; i++)
        wire_case_release(&attempt->cases[i]);
    memset(attempt->received, 0, sizeof attempt->received);
}

/* Store the culprit's row and remove it from the attempt; if no variant was running, every
 * case of the group gets the outcome. */
static int settle_culprit(struct runner *runner, struct attempt *attempt,
                          const struct culprit *culprit)
{
    int left = 0;
    for (int i = 0; i < attempt->count; i++) {
        int index = attempt->index[i];
        if (culprit->at >= 0 && culprit->at != i)
            attempt->index[left++] = index;
        else if (keep_outcome(runner, attempt, index, culprit->status, culprit->reason) < 0)
            return -1;
    }
    attempt->count = left;
    return 0;
}

/* No worker lives long enough to measure: this costs the group and not the run. */
static enum attempt_end blame_opening(struct culprit *culprit)
{
    culprit->status = STATUS_CRASHED;
    snprintf(culprit->reason, sizeof culprit->reason, "%s", assay_last_error());
    return ATTEMPT_CULPRIT;
}

/* Measure each variant by itself until one garbles its messages: *culprit is that one, or stays
 * as it is where none does. What is measured here is not kept, as it has no baseline beside it. */
static enum attempt_end find_garbler(struct runner *runner, struct attempt *attempt,
                                     struct culprit *culprit)
{
    for (int i = 0; i < attempt->count; i++) {
        struct attempt one = {.group = attempt->group,
                              .count = 1,
                              .index = {attempt->index[i]},
                              .cases = attempt->cases};
        struct culprit found = {.at = -1};
        enum attempt_end end = ensure_child(runner, wants_events(runner, &one));
        if (end == ATTEMPT_DONE) end = watch(runner, &one, &found);
        drop_cases(&one);
        if (end == ATTEMPT_CULPRIT) {
            *culprit = found;
            culprit->at = i;
        }
        if (end != ATTEMPT_DONE) return end;
    }
    return ATTEMPT_CULPRIT;
}

static enum attempt_end measure(struct runner *runner, struct attempt *attempt)
{
    while (attempt->count > 0) {
        struct culprit culprit = {.at = -1};
        enum attempt_end end = ensure_child(runner, wants_events(runner, attempt));
        if (end == ATTEMPT_FAILED && runner->child.died)
            end = blame_opening(&culprit);
        else if (end == ATTEMPT_DONE)
            end = watch(runner, attempt, &culprit);
        if (end == ATTEMPT_DONE) return keep_all(runner, attempt) < 0 ? ATTEMPT_FAILED : end;
        drop_cases(attempt);
        if (end == ATTEMPT_GARBLED) end = find_garbler(runner, attempt, &culprit);
        if (end == ATTEMPT_STOPPED || end == ATTEMPT_FAILED) return end;
        if (end == ATTEMPT_AGAIN) continue;
        if (settle_culprit(runner, attempt, &culprit) < 0) return ATTEMPT_FAILED;
    }
    return ATTEMPT_DONE;
}

/* Skipped variants are stored at once, variants that a resumed launch already has are left
 * out, the others are to be measured. */
static int begin_attempt(struct runner *runner, const struct group *group, struct attempt *attempt)
{
    memset(attempt, 0, sizeof *attempt);
    attempt->group = group;
    clock_gettime(CLOCK_REALTIME, &attempt->begun);
    for (int i = 0; i < group->variant_count; i++) {
        struct case_result result;
        bool has = false;
        outcome_only(&result, group, i, STATUS_SKIPPED, group->skip[i]);
        if (runner->resuming &&
            store_has_case(runner->store, runner->launch.id, &result.id, &has) < 0)
            return -1;
        if (has) continue;
        if (group->skip[i][0] == '\0')
            attempt->index[attempt->count++] = i;
        else if (keep(runner, group, &result, NULL) < 0)
            return -1;
    }
    attempt->cases = calloc((size_t)attempt->count + 1, sizeof *attempt->cases);
    return attempt->cases ? 0 : assay_error("out of memory for results");
}

enum attempt_end attempt_group(struct runner *runner, const struct group *group)
{
    struct attempt attempt;
    struct case_id first;
    char heading[CASE_TEXT];
    double start = clock_s();
    group_case_id(group, 0, &first);
    case_group_text(&first, heading);
    progress_group(&runner->progress, heading);
    if (begin_attempt(runner, group, &attempt) < 0) return ATTEMPT_FAILED;
    enum attempt_end end = measure(runner, &attempt);
    drop_cases(&attempt);
    free(attempt.cases);
    if (runner->options->profile && !runner->options->check_only && end == ATTEMPT_DONE)
        leave_child(runner);
    const char *instead = end == ATTEMPT_STOPPED                   ? "interrupted"
                          : runner->resuming && attempt.count == 0 ? "measured before"
                                                                   : "";
    if (end != ATTEMPT_FAILED) progress_group_end(&runner->progress, instead, clock_s() - start);
    return end;
}
