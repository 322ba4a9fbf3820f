/*
 * sim_model.h - the times of a simulated device. Pure: each is a function of the
 * spec, the launch's seed, the case and a count, so that the same words give the
 * same figures on every machine, whatever order cases are measured in.
 *
 * The law: a case takes a fixed time; each launch shifts it by a log-normal
 * factor of its own and may put it in a second, slower mode; each sample varies
 * about that by another log-normal factor, three in a hundred with a spike on
 * top; drift grows with simulated time; a throttled block takes longer whole.
 * That time varies on several levels, and most at the level of launches, is the
 * finding of Kalibera and Jones ("Rigorous benchmarking in reasonable time",
 * ISMM 2013); two levels and a second mode are the least that has it.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "case/result.h"
#include "device/sim/sim_spec.h"

/* One launch of the simulated device. */
struct sim_launch {
    uint64_t seed;  /* of the spec and the launch */
    double start_s; /* simulated time when it begins */
};

/* One case in one launch. */
struct sim_case {
    uint64_t seed;  /* of all its samples and blocks */
    double time_ns; /* the middle of its samples, before drift and throttling */
    bool in_mode;   /* in the second mode */
};

/* Launch `number` (from 1) begins in minute `number` - 1, at a second drawn. */
struct sim_launch sim_launch_begin(const struct sim_spec *spec, uint64_t launch_seed, int number);

/* The case's time without any deviation: 2 us, its bytes at 4 TB/s, its operations
 * at 100 Top/s, and up to a half more that its identity decides. No seed is in it. */
double sim_fixed_ns(const struct case_id *id, const struct assay_work *work);

struct sim_case sim_case_begin(const struct sim_spec *spec, const struct sim_launch *launch,
                               const struct case_id *id, const struct assay_work *work);

/* Whether block number `block` of a case is throttled. */
bool sim_is_throttled(const struct sim_spec *spec, const struct sim_case *at, int64_t block);

/* The time of sample number `sample` of a case at simulated time `now_s`. */
double sim_sample_ns(const struct sim_spec *spec, const struct sim_case *at, int64_t sample,
                     double now_s, bool throttled);

#endif
