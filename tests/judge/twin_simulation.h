/*
 * twin_simulation.h - turns of two builds and a copy, drawn from a model of what may happen to a
 * device meanwhile. A model, not a measurement.
 */
#pragma once

#include <math.h>

#include "base/rng.h"
#include "case/twins.h"
#include "judge/twin.h"

/* Deviations are of ln(time). */
struct turn_model {
    const char *name;
    double noise;         /* of each launch by itself */
    double wander, rho;   /* of a wander from launch to launch, and its correlation */
    double drift;         /* over all turns */
    double outlier_share; /* of launches that take up to twice as long */
    double jump_share;    /* of launches at which the device becomes slower or faster by 2 % */
    double time_ns, step_ns;
};

static const struct turn_model turn_models[] = {
    {"noise of 0.3 %", .noise = 0.003, .time_ns = 50000},
    {"wander of 1 % with rho 0.9", .noise = 0.001, .wander = 0.01, .rho = 0.9, .time_ns = 50000},
    {"drift of 5 %", .noise = 0.003, .drift = 0.05, .time_ns = 50000},
    {"clock steps of 32 ns at 2 us", .noise = 0.003, .time_ns = 2011, .step_ns = 32},
    {"clock steps of 32 ns at 610 ns", .noise = 0.003, .time_ns = 610, .step_ns = 32},
    {"1 launch in 50 up to twice as long", .noise = 0.003, .outlier_share = 0.02, .time_ns = 50000},
    {"jumps of 2 %", .noise = 0.003, .jump_share = 0.005, .time_ns = 50000},
    {"all of it", .noise = 0.003, .wander = 0.005, .rho = 0.9, .drift = 0.03, .outlier_share = 0.01,
     .jump_share = 0.002, .time_ns = 2500, .step_ns = 32},
};
enum { TURN_MODELS = sizeof turn_models / sizeof turn_models[0] };

static inline double turn_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Box and Muller; one value of the two. */
static inline double turn_normal(struct rng *rng)
{
    double u = 1 - turn_uniform(rng);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * turn_uniform(rng));
}

/* Base, candidate (slower by `change`, a log ratio) and null. */
enum { SIM_BASE, SIM_CANDIDATE, SIM_NULL, SIM_SIDES };
static inline void turns_draw(const struct turn_model *model, double change, int turns,
                              struct rng *rng, float *side[SIM_SIDES])
{
    double wander = model->wander * turn_normal(rng), level = 0;
    for (int turn = 0; turn < turns; turn++) {
        int order[SIM_SIDES] = {SIM_BASE, SIM_CANDIDATE, SIM_NULL};
        rng_shuffle(rng, order, SIM_SIDES);
        for (int i = 0; i < SIM_SIDES; i++) {
            double at = (turn + i / (double)SIM_SIDES) / turns;
            wander = model->rho * wander +
                     sqrt(1 - model->rho * model->rho) * model->wander * turn_normal(rng);
            if (turn_uniform(rng) < model->jump_share) level = level > 0 ? 0 : 0.02;
            double value = model->noise * turn_normal(rng) + wander + level + model->drift * at;
            if (order[i] == SIM_CANDIDATE) value += change;
            if (turn_uniform(rng) < model->outlier_share) value += log1p(turn_uniform(rng));
            double ns = model->time_ns * exp(value);
            if (model->step_ns > 0)
                ns = model->step_ns * floor(ns / model->step_ns + turn_uniform(rng));
            side[order[i]][turn] = (float)ns;
        }
    }
}
