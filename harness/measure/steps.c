#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/rng.h"
#include "measure/steps.h"

enum {
    MEMORY_LEFT_MIB = 256,      /* a setup that leaves less has exhausted the device's memory */
    SINGLE_STREAM = 0x73696e67, /* of the seed, plus the number of the measurement */
};

double step_now_s(const struct measure_context *context)
{
    return context->ops->now_s(context->device);
}

void step_announce(const struct measure_context *context, const struct measurement *measurement,
                   enum board_step step)
{
    board_announce(context->board, measurement->index, step);
}

/* --------------------------------------------------------------- failures -- */

static void end_with(struct measurement *measurement, enum case_status status, const char *step,
                     const char *reason)
{
    measurement->phase = MEASUREMENT_OVER;
    measurement->result->status = status;
    snprintf(measurement->result->reason, sizeof measurement->result->reason, "%s%s%s",
             step ? step : "", step ? ": " : "", reason);
}

static bool memory_is_short(const struct measure_context *context)
{
    int64_t left = context->ops->free_bytes(context->device);
    return left >= 0 && left < (int64_t)MEMORY_LEFT_MIB << 20;
}

/* -1 when the device is lost too, or has no memory left for the other variants. */
int step_failed(struct measurement *measurement, struct measure_context *context,
                enum board_step step)
{
    const char *why = assay_last_error();
    end_with(measurement, STATUS_CRASHED, step_name(step), why[0] ? why : "failed, saying nothing");
    measurement_teardown(measurement, context);
    if (context->ops->synchronize(context->device) < 0) return -1;
    return memory_is_short(context) ? assay_error("no device memory is left") : 0;
}

/* The variant's setup said that the machine lacks something it needs. */
static int skip(struct measurement *measurement, struct measure_context *context)
{
    end_with(measurement, STATUS_SKIPPED, NULL, assay_last_error());
    measurement_teardown(measurement, context);
    return context->ops->synchronize(context->device);
}

void step_wrong(struct measurement *measurement, const struct measure_context *context,
                const char *reason)
{
    end_with(measurement, STATUS_WRONG, context->renewing ? "with other inputs" : NULL, reason);
}

int step_intact(struct measurement *measurement, struct measure_context *context)
{
    char outside[ASSAY_MAX_REASON] = "";
    int intact = buffers_intact(measurement->buffers, outside, sizeof outside);
    if (intact < 0) return -1;
    if (!intact) step_wrong(measurement, context, outside);
    return 0;
}

/* ------------------------------------------------------------------- setup -- */

/* 0, -1, or ASSAY_SKIP. */
static int set_up(struct measurement *measurement, struct measure_context *context)
{
    const struct assay_variant *variant = measurement->variant;
    measurement->set_up = true;
    if (variant->setup == NULL) return 0;
    int64_t before = context->ops->free_bytes(context->device);
    int status = variant->setup(&measurement->call);
    if (status) return status;
    if (context->ops->synchronize(context->device) < 0) return -1;
    int64_t after = context->ops->free_bytes(context->device);
    if (memory_is_short(context) && before - after > after)
        return assay_error("exhausts the device's memory: took %lld MiB, left %lld MiB",
                           (long long)((before - after) >> 20), (long long)(after >> 20));
    return 0;
}

int step_set_up(struct measurement *measurement, struct measure_context *context)
{
    step_announce(context, measurement, STEP_SETUP);
    assay_clear_error();
    double start = step_now_s(context);
    int status = set_up(measurement, context);
    measurement->setup_s = step_now_s(context) - start;
    if (status == ASSAY_SKIP) return skip(measurement, context);
    return status < 0 ? step_failed(measurement, context, STEP_SETUP) : 0;
}

/* ---------------------------------------------------------------- launches -- */

int step_launch(struct measurement *measurement, struct measure_context *context,
                enum board_step step, int times)
{
    step_announce(context, measurement, step);
    double start = step_now_s(context);
    for (int i = 0; i < times; i++)
        if (measurement->variant->launch(&measurement->call) < 0)
            return step_failed(measurement, context, step);
    if (context->ops->synchronize(context->device) < 0)
        return step_failed(measurement, context, step);
    measurement->launch_s = step_now_s(context) - start;
    return 0;
}

/* The outputs end the measurement if they are wrong. -1 when that could not be found out. */
static int check_outputs(struct measurement *measurement, struct measure_context *context)
{
    struct case_result *result = measurement->result;
    struct check_result found;
    context->verifier.buffers = measurement->buffers;
    if (verifier_check(&context->verifier, measurement->variant, &measurement->call, &found) < 0)
        return -1;
    if (found.reason[0]) step_wrong(measurement, context, found.reason);
    bool judged = !measurement->variant->apart && context->verifier.expected;
    bool measured = judged && context->request->shape.operation->match == NULL;
    result->outputs = context->verifier.outputs;
    result->checked = judged ? context->verifier.checked : 0;
    result->near_share = judged ? found.near_share : NAN;
    result->max_abs_error = measured ? fmax(found.max_abs_error, result->max_abs_error) : NAN;
    result->max_rel_error = measured ? fmax(found.max_rel_error, result->max_rel_error) : NAN;
    return found.reason[0] ? 0 : witness_hear(context, measurement);
}

/* Outputs that have the checksum of outputs that passed, with the same inputs, are not compared
 * again: most variants are deterministic, and comparing takes time. They were written again, since
 * the poison in between was another. */
static int check(struct measurement *measurement, struct measure_context *context)
{
    uint64_t sum, inputs = measurement->buffers->input_seed;
    if (buffers_checksum(measurement->buffers, &sum) < 0) return -1;
    bool known = measurement->passed && measurement->passed_inputs == inputs &&
                 measurement->passed_sum == sum;
    char plain[ASSAY_MAX_NAME];
    /* A second copy of code that is checked beside it. */
    known |= twin_split(measurement->variant->name, plain) == TWIN_NULL;
    /* Its own check looks at more than the outputs, and step_control needs what it leaves. */
    known &= measurement->variant->check == NULL;
    if (!known && check_outputs(measurement, context) < 0) return -1;
    if (step_intact(measurement, context) < 0) return -1;
    uint64_t later;
    if (buffers_checksum(measurement->buffers, &later) < 0) return -1;
    if (later != sum && measurement->variant->check == NULL)
        step_wrong(measurement, context, "wrote to its outputs after its launch had ended");
    measurement->passed = measurement->phase != MEASUREMENT_OVER;
    measurement->passed_inputs = inputs;
    measurement->passed_sum = sum;
    return 0;
}

int step_check(struct measurement *measurement, struct measure_context *context)
{
    step_announce(context, measurement, STEP_CHECK);
    return check(measurement, context) < 0 ? step_failed(measurement, context, STEP_CHECK) : 0;
}

int step_control(struct measurement *measurement, struct measure_context *context)
{
    struct check_result found;
    /* Of no output every check is right. */
    if (measurement->variant->check == NULL || context->verifier.outputs == 0) return 0;
    step_announce(context, measurement, STEP_CHECK);
    if (buffers_poison(measurement->buffers) < 0 ||
        verifier_check(&context->verifier, measurement->variant, &measurement->call, &found) < 0)
        return step_failed(measurement, context, STEP_CHECK);
    if (found.reason[0] == '\0')
        step_wrong(measurement, context, "passes its own check without a launch");
    return 0;
}

static int launch_and_check(struct measurement *measurement, struct measure_context *context,
                            enum board_step step)
{
    int status = step_launch(measurement, context, step, 1);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    return step_check(measurement, context);
}

int step_checked_launch(struct measurement *measurement, struct measure_context *context,
                        enum board_step step)
{
    if (buffers_poison(measurement->buffers) < 0) return -1;
    return launch_and_check(measurement, context, step);
}

int step_some_launches(struct measurement *measurement, struct measure_context *context, int least,
                       int most)
{
    uint64_t seed = rng_mix(context->request->seed, SINGLE_STREAM + (uint64_t)measurement->index);
    uint64_t more = rng_mix(seed, (uint64_t)measurement->rounds) % (uint64_t)(most - least + 1);
    return step_launch(measurement, context, STEP_CHECK, least + (int)more);
}

int step_checked_launches(struct measurement *measurement, struct measure_context *context)
{
    if (buffers_poison_part(measurement->buffers) < 0) return -1;
    int status = launch_and_check(measurement, context, STEP_CHECK);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER || measurement->costly) return status;
    return step_checked_launch(measurement, context, STEP_CHECK);
}
