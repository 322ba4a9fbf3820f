/* measure.c - see measure.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/stats.h"
#include "device/counter_sets.h"
#include "device/nvtx.h"
#include "measure/measurement.h"

static void announce_group(struct ring *ring, enum board_step step)
{
    atomic_store(&ring->board->variant, -1);
    atomic_store(&ring->board->step, (uint32_t)step);
    atomic_fetch_add(&ring->board->sequence, 1);
}

/* ------------------------------------------------------------- beginning -- */

static void describe_case(const struct measure_request *request,
                          const struct assay_variant *variant, struct case_result *result)
{
    struct case_id *id = &result->id;
    snprintf(id->operation, sizeof id->operation, "%s", variant->operation);
    snprintf(id->variant, sizeof id->variant, "%s", variant->name);
    shape_text(&request->shape, id->shape, sizeof id->shape);
    id->kind = (int32_t)variant->kind;
    id->place = (int32_t)variant->place;
    id->temperature = (int32_t)request->temperature;
    if (request->shape.operation->work)
        result->work = request->shape.operation->work(&request->shape);
}

static int ring_init(struct ring *ring, const struct device_ops *ops, struct device *device,
                     struct board *board, const struct measure_request *request)
{
    memset(ring, 0, sizeof *ring);
    ring->ops = ops;
    ring->device = device;
    ring->board = board;
    ring->request = request;
    announce_group(ring, STEP_PREPARE);
    if (buffers_init(&ring->buffers, ops, device, &request->shape, request->seed) < 0) return -1;
    announce_group(ring, STEP_PREPARE);
    if (verifier_init(&ring->verifier, &ring->buffers) < 0) return -1;
    ops->state(device, &ring->state);
    return 0;
}

static void ring_release(struct ring *ring)
{
    verifier_release(&ring->verifier);
    buffers_release(&ring->buffers);
}

static void contender_begin(struct contender *contender, struct ring *ring, int index,
                            struct case_result *result)
{
    contender->index = index;
    contender->variant = ring->request->variant[index];
    contender->result = result;
    contender->temperature_max_c = NAN; /* fmax leaves it out */
    contender->call.shape = &ring->request->shape;
    contender->call.stream = ring->ops->stream(ring->device);
    memcpy(contender->call.buffer, ring->buffers.data, sizeof contender->call.buffer);
    result->status = STATUS_OK; /* until something puts it out */
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

static bool is_settled(struct contender *contender, const struct measure_request *request)
{
    if (contender->phase != CONTENDER_RUNNING) return true;
    if (contender->count < contender->next_decision) return false;
    double *values = malloc(((size_t)contender->count + 1) * sizeof *values);
    if (values == NULL) return true;
    int n = 0;
    for (int i = 0; i < contender->count; i++)
        if (contender->samples[i].mark == 0 && !isnan(contender->samples[i].time_ns))
            values[n++] = contender->samples[i].time_ns;
    bool settled = measure_settled(values, n, contender->rounds, request->precision_pct,
                                   contender->spent_s, request->budget_s);
    free(values);
    /* A device that marks everything must not keep the group for ever. */
    bool hopeless = contender->spent_s > 2 * request->budget_s && 2 * n < contender->count &&
                    contender->count >= 2 * MEASURE_MIN_SAMPLES;
    contender->next_decision = contender->count + contender->count / 10;
    return settled || hopeless;
}

/* Every variant takes a block in every round, in an order of its own; a
 * baseline that is settled goes on while another variant is not, so that each
 * ratio has a pair in each round. Stops when all are settled. */
static int run_rounds(struct ring *ring, struct contender *contenders, int *culprit, int *last)
{
    const struct measure_request *request = ring->request;
    struct rng rng;
    rng_seed(&rng, rng_mix(request->seed, 0x726f756e64));
    int order[PLAN_MAX_VARIANTS];
    for (int i = 0; i < request->count; i++)
        order[i] = i;

    bool unsettled = true;
    int round = 0;
    for (; unsettled && round < UINT16_MAX - 1; round++) {
        unsettled = false;
        rng_shuffle(&rng, order, request->count);
        for (int i = 0; i < request->count; i++) {
            struct contender *contender = &contenders[order[i]];
            bool goes_on = contender->phase == CONTENDER_RUNNING ||
                           (contender->phase == CONTENDER_SETTLED &&
                            contender->variant->kind == ASSAY_BASELINE &&
                            contender->count < MEASURE_MAX_SAMPLES);
            if (!goes_on) continue;
            if (contender_block(contender, ring, round) < 0) {
                *culprit = contender->index;
                return -1;
            }
            if (contender->phase == CONTENDER_RUNNING && is_settled(contender, request))
                contender->phase = CONTENDER_SETTLED;
        }
        for (int i = 0; i < request->count; i++)
            unsettled |= contenders[i].phase == CONTENDER_RUNNING;
    }
    *last = round;
    return 0;
}

/* ----------------------------------------------------------------- ending -- */

static int find_ok(const struct contender *contenders, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (contenders[i].result->status == STATUS_OK &&
            strcmp(contenders[i].variant->name, name) == 0)
            return i;
    return -1;
}

/* The suite's choice; else the operation's first that is ok; else any that is. */
static void choose_baseline(struct contender *contenders, const struct measure_request *request)
{
    int chosen = -1;
    const char *const *names = request->shape.operation->baselines;
    if (request->baseline[0]) chosen = find_ok(contenders, request->count, request->baseline);
    for (int i = 0; chosen < 0 && names && names[i]; i++)
        chosen = find_ok(contenders, request->count, names[i]);
    for (int i = 0; chosen < 0 && i < request->count; i++)
        if (contenders[i].variant->kind == ASSAY_BASELINE &&
            contenders[i].result->status == STATUS_OK)
            chosen = i;
    if (chosen >= 0) contenders[chosen].result->is_baseline = true;
}

static int prepare_all(struct ring *ring, struct contender *contenders, int *culprit)
{
    for (int i = 0; i < ring->request->count; i++) {
        *culprit = i;
        nvtx_push(NVTX_CASE, contenders[i].variant->name);
        int status = contender_prepare(&contenders[i], ring);
        nvtx_pop();
        if (status < 0) return -1;
    }
    return 0;
}

static int time_all(struct ring *ring, struct contender *contenders, int *culprit)
{
    int last = 0;
    announce_group(ring, STEP_PREPARE);
    *culprit = -1;
    if (ring->ops->warm_up(ring->device) < 0) return -1;
    if (run_rounds(ring, contenders, culprit, &last) < 0) return -1;
    for (int i = 0; i < ring->request->count; i++) {
        if (contenders[i].phase == CONTENDER_OUT) continue;
        *culprit = i;
        if (contender_finish(&contenders[i], ring, last) < 0) return -1;
    }
    return 0;
}

/* After all timing: whatever counting leaves behind is in nobody's time. */
static int profile_all(struct ring *ring, struct contender *contenders, int *culprit)
{
    const struct measure_request *request = ring->request;
    for (int i = 0; i < request->count; i++) {
        struct profile *profile = &request->profiles[i];
        profile_init(profile);
        if (contenders[i].phase == CONTENDER_OUT) continue;
        *culprit = i;
        profile->counter_count = counter_list(request->counters, profile->counter);
        if (profile->counter_count < 0) return -1;
        if (contender_profile(&contenders[i], ring, profile) < 0) return -1;
    }
    return 0;
}

static int run_group(struct ring *ring, struct contender *contenders, int *culprit)
{
    if (prepare_all(ring, contenders, culprit) < 0) return -1;
    bool timed = !ring->request->check_only;
    if (timed && time_all(ring, contenders, culprit) < 0) return -1;
    if (ring->request->profiles && profile_all(ring, contenders, culprit) < 0) return -1;
    for (int i = 0; i < ring->request->count; i++) {
        *culprit = i;
        contender_teardown(&contenders[i], ring);
        if (ring->ops->synchronize(ring->device) < 0) return -1;
        if (!timed || contenders[i].phase == CONTENDER_OUT) continue;
        if (contender_summarise(&contenders[i], ring) < 0) return -1;
    }
    return 0;
}

int measure_group(const struct device_ops *ops, struct device *device, struct board *board,
                  const struct measure_request *request, struct case_result *results,
                  struct measure_outcome *outcome)
{
    struct ring ring;
    struct contender *contenders = calloc((size_t)request->count + 1, sizeof *contenders);
    memset(outcome, 0, sizeof *outcome);
    outcome->culprit = -1;
    if (contenders == NULL) return assay_error("out of host memory for a group");
    for (int i = 0; i < request->count; i++)
        describe_case(request, request->variant[i], &results[i]);

    char heading[RESULT_MAX_SHAPE];
    shape_text(&request->shape, heading, sizeof heading);
    nvtx_push(NVTX_GROUP, heading);
    int status = ring_init(&ring, ops, device, board, request);
    if (status == 0) {
        for (int i = 0; i < request->count; i++)
            contender_begin(&contenders[i], &ring, i, &results[i]);
        if (run_group(&ring, contenders, &outcome->culprit) < 0) {
            /* What put the culprit out says more than what broke after it. */
            const char *told = outcome->culprit >= 0 ? results[outcome->culprit].reason : "";
            outcome->broken = true;
            snprintf(outcome->reason, sizeof outcome->reason, "%s",
                     told[0] ? told : assay_last_error());
        } else {
            choose_baseline(contenders, request);
        }
    }
    for (int i = 0; i < request->count; i++)
        contender_release(&contenders[i]);
    free(contenders);
    if (!outcome->broken) ring_release(&ring); /* a broken device is left with its process */
    announce_group(&ring, STEP_IDLE);
    nvtx_pop();
    return status;
}
