#include "measure/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/renew.h"
#include "measure/steps.h"

enum {
    TURN_STREAM = 0x7475726e, /* of the group's seed */
    CANDIDATE = TWINS,        /* behind the twins, so that each side has an index */
    SIDES = TWINS + 1,
    BLOCK_TURNS = 16, /* at most */
};

static turns_rule *decides;

void turns_end_by(turns_rule *rule)
{
    decides = rule;
}

/* Which measurement is which side; -1: none that runs. */
struct sides {
    int at[SIDES];
    int list[SIDES], count; /* those that run */
};

/* Those of the variant `index` and its twins. */
static struct sides sides_of(const struct measure_context *context, int index)
{
    const struct measure_request *request = context->request;
    struct sides sides = {.at = {-1, -1, -1}};
    for (int i = 0; i < request->count; i++) {
        char plain[ASSAY_MAX_NAME];
        int twin = twin_split(request->variant[i]->name, plain);
        if (context->measurements[i].phase != MEASUREMENT_RUNNING ||
            strcmp(plain, request->variant[index]->name) != 0)
            continue;
        sides.at[twin < 0 ? CANDIDATE : twin] = i;
        sides.list[sides.count++] = i;
    }
    return sides;
}

/* So many turns that a block is as long as one of a variant by itself would be. */
static int block_turns(const struct sides *sides, const struct measurement *measurements)
{
    int turns = BLOCK_TURNS;
    for (int i = 0; i < sides->count; i++)
        turns = (int)fmin(turns, measurements[sides->list[i]].block_count);
    return turns;
}

static int take_block(struct measure_context *context, const struct sides *sides, struct rng *rng,
                      int first, int turns)
{
    struct measurement *measurements = context->measurements;
    struct block_turn turn[SIDES * BLOCK_TURNS];
    struct block_sample samples[SIDES * BLOCK_TURNS];
    struct block_totals totals;
    int whose[SIDES * BLOCK_TURNS], order[SIDES], count = turns * sides->count;
    bool by_pairs = false;
    double hold_ns = 0;
    for (int i = 0; i < sides->count; i++) {
        const struct measurement *one = &measurements[sides->list[i]];
        by_pairs |= one->code.stretched;
        hold_ns = fmax(hold_ns, one->hold_ns);
        order[i] = sides->list[i];
    }
    for (int i = 0; i < count; i++) {
        if (i % sides->count == 0) rng_shuffle(rng, order, sides->count);
        whose[i] = order[i % sides->count];
        turn[i] = (struct block_turn){measurements[whose[i]].variant, &measurements[whose[i]].call};
    }
    struct block block = measurement_block_of(&measurements[whose[0]], context, count);
    block.turn = turn;
    block.by_pairs = by_pairs;
    block.hold_ns = hold_ns;
    struct code_seen unused = {0};
    if (context->ops->sample(context->device, &block, samples, &totals, &unused) < 0) return -1;
    return measurement_keep_turns(measurements, whose, samples, count, sides->count, context,
                                  first);
}

static int next_look(int turns)
{
    int look = TWIN_FIRST_TURNS;
    while (look <= turns)
        look *= 2;
    return look;
}

static bool is_decided(const struct measurement *base, const struct measurement *candidate,
                       int turns, const struct twin_goal *goal)
{
    if (!decides) return false;
    float *time_ns = malloc(2 * (size_t)turns * sizeof *time_ns);
    if (!time_ns) return true; /* there is no more memory for samples either */
    for (int i = 0; i < turns; i++) {
        time_ns[i] = base->samples.mark[i] ? NAN : base->samples.time_ns[i];
        time_ns[turns + i] = candidate->samples.mark[i] ? NAN : candidate->samples.time_ns[i];
    }
    bool decided = decides(time_ns, time_ns + turns, turns, goal);
    free(time_ns);
    return decided;
}

static int take_turns(struct measure_context *context, const struct sides *sides, int *last)
{
    struct measurement *measurements = context->measurements;
    const struct measure_request *request = context->request;
    const struct measurement *base = &measurements[sides->at[TWIN_BASE]];
    struct measurement *candidate = &measurements[sides->at[CANDIDATE]];
    double start_s = step_now_s(context);
    struct rng rng;
    rng_seed(&rng, rng_mix(request->seed, TURN_STREAM + (uint64_t)candidate->index));
    int turns = 0, look = next_look(0), a_block = block_turns(sides, measurements);
    while (turns < TWIN_MOST_TURNS) {
        int more = look - turns < a_block ? look - turns : a_block;
        step_announce(context, candidate, STEP_SAMPLE);
        if (take_block(context, sides, &rng, turns, more) < 0)
            return step_failed(candidate, context, STEP_SAMPLE);
        turns += more;
        if (turns == look && is_decided(base, candidate, turns, &request->twins)) break;
        if (turns == look) look = next_look(turns);
        bool spent = step_now_s(context) - start_s >= request->budget_s;
        if (spent && turns >= TWIN_FIRST_TURNS) break;
    }
    if (*last < turns) *last = turns;
    return 0;
}

/* Nothing is compared with it, so that a few samples do. */
static int time_alone(struct measure_context *context, struct measurement *measurement)
{
    for (int round = 0; round < MEASURE_MIN_ROUNDS; round++) {
        if (measurement->phase != MEASUREMENT_RUNNING) return 0;
        if (measurement_block(measurement, context, round) < 0) return -1;
    }
    return 0;
}

/* The inputs are renewed before, so that all samples are of the same. */
int turns_run(struct measure_context *context, int *last)
{
    const struct measure_request *request = context->request;
    struct measurement *measurements = context->measurements;
    *last = MEASURE_MIN_ROUNDS;
    if (renew_inputs(context) < 0) return -1;
    for (int i = 0; i < request->count; i++) {
        char plain[ASSAY_MAX_NAME];
        struct sides sides = sides_of(context, i);
        bool is_pair = sides.at[TWIN_BASE] >= 0 && sides.at[CANDIDATE] >= 0;
        context->culprit = i;
        if (!is_pair || twin_split(request->variant[i]->name, plain) >= 0) continue;
        if (take_turns(context, &sides, last) < 0) return -1;
    }
    for (int i = 0; i < request->count; i++) {
        context->culprit = i;
        if (measurements[i].samples.count == 0 && time_alone(context, &measurements[i]) < 0)
            return -1;
    }
    return 0;
}
