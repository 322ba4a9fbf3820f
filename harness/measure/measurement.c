/* contender.c - see contender.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stats.h"
#include "device/nvml.h"
#include "device/nvtx.h"
#include "measure/measurement.h"

enum {
    BLOCK_SAMPLES = 10,    /* of a fast variant */
    WARM_LAUNCHES = 3,     /* before the first timed one */
    STATE_EVERY_MS = 20,   /* reading the device's state is not free */
    ENERGY_BLOCK_MS = 100, /* the energy counter moves about this often */
    MEMORY_LEFT_MIB = 256, /* a setup that leaves less has exhausted the device */
};
static const double BLOCK_S = 0.010; /* about how long a block may take, or less by the budget */
/* A launch this long warms the caches in its own first thousandth: one ahead of it only
 * takes time. */
static const double LENGTHY_S = 0.1;

/* By the device's clock: what a simulated device does takes no time of ours. */
static double now_s(const struct ring *ring)
{
    return ring->ops->now_s(ring->device);
}

static void announce(const struct ring *ring, const struct contender *contender,
                     enum board_step step)
{
    atomic_store(&ring->board->variant, contender->index);
    atomic_store(&ring->board->step, (uint32_t)step);
    atomic_fetch_add(&ring->board->sequence, 1);
}

static void put_out(struct contender *contender, enum case_status status, const char *step,
                    const char *reason)
{
    contender->phase = CONTENDER_OUT;
    contender->result->status = status;
    snprintf(contender->result->reason, sizeof contender->result->reason, "%s%s%s",
             step ? step : "", step ? ": " : "", reason);
}

static bool memory_is_short(const struct ring *ring)
{
    int64_t left = ring->ops->free_bytes(ring->device);
    return left >= 0 && left < (int64_t)MEMORY_LEFT_MIB << 20;
}

/* A step of the variant failed: it is out. -1 when the device is lost with it,
 * or has no memory left for the others. */
static int step_failed(struct contender *contender, struct ring *ring, enum board_step step)
{
    const char *why = assay_last_error();
    put_out(contender, STATUS_CRASHED, step_name(step), why[0] ? why : "failed, saying nothing");
    contender_teardown(contender, ring);
    if (ring->ops->synchronize(ring->device) < 0) return -1;
    return memory_is_short(ring) ? assay_error("no device memory is left") : 0;
}

/* The variant's setup found that this machine lacks what it needs. */
static int step_skipped(struct contender *contender, struct ring *ring)
{
    put_out(contender, STATUS_SKIPPED, NULL, assay_last_error());
    contender_teardown(contender, ring);
    return ring->ops->synchronize(ring->device);
}

/* ------------------------------------------------------------- preparing -- */

/* 0, -1, or ASSAY_SKIP. */
static int set_up(struct contender *contender, struct ring *ring)
{
    const struct assay_variant *variant = contender->variant;
    contender->set_up = true;
    if (variant->setup == NULL) return 0;
    int64_t before = ring->ops->free_bytes(ring->device);
    int status = variant->setup(&contender->call);
    if (status) return status;
    if (ring->ops->synchronize(ring->device) < 0) return -1;
    int64_t after = ring->ops->free_bytes(ring->device);
    if (memory_is_short(ring) && before - after > after)
        return assay_error("exhausts the device's memory: took %lld MiB, left %lld MiB",
                           (long long)((before - after) >> 20), (long long)(after >> 20));
    return 0;
}

static int launch_and_wait(struct contender *contender, struct ring *ring)
{
    if (contender->variant->launch(&contender->call) < 0) return -1;
    return ring->ops->synchronize(ring->device);
}

/* Check the outputs as they stand; a wrong one puts the contender out. -1 when
 * the device could not be asked. */
static int check(struct contender *contender, struct ring *ring)
{
    announce(ring, contender, STEP_CHECK);
    struct case_result *result = contender->result;
    struct verdict verdict;
    char outside[ASSAY_MAX_REASON] = "";
    if (verifier_check(&ring->verifier, contender->variant, &contender->call, &verdict) < 0)
        return -1;
    int intact = buffers_intact(&ring->buffers, outside, sizeof outside);
    if (intact < 0) return -1;
    if (!intact) {
        put_out(contender, STATUS_WRONG, NULL, outside);
    } else if (verdict.reason[0]) {
        put_out(contender, STATUS_WRONG, NULL, verdict.reason);
    }
    bool judged = !contender->variant->apart && ring->verifier.expected;
    bool measured = judged && ring->request->shape.operation->match == NULL;
    result->outputs = ring->verifier.outputs;
    result->checked = ring->verifier.checked;
    result->near_share = judged ? verdict.near_share : NAN;
    result->max_abs_error = measured ? fmax(verdict.max_abs_error, result->max_abs_error) : NAN;
    result->max_rel_error = measured ? fmax(verdict.max_rel_error, result->max_rel_error) : NAN;
    return 0;
}

/* The variant's own figures, behind those of the operation. */
static int take_figures(struct contender *contender, struct ring *ring)
{
    const struct assay_variant *variant = contender->variant;
    struct case_result *result = contender->result;
    struct assay_metric figure[ASSAY_MAX_METRICS];
    int room = ASSAY_MAX_METRICS - result->metric_count;
    if (variant->figures == NULL || room == 0) return 0;
    announce(ring, contender, STEP_SAMPLE);
    int count = variant->figures(&contender->call, figure, room);
    if (count < 0 || ring->ops->synchronize(ring->device) < 0) return -1;
    for (int i = 0; i < count && i < room; i++) {
        struct metric *metric = &result->metrics[result->metric_count++];
        snprintf(metric->name, sizeof metric->name, "%s", figure[i].name);
        metric->value = figure[i].value;
    }
    return 0;
}

/* When the stages of a launch ran. */
static int take_spans(struct contender *contender, struct ring *ring)
{
    const struct assay_variant *variant = contender->variant;
    struct samples *samples = &contender->result->samples;
    struct assay_span span[ASSAY_MAX_SPANS];
    if (variant->spans == NULL) return 0;
    int count = variant->spans(&contender->call, span, ASSAY_MAX_SPANS);
    if (count < 0 || ring->ops->synchronize(ring->device) < 0) return -1;
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

/* How long the host takes to enqueue one launch, and a whole launch takes. */
static int warm(struct contender *contender, struct ring *ring, double *enqueue_s, double *launch_s)
{
    *enqueue_s = *launch_s = INFINITY;
    for (int i = 0; i < WARM_LAUNCHES; i++) {
        double start = now_s(ring);
        if (contender->variant->launch(&contender->call) < 0) return -1;
        double enqueued = now_s(ring);
        if (ring->ops->synchronize(ring->device) < 0) return -1;
        *enqueue_s = fmin(*enqueue_s, enqueued - start);
        *launch_s = fmin(*launch_s, now_s(ring) - start);
        if (*launch_s >= LENGTHY_S) break;
    }
    return 0;
}

static struct block block_of(const struct contender *contender, const struct ring *ring, int count)
{
    return (struct block){.variant = contender->variant,
                          .call = (struct assay_call *)&contender->call,
                          .temperature = ring->request->temperature,
                          .count = count,
                          .hold_ns = contender->hold_ns,
                          .unled = contender->lengthy};
}

/* Learn what a sample costs, flush included, so that a block takes about BLOCK_S. */
static int size_block(struct contender *contender, struct ring *ring)
{
    double enqueue_s, launch_s;
    if (warm(contender, ring, &enqueue_s, &launch_s) < 0) return -1;
    contender->lengthy = launch_s >= LENGTHY_S;
    contender->hold_ns =
        contender->variant->clock == ASSAY_CLOCK_DEVICE ? fmin(1.5e9 * enqueue_s + 5000, 2e6) : 0;
    contender->block_count = 1;
    if (contender->lengthy) return 0;
    struct block block = block_of(contender, ring, 1);
    struct block_sample sample;
    struct block_totals totals;
    double start = now_s(ring);
    if (ring->ops->sample(ring->device, &block, &sample, &totals, &contender->code) < 0) return -1;
    double sample_s = now_s(ring) - start;
    double block_s = fmin(BLOCK_S, ring->request->budget_s / MEASURE_MIN_ROUNDS);
    contender->block_count = (int)fmin(fmax(block_s / sample_s, 1), BLOCK_SAMPLES);
    return 0;
}

int contender_prepare(struct contender *contender, struct ring *ring)
{
    struct case_result *result = contender->result;
    contender->energy_mj = NAN;
    result->max_abs_error = result->max_rel_error = 0;
    assay_clear_error();

    announce(ring, contender, STEP_SETUP);
    double start = now_s(ring);
    int status = set_up(contender, ring);
    if (status < 0) return step_failed(contender, ring, STEP_SETUP);
    if (status == ASSAY_SKIP) return step_skipped(contender, ring);
    double setup_s = now_s(ring) - start;
    /* After setup, which may try algorithms out on the real output. */
    if (buffers_poison(&ring->buffers, POISON_FIRST) < 0) return -1;
    announce(ring, contender, STEP_FIRST_LAUNCH);
    start = now_s(ring);
    if (launch_and_wait(contender, ring) < 0)
        return step_failed(contender, ring, STEP_FIRST_LAUNCH);
    result->first_call_ns = (setup_s + now_s(ring) - start) * 1e9;
    result->workspace_bytes = contender->call.workspace_bytes;
    snprintf(result->note, sizeof result->note, "%s", contender->call.note);

    if (check(contender, ring) < 0) return step_failed(contender, ring, STEP_CHECK);
    if (contender->phase == CONTENDER_OUT) return 0;
    /* What computes something else has not the operation's quality. */
    if (!contender->variant->apart && verifier_quality(&ring->verifier, result) < 0)
        return step_failed(contender, ring, STEP_CHECK);
    if (ring->request->check_only) {
        if (take_figures(contender, ring) < 0 || take_spans(contender, ring) < 0)
            return step_failed(contender, ring, STEP_CHECK);
        return 0;
    }

    announce(ring, contender, STEP_SAMPLE);
    if (size_block(contender, ring) < 0) return step_failed(contender, ring, STEP_SAMPLE);
    return 0;
}

/* -------------------------------------------------------------- sampling -- */

static int reserve(struct contender *contender, int more)
{
    if (contender->count + more > contender->capacity) {
        int capacity = 2 * contender->capacity + more + 64;
        void *samples = realloc(contender->samples, (size_t)capacity * sizeof *contender->samples);
        if (samples) contender->samples = samples;
        void *round = realloc(contender->round, (size_t)capacity * sizeof *contender->round);
        if (round) contender->round = round;
        if (!samples || !round) return assay_error("out of host memory for samples");
        contender->capacity = capacity;
    }
    if (contender->wall_count + 1 > contender->wall_capacity) {
        int capacity = 2 * contender->wall_capacity + 64;
        void *wall = realloc(contender->wall_ns, (size_t)capacity * sizeof *contender->wall_ns);
        if (wall) contender->wall_ns = wall;
        void *round = realloc(contender->wall_round, (size_t)capacity * sizeof(uint16_t));
        if (round) contender->wall_round = round;
        if (!wall || !round) return assay_error("out of host memory for samples");
        contender->wall_capacity = capacity;
    }
    return 0;
}

/* Read the device's state if that is due, and charge it to this contender. */
static void note_state(struct contender *contender, struct ring *ring, bool now)
{
    if (now || now_s(ring) - ring->state_read_s > STATE_EVERY_MS * 1e-3) {
        ring->ops->state(ring->device, &ring->state);
        ring->state_read_s = now_s(ring);
    }
    contender->result->clock_reasons |= ring->state.clock_reasons;
    contender->state_count++;
    contender->sm_mhz_sum += ring->state.sm_mhz;
    contender->power_w_sum += ring->state.power_w;
    contender->temperature_max_c = fmax(contender->temperature_max_c, ring->state.temperature_c);
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

int contender_block(struct contender *contender, struct ring *ring, int round)
{
    announce(ring, contender, STEP_SAMPLE);
    if (reserve(contender, contender->block_count) < 0) return -1;
    struct block block = block_of(contender, ring, contender->block_count);
    struct block_sample *samples = contender->samples + contender->count;
    struct block_totals totals;

    bool lengthy =
        contender->count > 0 && contender->samples[0].time_ns * block.count > ENERGY_BLOCK_MS * 1e6;
    if (lengthy) note_state(contender, ring, true);
    double before_mj = ring->state.energy_mj, start = now_s(ring);
    if (ring->ops->sample(ring->device, &block, samples, &totals, &contender->code) < 0)
        return step_failed(contender, ring, STEP_SAMPLE);
    double block_s = now_s(ring) - start;
    contender->spent_s += block_s;
    /* A slow-down begins and ends between two readings: look after every block,
     * so that no block is marked for another one's. */
    bool slow = nvml_is_slowdown(ring->state.clock_reasons) ||
                samples[block.count - 1].mark & MARK_THROTTLED;
    note_state(contender, ring, lengthy || slow);
    double energy_mj = measure_block_energy(ring->state.energy_mj - before_mj, block_s,
                                            mean_s(samples, block.count), totals.launches);
    if (lengthy && !isnan(energy_mj)) contender->energy_mj = energy_mj;

    for (int i = 0; i < block.count; i++) {
        if (nvml_is_slowdown(ring->state.clock_reasons)) samples[i].mark |= MARK_THROTTLED;
        contender->round[contender->count + i] = (uint16_t)round;
    }
    contender->count += block.count;
    if (!isnan(totals.wall_ns)) {
        contender->wall_ns[contender->wall_count] = (float)totals.wall_ns;
        contender->wall_round[contender->wall_count++] = (uint16_t)round;
    }
    contender->rounds++;
    return 0;
}

int contender_finish(struct contender *contender, struct ring *ring, int round)
{
    if (buffers_poison(&ring->buffers, POISON_LAST) < 0) return -1;
    if (contender_block(contender, ring, round) < 0) return -1;
    if (contender->phase == CONTENDER_OUT) return 0;
    if (check(contender, ring) < 0) return step_failed(contender, ring, STEP_CHECK);
    if (contender->phase == CONTENDER_OUT) return 0;
    if (take_figures(contender, ring) < 0 || take_spans(contender, ring) < 0)
        return step_failed(contender, ring, STEP_SAMPLE);
    if (ring->request->energy_s <= 0) return 0;

    announce(ring, contender, STEP_ENERGY);
    struct block block = block_of(contender, ring, 1);
    int launches = 0;
    double energy_mj = NAN;
    if (ring->ops->energy(ring->device, &block, ring->request->energy_s * 1e9, &launches,
                          &energy_mj) < 0)
        return step_failed(contender, ring, STEP_ENERGY);
    if (launches > 0 && energy_mj > 0) contender->energy_mj = energy_mj / launches;
    return 0;
}

int contender_profile(struct contender *contender, struct ring *ring, struct profile *profile)
{
    struct block block = block_of(contender, ring, 1);
    announce(ring, contender, STEP_PROFILE);
    assay_clear_error();
    if (ring->ops->profile(ring->device, &block, profile) == 0) return 0;
    return step_failed(contender, ring, STEP_PROFILE);
}

/* ----------------------------------------------------------------- ending -- */

void contender_teardown(struct contender *contender, struct ring *ring)
{
    if (!contender->set_up) return;
    announce(ring, contender, STEP_TEARDOWN);
    contender->set_up = false;
    if (contender->variant->teardown) contender->variant->teardown(&contender->call);
}

void contender_release(struct contender *contender)
{
    free(contender->samples);
    free(contender->round);
    free(contender->wall_ns);
    free(contender->wall_round);
    memset(contender, 0, sizeof *contender);
}
