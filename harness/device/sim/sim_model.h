/*
 * sim_model.h - the times of a simulated device. Pure: each time is a function of the
 * spec, the launch's seed, the case and a count, so that the same spec gives the same
 * times on every machine, in whatever order cases are measured.
 *
 * The model: a case takes a fixed time. Each launch multiplies it by a log-normal factor
 * and may put it in a second, slower mode. Each sample varies around that by another
 * log-normal factor; 3 % of the samples have a spike on top. Drift grows with simulated
 * time, and a throttled block is slower as a whole. The clock may advance in steps. That times vary
 * on several levels, most of all between launches, is the finding of Kalibera and Jones ("Rigorous
 * benchmarking in reasonable time", ISMM 2013); two levels and a second mode are the
 * simplest model of it.
 */
#pragma once

#include "case/result.h"
#include "device/sim/sim_spec.h"

/* One launch of the simulated device. */
struct sim_launch {
    uint64_t seed;  /* from the spec's and the launch's seed */
    double start_s; /* simulated time when it begins */
};

/* One case in one launch. */
struct sim_case {
    uint64_t seed;  /* for all its samples and blocks */
    double time_ns; /* median of its samples, before drift and throttling */
    bool in_mode;   /* in the second mode */
};

/* Launch `number` (from 1) begins in minute `number` - 1, at a random second. */
struct sim_launch sim_launch_begin(const struct sim_spec *spec, uint64_t launch_seed, int number);

/* The time of a case without any variation: 2 us, its bytes at 4 TB/s and its operations
 * at 100 Top/s, times a factor of 1 to 1.5 derived from its name. Independent of the seed. */
double sim_fixed_ns(const struct case_id *id, const struct case_work *work);

struct sim_case sim_case_begin(const struct sim_spec *spec, const struct sim_launch *launch,
                               const struct case_id *id, const struct case_work *work);

/* Whether block number `block` of a case is throttled. */
bool sim_is_throttled(const struct sim_spec *spec, const struct sim_case *at, int64_t block);

/* The time of sample number `sample` of a case at simulated time `now_s`. */
double sim_sample_ns(const struct sim_spec *spec, const struct sim_case *at, int64_t sample,
                     double now_s, bool throttled);
