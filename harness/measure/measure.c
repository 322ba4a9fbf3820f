#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/stats.h"
#include "device/counter_sets.h"
#include "device/nvtx.h"
#include "measure/fingerprint_pass.h"
#include "measure/measurement.h"
#include "measure/renew.h"
#include "measure/turns.h"

/* Streams of the group's seed. */
enum { ROUND_STREAM = 0x726f756e64, RENEWAL_STREAM = 0x72656e65 };

/* ------------------------------------------------------------- beginning -- */

static int context_init(struct measure_context *context)
{
    const struct measure_request *request = context->request;
    board_announce(context->board, -1, STEP_PREPARE);
    if (buffers_init(&context->buffers, context->ops, context->device, &request->shape,
                     request->seed) < 0)
        return -1;
    board_announce(context->board, -1, STEP_PREPARE);
    if (!request->prints && verifier_init(&context->verifier, &context->buffers) < 0) return -1;
    context->ops->state(context->device, &context->state);
    return 0;
}

static void context_release(struct measure_context *context)
{
    witness_release(context);
    verifier_release(&context->verifier);
    buffers_release(&context->buffers);
    buffers_release(&context->moved);
}

/* Whether something says of the variant's answer whether it is right, or it has none to give. */
static bool is_judged(const struct measure_context *context, const struct assay_variant *variant)
{
    const struct assay_operation *operation = context->request->shape.operation;
    return variant->apart || variant->check || variant->model || operation->reference ||
           context->buffers.count == 0;
}

static void measurement_begin(struct measurement *measurement, struct measure_context *context,
                              int index, struct case_result *result)
{
    measurement->index = index;
    measurement->variant = context->request->variant[index];
    measurement->result = result;
    measurement->temperature_max_c = NAN; /* fmax leaves it out */
    measurement->shape = context->request->shape;
    measurement->call.shape = &measurement->shape;
    measurement->call.variant = twins_original(measurement->variant);
    measurement->call.temperature = context->request->temperature;
    if (context->ops->stream) measurement->call.stream = context->ops->stream(context->device);
    measurement_use(measurement, &context->buffers);
    /* Until something fails. */
    result->status = is_judged(context, measurement->variant) ? STATUS_OK : STATUS_UNCHECKED;
}

/* ---------------------------------------------------------------- rounds -- */

bool measure_settled(double *values, int count, int rounds, double precision_pct, double spent_s,
                     double budget_s)
{
    bool is_long = spent_s >= MEASURE_LONG_S && spent_s >= MEASURE_LONG_BUDGETS * budget_s;
    if (count < (is_long ? MEASURE_FEW_SAMPLES : MEASURE_MIN_SAMPLES)) return false;
    if (rounds < MEASURE_MIN_ROUNDS) return false;
    if (spent_s >= budget_s || count >= MEASURE_MAX_SAMPLES) return true;
    struct interval median = stats_median_interval(values, count, 0.95);
    return median.hi - median.lo <= 2 * precision_pct / 100 * median.mid;
}

static bool is_settled(struct measurement *measurement, const struct measure_request *request)
{
    if (measurement->phase != MEASUREMENT_RUNNING) return true;
    const struct samples *samples = &measurement->samples;
    if (samples->count < measurement->next_decision) return false;
    double *values = malloc(((size_t)samples->count + 1) * sizeof *values);
    if (values == NULL) return true;
    int n = samples_unmarked(samples->time_ns, samples->mark, samples->count, values);
    bool settled = measure_settled(values, n, measurement->rounds, request->precision_pct,
                                   measurement->spent_s, request->budget_s);
    free(values);
    /* A device that marks most samples must not keep the group running for ever. */
    bool hopeless = measurement->spent_s > 2 * request->budget_s && 2 * n < samples->count &&
                    samples->count >= 2 * MEASURE_MIN_SAMPLES;
    measurement->next_decision = samples->count + samples->count / 10;
    return settled || hopeless;
}

/* Whether the group's ratios may be taken against it. */
static bool may_be_base(const struct assay_variant *variant)
{
    return variant->kind == ASSAY_BASELINE || variant->kind == ASSAY_BOUND;
}

/* In every round each variant takes one block, in shuffled order. Before one of the first,
 * which the seed chooses, the inputs are renewed (renew.h). A settled baseline goes on as long as
 * another variant is not settled, so that each ratio has a pair in each round. Stops when all are
 * settled; *last is the number of the next round. */
static int run_rounds(struct measure_context *context, int *last)
{
    const struct measure_request *request = context->request;
    struct rng rng;
    rng_seed(&rng, rng_mix(request->seed, ROUND_STREAM));
    int order[PLAN_MAX_VARIANTS];
    for (int i = 0; i < request->count; i++)
        order[i] = i;

    int renewal = 1 + (int)(rng_mix(request->seed, RENEWAL_STREAM) % (MEASURE_MIN_ROUNDS - 1));
    bool unsettled = true;
    int round = 0;
    for (; unsettled && round < UINT16_MAX - 1; round++) {
        unsettled = false;
        if (round == renewal && renew_inputs(context) < 0) return -1;
        rng_shuffle(&rng, order, request->count);
        for (int i = 0; i < request->count; i++) {
            struct measurement *measurement = &context->measurements[order[i]];
            bool goes_on =
                measurement->phase == MEASUREMENT_RUNNING ||
                (measurement->phase == MEASUREMENT_SETTLED && may_be_base(measurement->variant) &&
                 measurement->samples.count < MEASURE_MAX_SAMPLES);
            if (!goes_on) continue;
            context->culprit = measurement->index;
            if (measurement_block(measurement, context, round) < 0) return -1;
            if (measurement->phase == MEASUREMENT_RUNNING && is_settled(measurement, request))
                measurement->phase = MEASUREMENT_SETTLED;
        }
        for (int i = 0; i < request->count; i++)
            unsettled |= context->measurements[i].phase == MEASUREMENT_RUNNING;
    }
    *last = round;
    return 0;
}

/* ----------------------------------------------------------------- ending -- */

static int find_ok(const struct measure_context *context, const char *name)
{
    const struct measurement *measurements = context->measurements;
    for (int i = 0; i < context->request->count; i++)
        if (status_has_time(measurements[i].result->status) &&
            strcmp(measurements[i].variant->name, name) == 0)
            return i;
    return -1;
}

/* Of bounds, or of others: the first of the operation's list that is ok, else any. -1: none. */
static int find_base(const struct measure_context *context, bool is_bound)
{
    const struct measurement *measurements = context->measurements;
    const char *const *names = context->request->shape.operation->baselines;
    for (int i = 0; names && names[i]; i++) {
        int found = find_ok(context, names[i]);
        if (found >= 0 && (measurements[found].variant->kind == ASSAY_BOUND) == is_bound)
            return found;
    }
    for (int i = 0; i < context->request->count; i++)
        if (measurements[i].variant->kind == (is_bound ? ASSAY_BOUND : ASSAY_BASELINE) &&
            status_has_time(measurements[i].result->status))
            return i;
    return -1;
}

/* The suite's choice, else what a user would take instead, else a bound. */
static void choose_baseline(struct measure_context *context)
{
    const char *asked = context->request->baseline;
    int chosen = asked[0] ? find_ok(context, asked) : -1;
    if (chosen < 0) chosen = find_base(context, false);
    if (chosen < 0) chosen = find_base(context, true);
    if (chosen >= 0) context->measurements[chosen].result->is_baseline = true;
}

static int prepare_all(struct measure_context *context)
{
    for (int i = 0; i < context->request->count; i++) {
        context->culprit = i;
        nvtx_push(NVTX_CASE, context->measurements[i].variant->name);
        int status = measurement_prepare(&context->measurements[i], context);
        nvtx_pop();
        if (status < 0) return -1;
    }
    return 0;
}

/* Inputs that somebody changed in a timed block would be blamed on the first that is checked. Who
 * does it in the last blocks as well is found there. */
static int restore_inputs(struct measure_context *context)
{
    char unused[ASSAY_MAX_REASON];
    if (buffers_intact(&context->buffers, unused, sizeof unused) < 0) return -1;
    return buffers_intact(&context->moved, unused, sizeof unused) < 0 ? -1 : 0;
}

static int time_all(struct measure_context *context)
{
    int last = 0;
    board_announce(context->board, -1, STEP_PREPARE);
    context->culprit = -1;
    if (context->ops->warm_up && context->ops->warm_up(context->device) < 0) return -1;
    bool in_turns = context->request->twins.floor > 0;
    if ((in_turns ? turns_run(context, &last) : run_rounds(context, &last)) < 0) return -1;
    context->culprit = -1;
    if (restore_inputs(context) < 0) return -1;
    for (int i = 0; i < context->request->count; i++) {
        if (context->measurements[i].phase == MEASUREMENT_OVER) continue;
        context->culprit = i;
        if (measurement_finish(&context->measurements[i], context, last) < 0) return -1;
    }
    return 0;
}

/* After all timing, so that no side effect of counting can change a time. */
static int profile_all(struct measure_context *context)
{
    const struct measure_request *request = context->request;
    for (int i = 0; i < request->count; i++) {
        struct profile *profile = &request->profiles[i];
        profile_init(profile);
        if (context->measurements[i].phase == MEASUREMENT_OVER) continue;
        context->culprit = i;
        profile->counter_count = counter_list(request->counters, profile->counter);
        if (profile->counter_count < 0) return -1;
        if (measurement_profile(&context->measurements[i], context, profile) < 0) return -1;
    }
    return 0;
}

static int run_group(struct measure_context *context)
{
    if (context->request->prints) return fingerprint_group(context);
    if (prepare_all(context) < 0) return -1;
    bool timed = !context->request->check_only;
    if ((timed ? time_all(context) : renew_inputs(context)) < 0) return -1;
    if (context->request->profiles && profile_all(context) < 0) return -1;
    for (int i = 0; i < context->request->count; i++) {
        struct measurement *measurement = &context->measurements[i];
        context->culprit = i;
        measurement_teardown(measurement, context);
        if (context->ops->synchronize(context->device) < 0) return -1;
        if (!timed || measurement->phase == MEASUREMENT_OVER) continue;
        if (measurement_summarise(measurement, context) < 0) return -1;
    }
    return 0;
}

int measure_group(const struct device_ops *ops, struct device *device, struct board *board,
                  const struct measure_request *request, struct case_result *results,
                  struct measure_outcome *outcome)
{
    struct measurement *measurements = calloc((size_t)request->count + 1, sizeof *measurements);
    struct measure_context context = {.ops = ops,
                                      .device = device,
                                      .board = board,
                                      .request = request,
                                      .measurements = measurements,
                                      .culprit = -1};
    *outcome = (struct measure_outcome){.culprit = -1};
    if (measurements == NULL) return assay_error("out of host memory for a group");
    for (int i = 0; i < request->count; i++) {
        case_id_of(&results[i].id, request->variant[i], &request->shape, request->temperature);
        results[i].work = twins_work(request->variant[i], &request->shape);
    }

    char heading[RESULT_MAX_SHAPE];
    shape_text(&request->shape, heading, sizeof heading);
    nvtx_push(NVTX_GROUP, heading);
    int status = context_init(&context);
    if (status == 0) {
        for (int i = 0; i < request->count; i++)
            measurement_begin(&measurements[i], &context, i, &results[i]);
        if (run_group(&context) < 0) {
            outcome->culprit = context.culprit;
            /* The culprit's own failure says more than what failed after it. */
            const char *told = outcome->culprit >= 0 ? results[outcome->culprit].reason : "";
            outcome->broken = true;
            snprintf(outcome->reason, sizeof outcome->reason, "%s",
                     told[0] ? told : assay_last_error());
        } else {
            choose_baseline(&context);
        }
    }
    for (int i = 0; i < request->count; i++)
        measurement_release(&measurements[i]);
    free(measurements);
    if (!outcome->broken) context_release(&context); /* else the process ends with its device */
    board_announce(board, -1, STEP_IDLE);
    nvtx_pop();
    return status;
}
