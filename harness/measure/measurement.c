#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "device/nvml.h"
#include "measure/measurement.h"
#include "measure/steps.h"

enum {
    BLOCK_SAMPLES = 10,    /* at most, for a fast variant */
    WARM_LAUNCHES = 3,     /* before the first timed one */
    STATE_EVERY_MS = 20,   /* how often to read the device's state, which takes time */
    ENERGY_BLOCK_MS = 100, /* the energy counter is updated about this often */
};
static const double BLOCK_S = 0.010; /* about how long a block may take; less for small budgets */
/* A launch this long warms the caches in its first thousandth: a warm-up only takes time. */
static const double LENGTHY_S = 0.1;
static const double COSTLY_SHARE = 0.1;

static int take_figures(struct measurement *measurement, struct measure_context *context)
{
    const struct assay_variant *variant = measurement->variant;
    struct case_result *result = measurement->result;
    struct assay_metric figure[ASSAY_MAX_METRICS];
    int space = ASSAY_MAX_METRICS - result->metric_count;
    if (variant->figures == NULL || space == 0) return 0;
    step_announce(context, measurement, STEP_SAMPLE);
    int count = variant->figures(&measurement->call, figure, space);
    if (count < 0 || context->ops->synchronize(context->device) < 0) return -1;
    for (int i = 0; i < count && i < space; i++)
        result_add_metric(result, figure[i].name, figure[i].value);
    return 0;
}

static int take_spans(struct measurement *measurement, struct measure_context *context)
{
    const struct assay_variant *variant = measurement->variant;
    struct samples *samples = &measurement->result->samples;
    struct assay_span span[ASSAY_MAX_SPANS];
    if (variant->spans == NULL) return 0;
    int count = variant->spans(&measurement->call, span, ASSAY_MAX_SPANS);
    if (count < 0 || context->ops->synchronize(context->device) < 0) return -1;
    if (count == 0) return 0;
    samples->span = calloc((size_t)count, sizeof *samples->span);
    if (!samples->span) return assay_error("out of host memory for the spans of a case");
    samples->span_count = count;
    for (int i = 0; i < count; i++) {
        struct stage_span *to = &samples->span[i];
        snprintf(to->name, sizeof to->name, "%s", span[i].name);
        to->lane = span[i].lane;
        to->begin_ns = span[i].begin_ns;
        to->end_ns = span[i].end_ns;
    }
    return 0;
}

/* Longer than a block and than COSTLY_SHARE of the budget. */
static bool is_costly(const struct measure_context *context, double launch_s)
{
    return launch_s > fmax(BLOCK_S, COSTLY_SHARE * context->request->budget_s);
}

/* Warm up, and measure how long the host takes to enqueue a launch and how long a launch takes. */
static int warm(struct measurement *measurement, struct measure_context *context, double *enqueue_s,
                double *launch_s)
{
    *enqueue_s = *launch_s = INFINITY;
    for (int i = 0; i < WARM_LAUNCHES; i++) {
        double start = step_now_s(context);
        if (measurement->variant->launch(&measurement->call) < 0) return -1;
        double enqueued = step_now_s(context);
        if (context->ops->synchronize(context->device) < 0) return -1;
        *enqueue_s = fmin(*enqueue_s, enqueued - start);
        *launch_s = fmin(*launch_s, step_now_s(context) - start);
        if (is_costly(context, *launch_s)) break;
    }
    return 0;
}

struct block measurement_block_of(const struct measurement *measurement,
                                  const struct measure_context *context, int count)
{
    return (struct block){.variant = measurement->variant,
                          .call = (struct assay_call *)&measurement->call,
                          .temperature = context->request->temperature,
                          .count = count,
                          .hold_ns = measurement->hold_ns,
                          .no_warm_up = measurement->lengthy};
}

/* Choose the number of samples per block from the time of one sample, flush included, so
 * that a block takes about BLOCK_S. */
static int size_block(struct measurement *measurement, struct measure_context *context)
{
    double enqueue_s, launch_s;
    if (warm(measurement, context, &enqueue_s, &launch_s) < 0) return -1;
    measurement->lengthy = launch_s >= LENGTHY_S;
    measurement->costly = is_costly(context, launch_s);
    measurement->hold_ns =
        measurement->variant->clock == ASSAY_CLOCK_DEVICE ? fmin(1.5e9 * enqueue_s + 5000, 2e6) : 0;
    measurement->block_count = 1;
    if (measurement->costly) return 0; /* a block is one launch */
    struct block block = measurement_block_of(measurement, context, 1);
    struct block_sample sample;
    struct block_totals totals;
    double start = step_now_s(context);
    if (context->ops->sample(context->device, &block, &sample, &totals, &measurement->code) < 0)
        return -1;
    double sample_s = step_now_s(context) - start;
    double block_s = fmin(BLOCK_S, context->request->budget_s / MEASURE_MIN_ROUNDS);
    measurement->block_count = (int)fmin(fmax(block_s / sample_s, 1), BLOCK_SAMPLES);
    return 0;
}

void measurement_use(struct measurement *measurement, struct buffers *buffers)
{
    measurement->buffers = buffers;
    measurement->call.state = NULL;
    measurement->call.workspace_bytes = 0;
    measurement->call.note[0] = '\0';
    memcpy(measurement->call.buffer, buffers->data, sizeof measurement->call.buffer);
}

int measurement_prepare(struct measurement *measurement, struct measure_context *context)
{
    struct case_result *result = measurement->result;
    measurement->energy_mj = NAN;
    result->max_abs_error = result->max_rel_error = 0;
    assay_clear_error();

    int status = step_set_up(measurement, context);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    status = step_checked_launch(measurement, context, STEP_FIRST_LAUNCH);
    if (result->status != STATUS_CRASHED) {
        result->first_call_ns = (measurement->setup_s + measurement->launch_s) * 1e9;
        result->workspace_bytes = measurement->call.workspace_bytes;
        snprintf(result->note, sizeof result->note, "%s", measurement->call.note);
    }
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    if (!measurement->variant->apart && verifier_quality(&context->verifier, result) < 0)
        return step_failed(measurement, context, STEP_CHECK);
    status = step_control(measurement, context);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    if (context->request->check_only) {
        measurement->costly = measurement->launch_s >= LENGTHY_S;
        if (take_figures(measurement, context) < 0 || take_spans(measurement, context) < 0)
            return step_failed(measurement, context, STEP_CHECK);
        return 0;
    }

    step_announce(context, measurement, STEP_SAMPLE);
    return size_block(measurement, context) < 0 ? step_failed(measurement, context, STEP_SAMPLE)
                                                : 0;
}

/* -------------------------------------------------------------- sampling -- */

/* Make space for one more in the arrays that are, or are not, of the host's clock. */
static int grow(struct samples *samples, bool is_wall)
{
    for (int i = 0; i < SAMPLE_SERIES; i++) {
        const struct sample_series *series = &sample_series[i];
        if (series->is_wall != is_wall) continue;
        void **array = series_array(samples, series);
        void *grown = grow_by_one(*array, is_wall ? samples->wall_count : samples->count,
                                  series->element_bytes);
        if (grown == NULL) return assay_error("out of host memory for samples");
        *array = grown;
    }
    return 0;
}

static int add_sample(struct samples *to, const struct block_sample *sample, int round)
{
    if (grow(to, false)) return -1;
    int n = to->count++;
    to->time_ns[n] = (float)sample->time_ns;
    to->busy_ns[n] = (float)sample->busy_ns;
    to->event_ns[n] = (float)sample->event_ns;
    to->round[n] = (uint16_t)round;
    to->mark[n] = sample->mark;
    return 0;
}

static int add_wall(struct samples *to, double wall_ns, int round)
{
    if (isnan(wall_ns)) return 0;
    if (grow(to, true)) return -1;
    to->wall_ns[to->wall_count] = (float)wall_ns;
    to->wall_round[to->wall_count++] = (uint16_t)round;
    return 0;
}

/* Read the device's state if that is due, and add it to this measurement. */
static void note_state(struct measurement *measurement, struct measure_context *context, bool now)
{
    if (now || step_now_s(context) - context->state_read_s > STATE_EVERY_MS * 1e-3) {
        context->ops->state(context->device, &context->state);
        context->state_read_s = step_now_s(context);
    }
    measurement->result->clock_reasons |= context->state.clock_reasons;
    measurement->state_count++;
    measurement->sm_mhz_sum += context->state.sm_mhz;
    measurement->power_w_sum += context->state.power_w;
    measurement->temperature_max_c =
        fmax(measurement->temperature_max_c, context->state.temperature_c);
}

double measure_block_energy(double energy_mj, double block_s, double sample_s, int launches)
{
    bool is_long = block_s >= ENERGY_BLOCK_MS * 1e-3 && sample_s * launches >= 0.9 * block_s;
    return is_long && energy_mj > 0 ? energy_mj / launches : NAN;
}

static double mean_s(const struct block_sample *samples, int count)
{
    double sum_ns = 0;
    for (int i = 0; i < count; i++)
        sum_ns += samples[i].time_ns;
    return 1e-9 * sum_ns / count;
}

int measurement_block(struct measurement *measurement, struct measure_context *context, int round)
{
    step_announce(context, measurement, STEP_SAMPLE);
    struct block block = measurement_block_of(measurement, context, measurement->block_count);
    struct block_sample samples[BLOCK_SAMPLES];
    struct block_totals totals;

    bool lengthy = measurement->samples.count > 0 &&
                   measurement->samples.time_ns[0] * block.count > ENERGY_BLOCK_MS * 1e6;
    if (lengthy) note_state(measurement, context, true);
    double before_mj = context->state.energy_mj, start = step_now_s(context);
    if (context->ops->sample(context->device, &block, samples, &totals, &measurement->code) < 0)
        return step_failed(measurement, context, STEP_SAMPLE);
    double block_s = step_now_s(context) - start;
    measurement->spent_s += block_s;
    /* In a slow-down after every block, so that none is marked for what happened in another. */
    bool slow = nvml_is_slowdown(context->state.clock_reasons) ||
                samples[block.count - 1].mark & MARK_THROTTLED;
    note_state(measurement, context, lengthy || slow);
    double energy_mj = measure_block_energy(context->state.energy_mj - before_mj, block_s,
                                            mean_s(samples, block.count), totals.launches);
    if (lengthy && !isnan(energy_mj)) measurement->energy_mj = energy_mj;

    for (int i = 0; i < block.count; i++) {
        if (nvml_is_slowdown(context->state.clock_reasons)) samples[i].mark |= MARK_THROTTLED;
        if (add_sample(&measurement->samples, &samples[i], round) < 0) return -1;
    }
    measurement->rounds++;
    return add_wall(&measurement->samples, totals.wall_ns, round);
}

int measurement_keep_turns(struct measurement *measurements, const int *whose,
                           struct block_sample *samples, int count, int a_turn,
                           struct measure_context *context, int round)
{
    for (int i = 0; i < a_turn; i++)
        note_state(&measurements[whose[i]], context, false);
    for (int i = 0; i < count; i++) {
        struct measurement *measurement = &measurements[whose[i]];
        if (nvml_is_slowdown(context->state.clock_reasons)) samples[i].mark |= MARK_THROTTLED;
        if (add_sample(&measurement->samples, &samples[i], round + i / a_turn) < 0) return -1;
        measurement->rounds += i < a_turn;
    }
    return 0;
}

/* A timed block with poisoned outputs and a check: does it leave work out where it is timed? */
static int check_block(struct measurement *measurement, struct measure_context *context, int round)
{
    if (buffers_poison(measurement->buffers) < 0) return -1;
    int status = measurement_block(measurement, context, round);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    return step_check(measurement, context);
}

int measurement_finish(struct measurement *measurement, struct measure_context *context, int round)
{
    int status = check_block(measurement, context, round);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    status = step_some_launches(measurement, context, 0, measurement->costly ? 1 : 3);
    if (status == 0) status = step_checked_launches(measurement, context);
    if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    if (take_figures(measurement, context) < 0 || take_spans(measurement, context) < 0)
        return step_failed(measurement, context, STEP_SAMPLE);
    if (context->request->energy_s <= 0 || !context->ops->energy) return 0;

    step_announce(context, measurement, STEP_ENERGY);
    struct block block = measurement_block_of(measurement, context, 1);
    int launches = 0;
    double energy_mj = NAN;
    if (context->ops->energy(context->device, &block, context->request->energy_s * 1e9, &launches,
                             &energy_mj) < 0)
        return step_failed(measurement, context, STEP_ENERGY);
    if (launches > 0 && energy_mj > 0) measurement->energy_mj = energy_mj / launches;
    return 0;
}

int measurement_profile(struct measurement *measurement, struct measure_context *context,
                        struct profile *profile)
{
    struct block block = measurement_block_of(measurement, context, 1);
    step_announce(context, measurement, STEP_PROFILE);
    assay_clear_error();
    if (context->ops->profile(context->device, &block, profile) == 0) return 0;
    return step_failed(measurement, context, STEP_PROFILE);
}

/* ----------------------------------------------------------------- ending -- */

void measurement_teardown(struct measurement *measurement, struct measure_context *context)
{
    if (!measurement->set_up) return;
    step_announce(context, measurement, STEP_TEARDOWN);
    measurement->set_up = false;
    if (measurement->variant->teardown) measurement->variant->teardown(&measurement->call);
}

void measurement_release(struct measurement *measurement)
{
    samples_release(&measurement->samples);
    memset(measurement, 0, sizeof *measurement);
}
