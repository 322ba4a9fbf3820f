/*
 * gate_simulation.h - launches drawn from a model and put through the gate's
 * decision. A model, not a measurement: sessions that treat two binaries
 * differently are not in it.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "judge/clock_steps.h"
#include "judge/gate.h"
#include "judge/history.h"
#include "stepped_clock.h"

struct launch_model {
    const char *name;
    double launch;     /* log standard deviation between launches */
    double mode_share; /* of launches that fall into a slow mode */
    double mode;       /* how much slower that is, a log ratio */
    double bias;    /* log standard deviation between builds of a case, the same in each launch */
    double twins;   /* share of the cases of which a second build of the base is measured */
    double time_ns; /* of a case that is short beside the steps of the clock; 0: it is not */
    double step_ns;
    /* Log standard deviation of a wander of the candidate alone from round to round, and how much
     * of it stays from one to the next. */
    double wander, rho;
};

static const struct launch_model launch_models[] = {
    {"0.1 %", 0.001, 0, 0},
    {"0.5 %", 0.005, 0, 0},
    {"1 %", 0.01, 0, 0},
    {"2 %", 0.02, 0, 0},
    {"0.5 %, 1 in 5 launches +4 %", 0.005, 0.2, 0.04},
};
enum { LAUNCH_MODELS = sizeof launch_models / sizeof launch_models[0] };

/* ln of the mean of one launch of a short case: 60 samples of 1 % by a stepped clock. */
static inline double simulated_short(struct rng *rng, const struct launch_model *model,
                                     double change)
{
    double sample[60],
        time_ns = model->time_ns * exp(change + model->launch * simulated_normal(rng));
    stepped_samples(sample, 60, time_ns, 0.01, model->step_ns, rng);
    return log(clock_steps_of(sample, 60).mean_ns / model->time_ns);
}

/* ln of the median of one launch, without the case's own time: the change, the launch's luck,
 * and what 100 samples of 1 % leave of theirs. */
static inline double simulated_launch(struct rng *rng, const struct launch_model *model,
                                      double change)
{
    if (model->step_ns > 0) return simulated_short(rng, model, change);
    double value = change + model->launch * simulated_normal(rng) + 0.00125 * simulated_normal(rng);
    if (model->mode_share > 0 && simulated_uniform(rng) < model->mode_share) value += model->mode;
    return value;
}

/* How one build differs from another in a case, as long as both exist. */
static inline double simulated_bias(struct rng *rng, const struct launch_model *model)
{
    return model->bias > 0 ? model->bias * simulated_normal(rng) : 0;
}

/* What the candidate wandered by until the next round; a first-order process of constant variance.
 */
static inline double simulated_wander(struct rng *rng, const struct launch_model *model, double now)
{
    if (!(model->wander > 0)) return 0;
    return model->rho * now +
           sqrt(1 - model->rho * model->rho) * model->wander * simulated_normal(rng);
}

/* Rounds up to `until`. The null arm, where it rides (else NULL), is held against the same
 * launch of the base as the candidate: what is luck of the base is luck of both. *wandered: NULL
 * where nothing wanders. */
static inline void simulate_rounds(struct gate_rounds *candidate, struct gate_rounds *null,
                                   struct rng *rng, const struct launch_model *model, double change,
                                   double *wandered, int until)
{
    while (candidate->count < until) {
        double base = simulated_launch(rng, model, 0);
        if (wandered) *wandered = simulated_wander(rng, model, *wandered);
        double by = change + (wandered ? *wandered : 0);
        candidate->value[candidate->count++] = simulated_launch(rng, model, by) - base;
        if (null) null->value[null->count++] = simulated_launch(rng, model, 0) - base;
    }
}

static inline void simulate_second_stage(struct gate_case *cases, const double *change, int count,
                                         const struct launch_model *model, struct rng *rng,
                                         double *wandered, int rounds, bool open_only)
{
    for (int i = 0; i < count; i++) {
        bool suspect = cases[i].slower.suspect || cases[i].faster.suspect;
        if (!suspect || (open_only && !gate_is_open(&cases[i]))) continue;
        simulate_rounds(&cases[i].confirm, &cases[i].null, rng, model, change[i], &wandered[i],
                        rounds);
    }
}

enum { SIMULATED_CASES = 1000 }; /* at most */

/* One gate of `count` cases, each changed by change[i] (a log ratio). */
static inline void simulate_gate(struct gate_case *cases, const double *change, int count,
                                 const struct launch_model *model, struct rng *rng)
{
    const struct gate_rules rules = {.alpha = 0.05, .extend = true};
    double wandered[SIMULATED_CASES] = {0};
    if (count > SIMULATED_CASES) abort();
    memset(cases, 0, (size_t)count * sizeof *cases);
    for (int i = 0; i < count; i++) {
        if (model->wander > 0) wandered[i] = model->wander * simulated_normal(rng);
        cases[i].threshold = 0.02;
        cases[i].noise = NAN;
        if (model->step_ns > 0) cases[i].quantum = 0.2 * model->step_ns / model->time_ns;
        if (i < model->twins * count)
            simulate_rounds(&cases[i].twin, NULL, rng, model, simulated_bias(rng, model), NULL,
                            GATE_SCREEN_ROUNDS);
        simulate_rounds(&cases[i].screen, NULL, rng, model, change[i], &wandered[i],
                        GATE_SCREEN_ROUNDS);
    }
    if (gate_screen(cases, count, &rules) == 0) return;
    int rounds = gate_confirm_rounds(cases, count, &rules);
    simulate_second_stage(cases, change, count, model, rng, wandered, rounds, false);
    if (gate_confirm(cases, count, &rules, false) == 0) return;
    if (rounds < GATE_EXTENDED_ROUNDS) rounds = GATE_EXTENDED_ROUNDS;
    simulate_second_stage(cases, change, count, model, rng, wandered, rounds, true);
    gate_confirm(cases, count, &rules, true);
}

struct simulated_counts {
    int runs, runs_with[VERDICTS]; /* gates; with one such verdict or more */
    int cases, of[VERDICTS];       /* of the cases that were counted */
};

/* `runs` gates of `count` cases. The first `changed` cases are changed, and only these are
 * counted; without any, all are. */
static inline struct simulated_counts simulate_gates(const struct launch_model *model, int runs,
                                                     int count, int changed, double change,
                                                     uint64_t seed)
{
    struct simulated_counts counts = {0};
    struct gate_case *cases = calloc((size_t)count, sizeof *cases);
    double *changes = calloc((size_t)count, sizeof *changes);
    struct rng rng;
    if (!cases || !changes) abort();
    rng_seed(&rng, seed);
    for (int run = 0; run < runs; run++) {
        bool seen[VERDICTS] = {false};
        for (int i = 0; i < count; i++)
            changes[i] = (i < changed ? log1p(change) : 0) + simulated_bias(&rng, model);
        simulate_gate(cases, changes, count, model, &rng);
        for (int i = 0; i < (changed ? changed : count); i++) {
            seen[cases[i].verdict] = true;
            counts.of[cases[i].verdict]++;
            counts.cases++;
        }
        for (int v = 0; v < VERDICTS; v++)
            counts.runs_with[v] += seen[v];
        counts.runs++;
    }
    free(cases);
    free(changes);
    return counts;
}

struct simulated_finds {
    int tried, found; /* PASSes; those of which a change of as much as they say is REGRESSED */
    double mean;      /* of what they say, a fraction */
};

/* Of `count` cases the last `changed` are 5 % slower. Where the first one passes, another gate
 * in which it is slowed by what the PASS says it would have found. */
static inline struct simulated_finds simulate_finds(const struct launch_model *model, int runs,
                                                    int count, int changed, uint64_t seed)
{
    struct simulated_finds finds = {0};
    struct gate_case *cases = calloc((size_t)count, sizeof *cases);
    double *changes = calloc((size_t)count, sizeof *changes);
    struct rng rng;
    if (!cases || !changes) abort();
    rng_seed(&rng, seed);
    for (int i = 0; i < changed; i++)
        changes[count - 1 - i] = log1p(0.05);
    for (int run = 0; run < runs; run++) {
        changes[0] = 0;
        simulate_gate(cases, changes, count, model, &rng);
        if (cases[0].verdict != VERDICT_PASS || isnan(cases[0].mde)) continue;
        finds.tried++;
        finds.mean += cases[0].mde;
        changes[0] = log1p(cases[0].mde);
        simulate_gate(cases, changes, count, model, &rng);
        finds.found += cases[0].verdict == VERDICT_REGRESSED;
    }
    finds.mean /= finds.tried;
    free(cases);
    free(changes);
    return finds;
}

enum { SESSION_LAUNCHES = 5 };

/* Whether a case that is unchanged is called slower by a gate against a stored run: `runs` runs of
 * history, the newest two of them the base, each and the candidate shifted by its session. */
static inline bool simulated_stored_regressed(struct rng *rng, double session, int runs,
                                              bool with_fence)
{
    struct history_point points[FENCE_MOST_CHANGES + 1];
    struct history_series series = {.points = points, .point_count = runs};
    double base[2 * SESSION_LAUNCHES], candidate[SESSION_LAUNCHES + 1];
    for (int i = 0; i < runs; i++) {
        double shift = session * simulated_normal(rng), launch[SESSION_LAUNCHES];
        for (int j = 0; j < SESSION_LAUNCHES; j++)
            launch[j] = shift + 0.005 * simulated_normal(rng);
        if (i >= runs - 2) memcpy(base + SESSION_LAUNCHES * (i - runs + 2), launch, sizeof launch);
        points[i] = (struct history_point){
            .run = i, .time_ns = 1000 * exp(stats_median(launch, SESSION_LAUNCHES))};
    }
    double shift = session * simulated_normal(rng), floor = 0.02;
    for (int i = 0; i <= SESSION_LAUNCHES; i++)
        candidate[i] = shift + 0.005 * simulated_normal(rng);
    if (with_fence) floor = fmax(floor, history_fence(&series, 0));
    return rank_sum_p(base, 2 * SESSION_LAUNCHES, candidate, SESSION_LAUNCHES + 1, log1p(floor),
                      SIDE_GREATER) <= 0.025;
}
