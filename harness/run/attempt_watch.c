/*
 * attempt_watch.c - one attempt at a group: tells the worker what to measure, receives its
 * messages, and kills it when a step takes too long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "run/attempt.h"

enum { TICK_MS = 200 };

static int send_group(struct runner *runner, const struct attempt *attempt)
{
    const struct group *group = attempt->group;
    struct wire_group *message = calloc(1, sizeof *message);
    if (message == NULL) return assay_error("out of memory for a group");
    snprintf(message->operation, sizeof message->operation, "%s", group->shape.operation->name);
    memcpy(message->value, group->shape.value, sizeof message->value);
    message->temperature = (int32_t)group->temperature;
    message->budget_s = group->budget_s;
    message->precision_pct = group->precision_pct;
    message->energy_s = group->energy_s;
    snprintf(message->baseline, sizeof message->baseline, "%s", group->baseline);
    message->seed = rng_mix(runner->launch.seed, (uint64_t)(group - runner->plan.groups));
    message->check_only = runner->options->check_only;
    message->profile = runner->options->profile;
    if (runner->options->counters)
        snprintf(message->counters, sizeof message->counters, "%s", runner->options->counters);
    else
        snprintf(message->counters, sizeof message->counters, "default");
    message->launch = runner->launch.number;
    message->launch_seed = runner->launch.seed;
    message->variant_count = attempt->count;
    for (int i = 0; i < attempt->count; i++)
        snprintf(message->variant[i], ASSAY_MAX_NAME, "%s",
                 group->variant[attempt->index[i]]->name);
    int status = wire_send(runner->child.socket, WIRE_GROUP, message, sizeof *message);
    free(message);
    return status;
}

/* Blame the variant and step that the status board shows. */
static enum attempt_end blame_board(struct runner *runner, const struct attempt *attempt,
                                    enum case_status status, const char *how,
                                    struct culprit *culprit)
{
    int at = atomic_load(&runner->child.board->variant);
    enum board_step step = (enum board_step)atomic_load(&runner->child.board->step);
    culprit->at = at >= 0 && at < attempt->count ? at : -1;
    culprit->status = status;
    snprintf(culprit->reason, sizeof culprit->reason, "%s: %s",
             step < STEPS ? step_name(step) : "unknown step", how);
    return ATTEMPT_CULPRIT;
}

static enum attempt_end blame_death(struct runner *runner, const struct attempt *attempt,
                                    struct culprit *culprit)
{
    char how[ASSAY_MAX_REASON];
    enum attempt_end end = blame_board(runner, attempt, STATUS_CRASHED, "", culprit);
    child_reap(&runner->child, how, sizeof how);
    size_t used = strlen(culprit->reason);
    snprintf(culprit->reason + used, sizeof culprit->reason - used, "%s", how);
    return end;
}

/* How long a step may take. */
static double deadline_s(const struct runner *runner, const struct group *group)
{
    double limit_s = runner->child.device.step_limit_s;
    return limit_s > 0 && limit_s < group->timeout_s ? limit_s : group->timeout_s;
}

static enum attempt_end blame_timeout(struct runner *runner, const struct attempt *attempt,
                                      struct culprit *culprit)
{
    char how[ASSAY_MAX_REASON], text[ASSAY_MAX_REASON];
    snprintf(text, sizeof text, "no answer within %g s", deadline_s(runner, attempt->group));
    enum attempt_end end = blame_board(runner, attempt, STATUS_TIMEOUT, text, culprit);
    child_reap(&runner->child, how, sizeof how);
    return end;
}

static int take_profile(struct attempt *attempt, const void *data, size_t bytes)
{
    const struct wire_profile *message = data;
    if (bytes != sizeof *message || message->index < 0 || message->index >= attempt->count)
        return assay_error("a malformed profile from the worker");
    struct profile *copy = malloc(sizeof *copy);
    if (copy == NULL) return assay_error("out of memory for a profile");
    *copy = message->profile;
    free(attempt->profiles[message->index]);
    attempt->profiles[message->index] = copy;
    return 0;
}

static int take_case(struct attempt *attempt, const void *data, size_t bytes)
{
    struct wire_case message;
    if (wire_unpack_case(data, bytes, &message) < 0) return -1;
    if (message.index < 0 || message.index >= attempt->count) {
        samples_release(&message.result.samples);
        return assay_error("a malformed case from the worker");
    }
    attempt->results[message.index] = message.result;
    attempt->received[message.index] = true;
    return 0;
}

static int take_broken(const struct attempt *attempt, const void *data, size_t bytes,
                       struct culprit *culprit)
{
    const struct wire_broken *message = data;
    if (bytes != sizeof *message || message->index >= attempt->count)
        return assay_error("a malformed last message from the worker");
    culprit->at = message->index;
    culprit->status = STATUS_CRASHED;
    snprintf(culprit->reason, sizeof culprit->reason, "%s", message->reason);
    return 0;
}

/* -1 with assay_error when the message is malformed. */
static int take_message(struct attempt *attempt, enum wire_type type, const void *data,
                        size_t bytes, struct culprit *culprit, bool *ended)
{
    *ended = false;
    switch (type) {
    case WIRE_CASE:
        return take_case(attempt, data, bytes);
    case WIRE_PROFILE:
        return take_profile(attempt, data, bytes);
    case WIRE_BROKEN:
        *ended = true;
        return take_broken(attempt, data, bytes, culprit);
    case WIRE_DONE:
        *ended = true;
        return 0;
    default:
        return assay_error("an unexpected message from the worker");
    }
}

/* Read one message, which is ready. */
static enum attempt_end read_message(struct runner *runner, struct attempt *attempt,
                                     struct culprit *culprit, bool *ended)
{
    enum wire_type type;
    void *data;
    size_t bytes;
    *ended = true;
    if (wire_receive(runner->child.socket, &type, &data, &bytes) < 0)
        return blame_death(runner, attempt, culprit);
    int status = take_message(attempt, type, data, bytes, culprit, ended);
    free(data);
    if (status < 0) {
        *ended = true;
        return ATTEMPT_FAILED;
    }
    if (type != WIRE_BROKEN) return ATTEMPT_DONE;
    char how[ASSAY_MAX_REASON];
    child_reap(&runner->child, how, sizeof how);
    return ATTEMPT_CULPRIT;
}

static void draw_step(struct runner *runner, const struct attempt *attempt)
{
    char text[2 * ASSAY_MAX_NAME];
    int at = atomic_load(&runner->child.board->variant);
    uint32_t step = atomic_load(&runner->child.board->step);
    if (step >= STEPS) return;
    snprintf(text, sizeof text, "%s%s%s",
             at >= 0 && at < attempt->count ? attempt->group->variant[attempt->index[at]]->name
                                            : "",
             at >= 0 ? ": " : "", step_name((enum board_step)step));
    progress_step(&runner->progress, text);
}

/* Receive messages until the group is complete, with a deadline for every step that the
 * status board shows. */
enum attempt_end attempt_watch(struct runner *runner, struct attempt *attempt,
                               struct culprit *culprit)
{
    if (send_group(runner, attempt) < 0) return blame_death(runner, attempt, culprit);
    uint32_t sequence = 0;
    double since_s = clock_s();
    for (;;) {
        enum child_wait got = child_wait(&runner->child, TICK_MS);
        if (got == CHILD_STOPPED) return ATTEMPT_STOPPED;
        if (got == CHILD_GONE) return blame_death(runner, attempt, culprit);
        if (got == CHILD_MESSAGE) {
            bool ended;
            enum attempt_end end = read_message(runner, attempt, culprit, &ended);
            if (ended) return end;
            continue;
        }
        draw_step(runner, attempt);
        uint32_t now = atomic_load(&runner->child.board->sequence);
        if (now != sequence) {
            sequence = now;
            since_s = clock_s();
        } else if (clock_s() - since_s > deadline_s(runner, attempt->group)) {
            return blame_timeout(runner, attempt, culprit);
        }
    }
}
