/*
 * attempt_watch.c - one attempt at a group: tells the worker what to measure, receives its
 * messages, and kills it when a step takes too long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "run/runner_state.h"

enum { TICK_MS = 200 };

static int send_group(struct runner *runner, const struct attempt *attempt)
{
    const struct group *group = attempt->group;
    const struct runner_options *options = runner->options;
    struct wire_group *message = calloc(1, sizeof *message);
    if (message == NULL) return assay_error("out of memory for a group");
    message->profile = options->profile;
    message->request = (struct measure_request){
        .shape = group->shape,
        .temperature = group->temperature,
        .budget_s = group->budget_s,
        .precision_pct = group->precision_pct,
        .energy_s = group->energy_s,
        .seed = rng_mix(runner->launch.seed, (uint64_t)(group - runner->plan.groups)),
        .check_only = options->check_only,
        .launch = runner->launch.number,
        .launch_seed = runner->launch.seed,
        .count = attempt->count,
    };
    snprintf(message->operation, ASSAY_MAX_NAME, "%s", group->shape.operation->name);
    snprintf(message->request.baseline, ASSAY_MAX_NAME, "%s", group->baseline);
    snprintf(message->request.counters, PROFILE_MAX_LIST, "%s",
             options->counters ? options->counters : "default");
    for (int i = 0; i < attempt->count; i++)
        snprintf(message->variant[i], ASSAY_MAX_NAME, "%s",
                 group->variant[attempt->index[i]]->name);
    int status = wire_send(runner->child.socket, WIRE_GROUP, message, sizeof *message);
    free(message);
    return status;
}

/* Blame the variant and step that the status board shows; `how` says what happened then. */
static enum attempt_end blame_board(struct runner *runner, const struct attempt *attempt,
                                    enum case_status status, const char *how,
                                    struct culprit *culprit)
{
    int at = atomic_load(&runner->child.board->variant);
    enum board_step step = (enum board_step)atomic_load(&runner->child.board->step);
    char end[ASSAY_MAX_REASON];
    child_reap(&runner->child, end, sizeof end);
    culprit->at = at >= 0 && at < attempt->count ? at : -1;
    culprit->status = status;
    snprintf(culprit->reason, sizeof culprit->reason, "%s: %s",
             step < STEPS ? step_name(step) : "unknown step", how ? how : end);
    return ATTEMPT_CULPRIT;
}

static enum attempt_end blame_death(struct runner *runner, const struct attempt *attempt,
                                    struct culprit *culprit)
{
    return blame_board(runner, attempt, STATUS_CRASHED, NULL, culprit);
}

/* How long a step may take. */
static double deadline_s(const struct runner *runner, const struct group *group)
{
    double limit_s = runner->child.device.step_limit_s;
    return limit_s > 0 && limit_s < group->timeout_s ? limit_s : group->timeout_s;
}

static int take_case(struct attempt *attempt, const void *data, size_t bytes)
{
    struct wire_case message;
    if (wire_unpack_case(data, bytes, &message) < 0) return -1;
    if (message.index < 0 || message.index >= attempt->count) {
        wire_case_release(&message);
        return assay_error("a malformed case from the worker");
    }
    attempt->cases[message.index] = message;
    attempt->received[message.index] = true;
    return 0;
}

static enum attempt_end failed(const char *why)
{
    assay_error("%s", why);
    return ATTEMPT_FAILED;
}

static enum attempt_end take_broken(struct runner *runner, const struct attempt *attempt,
                                    const void *data, size_t bytes, struct culprit *culprit)
{
    const struct measure_outcome *message = data;
    if (bytes != sizeof *message || message->culprit >= attempt->count)
        return failed("a malformed last message from the worker");
    culprit->at = message->culprit;
    culprit->status = STATUS_CRASHED;
    snprintf(culprit->reason, sizeof culprit->reason, "%s", message->reason);
    child_reap(&runner->child, NULL, 0);
    return ATTEMPT_CULPRIT;
}

/* Read one message, which is ready. */
static enum attempt_end read_message(struct runner *runner, struct attempt *attempt,
                                     struct culprit *culprit)
{
    enum wire_type type;
    void *data;
    size_t bytes;
    enum attempt_end end = ATTEMPT_GOES_ON;
    if (wire_receive(runner->child.socket, &type, &data, &bytes) < 0)
        return blame_death(runner, attempt, culprit);
    if (type == WIRE_DONE)
        end = ATTEMPT_DONE;
    else if (type == WIRE_BROKEN)
        end = take_broken(runner, attempt, data, bytes, culprit);
    else if (type == WIRE_CASE)
        end = take_case(attempt, data, bytes) < 0 ? ATTEMPT_FAILED : ATTEMPT_GOES_ON;
    else
        end = failed("an unexpected message from the worker");
    free(data);
    return end;
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
            enum attempt_end end = read_message(runner, attempt, culprit);
            if (end != ATTEMPT_GOES_ON) return end;
            continue;
        }
        draw_step(runner, attempt);
        uint32_t now = atomic_load(&runner->child.board->sequence);
        if (now != sequence) {
            sequence = now;
            since_s = clock_s();
        } else if (clock_s() - since_s > deadline_s(runner, attempt->group)) {
            char how[ASSAY_MAX_REASON];
            snprintf(how, sizeof how, "no answer within %g s", deadline_s(runner, attempt->group));
            return blame_board(runner, attempt, STATUS_TIMEOUT, how, culprit);
        }
    }
}
