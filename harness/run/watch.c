#include "run/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "run/interrupt.h"

enum { TICK_MS = 200 };

/* Fingerprints are compared with those of a program that may plan other groups before this one. */
static uint64_t group_seed(const struct runner *runner, const struct group *group)
{
    if (runner->options->fingerprints) return runner->launch.seed;
    return rng_mix(runner->launch.seed, (uint64_t)(group - runner->plan.groups));
}

static int send_group(struct runner *runner, const struct attempt *attempt)
{
    const struct group *group = attempt->group;
    const struct runner_options *options = runner->options;
    struct wire_group *message = calloc(1, sizeof *message);
    if (message == NULL) return assay_error("out of memory for a group");
    message->profile = options->profile;
    message->threads = runner->threads;
    message->fingerprint = options->fingerprints != NULL;
    message->request = (struct measure_request){
        .shape = group->shape,
        .temperature = group->temperature,
        .budget_s = group->budget_s,
        .precision_pct = group->precision_pct,
        .energy_s = group->energy_s,
        .twins = group->twins,
        .seed = group_seed(runner, group),
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

static double deadline_s(const struct runner *runner, const struct group *group)
{
    double limit_s = runner->child.device.step_limit_s;
    return limit_s > 0 && limit_s < group->timeout_s ? limit_s : group->timeout_s;
}

/* The message may be of a variant that was done before: the board tells the one that is now. */
static enum attempt_end blame_garbage(struct runner *runner, const struct attempt *attempt,
                                      struct culprit *culprit)
{
    blame_board(runner, attempt, STATUS_CRASHED, "its process sent what is no message", culprit);
    return attempt->count > 1 ? ATTEMPT_GARBLED : ATTEMPT_CULPRIT;
}

static bool is_sound(const struct attempt *attempt, const struct wire_case *message)
{
    const struct case_result *result = &message->result;
    return message->index >= 0 && message->index < attempt->count &&
           !attempt->received[message->index] && result->status >= 0 && result->status < STATUSES &&
           result->metric_count >= 0 && result->metric_count <= ASSAY_MAX_METRICS;
}

static int take_case(struct attempt *attempt, const void *data, size_t bytes)
{
    struct wire_case message;
    if (wire_unpack_case(data, bytes, &message) < 0) return -1;
    if (!is_sound(attempt, &message)) {
        wire_case_release(&message);
        return -1;
    }
    attempt->cases[message.index] = message;
    attempt->received[message.index] = true;
    return 0;
}

static int take_broken(const struct attempt *attempt, const void *data, size_t bytes,
                       struct culprit *culprit)
{
    const struct measure_outcome *message = data;
    if (bytes != sizeof *message || message->culprit >= attempt->count) return -1;
    culprit->at = message->culprit;
    culprit->status = STATUS_CRASHED;
    snprintf(culprit->reason, sizeof culprit->reason, "%.*s", ASSAY_MAX_REASON - 1,
             message->reason);
    return 0;
}

static enum attempt_end take_message(struct runner *runner, struct attempt *attempt,
                                     enum wire_type type, const void *data, size_t bytes,
                                     struct culprit *culprit)
{
    if (type == WIRE_DONE) return ATTEMPT_DONE;
    if (type == WIRE_CASE && take_case(attempt, data, bytes) == 0) return ATTEMPT_GOES_ON;
    if (type == WIRE_BROKEN && take_broken(attempt, data, bytes, culprit) == 0) {
        child_reap(&runner->child, NULL, 0);
        return ATTEMPT_CULPRIT;
    }
    return blame_garbage(runner, attempt, culprit);
}

/* Read one message, which is there. */
static enum attempt_end read_message(struct runner *runner, struct attempt *attempt,
                                     struct culprit *culprit)
{
    enum wire_type type;
    void *data;
    size_t bytes;
    wire_inbox_take(&runner->child.inbox, &type, &data, &bytes);
    enum attempt_end end = take_message(runner, attempt, type, data, bytes, culprit);
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

enum attempt_end watch(struct runner *runner, struct attempt *attempt, struct culprit *culprit)
{
    double stopped_s = interrupt_stopped_s();
    if (send_group(runner, attempt) < 0) return blame_death(runner, attempt, culprit);
    uint32_t sequence = 0;
    double since_s = clock_s();
    for (;;) {
        enum child_wait got = child_wait(&runner->child, TICK_MS);
        if (got == CHILD_STOPPED) return ATTEMPT_STOPPED;
        if (interrupt_stopped_s() != stopped_s) {
            child_reap(&runner->child, NULL, 0);
            return ATTEMPT_AGAIN;
        }
        if (got == CHILD_GONE) return blame_death(runner, attempt, culprit);
        if (got == CHILD_GARBLED) return blame_garbage(runner, attempt, culprit);
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
