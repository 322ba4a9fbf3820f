#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "measure/renew.h"
#include "measure/steps.h"

enum {
    REDRAW_STREAM = 0x61667465, /* of the seed: the new inputs */
    LEFT_MIB = 1024,            /* see may_move */
    UNKNOWN_MIB = 1024,         /* the largest second set where free memory is unknown */
};

/* A setup is repeated if it takes no more than this share of the variant's budget. */
static const double SETUP_SHARE = 0.1;

/* A second set must leave its own size and LEFT_MIB free, for the workspaces of its variants. */
static bool may_move(const struct measure_context *context)
{
    int64_t bytes = buffers_bytes(&context->buffers);
    int64_t left = context->ops->free_bytes(context->device);
    if (left < 0) return bytes <= (int64_t)UNKNOWN_MIB << 20;
    return left >= 2 * bytes + ((int64_t)LEFT_MIB << 20);
}

/* The buffers on which variants are set up again: a second set with the same inputs, or the first
 * set if there is no memory for it. NULL: the device is broken. */
static struct buffers *make_set(struct measure_context *context)
{
    struct buffers *moved = &context->moved;
    char unused[ASSAY_MAX_REASON];
    /* Inputs that somebody changed in a timed block must not be copied. Who did is not known here;
     * whoever does it again is found by the checks that follow. */
    if (buffers_intact(&context->buffers, unused, sizeof unused) < 0) return NULL;
    if (may_move(context) && buffers_init_moved(moved, &context->buffers) == 0) return moved;
    buffers_release(moved);
    assay_clear_error();
    return &context->buffers;
}

/* Whether the variant is set up again. One that is apart always is, after the inputs have been
 * drawn for the last time: it may prepare any of them in setup, because it has no answer that it
 * could prepare. */
static bool restarts(const struct measurement *measurement, const struct measure_context *context)
{
    if (measurement->variant->apart) return true;
    return !measurement->costly && measurement->setup_s <= SETUP_SHARE * context->request->budget_s;
}

/* Twins have the same buffers: all are set up again where one would be. What the first setup of
 * them takes longer it may have loaded a library in. */
static bool one_restarts(const struct measure_context *context, int index)
{
    const struct measurement *measurements = context->measurements;
    char own[ASSAY_MAX_NAME], other[ASSAY_MAX_NAME];
    twin_split(measurements[index].variant->name, own);
    for (int i = 0; i < context->request->count; i++) {
        twin_split(measurements[i].variant->name, other);
        bool is_one = strcmp(own, other) == 0 && measurements[i].phase != MEASUREMENT_OVER;
        if (is_one && restarts(&measurements[i], context)) return true;
    }
    return false;
}

/* If the second setup chose another algorithm, the note of the result names both. */
static void add_note(struct measurement *measurement)
{
    char *note = measurement->result->note;
    if (strcmp(note, measurement->call.note) == 0) return;
    text_add(note, sizeof measurement->result->note, ", then ", "%s", measurement->call.note);
}

static int set_up_again(struct measurement *measurement, struct measure_context *context)
{
    int status = step_set_up(measurement, context);
    if (status == 0 && measurement->phase != MEASUREMENT_OVER) add_note(measurement);
    return status;
}

static int restart(struct measurement *measurement, struct measure_context *context,
                   struct buffers *set)
{
    measurement_teardown(measurement, context);
    if (context->ops->synchronize(context->device) < 0) return -1;
    measurement_use(measurement, set);
    if (measurement->variant->apart) return 0;
    int status = set_up_again(measurement, context);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    status = step_some_launches(measurement, context, 1, 2);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    return step_intact(measurement, context);
}

static int check_renewed(struct measurement *measurement, struct measure_context *context)
{
    int status = measurement->set_up ? 0 : set_up_again(measurement, context);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    if (witness_put_earlier(context, measurement->buffers) < 0) return -1;
    return step_checked_launches(measurement, context);
}

static bool all_constant(const struct buffers *buffers)
{
    for (int b = 0; b < buffers->count; b++)
        if (buffers->spec[b].role == ASSAY_IN && !buffers->spec[b].constant) return false;
    return true;
}

/* Draw the inputs of the sets in use, release one that is not, and compute what is expected. */
static int redraw(struct measure_context *context)
{
    const struct measurement *measurements = context->measurements;
    uint64_t seed = rng_mix(context->request->seed, REDRAW_STREAM);
    struct buffers *const sets[] = {&context->buffers, &context->moved};
    for (int s = 0; s < 2; s++) {
        bool used = false;
        for (int i = 0; i < context->request->count; i++)
            used |= measurements[i].phase != MEASUREMENT_OVER && measurements[i].buffers == sets[s];
        if (used && buffers_redraw(sets[s], seed) < 0) return -1;
        if (!used) buffers_release(sets[s]);
    }
    const struct buffers *set = context->moved.count > 0 ? &context->moved : &context->buffers;
    if (set->count == 0 || all_constant(set)) return 0; /* the same outputs are expected */
    board_announce(context->board, -1, STEP_PREPARE);
    witness_set_aside(context, set);
    return verifier_renew(&context->verifier, set);
}

static int renew(struct measure_context *context)
{
    bool again[PLAN_MAX_VARIANTS];
    struct buffers *set = make_set(context);
    if (set == NULL) return -1;
    for (int i = 0; i < context->request->count; i++)
        again[i] = one_restarts(context, i);
    for (int i = 0; i < context->request->count; i++) {
        struct measurement *measurement = &context->measurements[i];
        context->culprit = i;
        if (measurement->phase == MEASUREMENT_OVER)
            measurement_teardown(measurement, context);
        else if (again[i] && restart(measurement, context, set) < 0)
            return -1;
    }
    context->culprit = -1;
    if (context->ops->synchronize(context->device) < 0) return -1;
    if (redraw(context) < 0) return -1;
    for (int i = 0; i < context->request->count; i++) {
        if (context->measurements[i].phase == MEASUREMENT_OVER) continue;
        context->culprit = i;
        if (check_renewed(&context->measurements[i], context) < 0) return -1;
    }
    witness_drop_earlier(context);
    return 0;
}

int renew_inputs(struct measure_context *context)
{
    bool any = false;
    for (int i = 0; i < context->request->count; i++)
        any |= context->measurements[i].phase != MEASUREMENT_OVER;
    if (!any || context->buffers.count == 0) return 0;
    board_announce(context->board, -1, STEP_PREPARE);
    context->culprit = -1;
    context->renewing = true;
    int status = renew(context);
    context->renewing = false;
    return status;
}
