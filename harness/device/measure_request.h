/*
 * measure_request.h - one group that a worker is to measure, with its variants. A
 * simulated device replaces operation and variants by stubs (device_ops.stage).
 */
#pragma once

#include "case/twins.h"
#include "device/profile.h"
#include "suite/plan.h"

struct measure_request {
    struct assay_shape shape;
    enum assay_temperature temperature;
    double budget_s, precision_pct, energy_s;
    char baseline[ASSAY_MAX_NAME]; /* "": the operation's choice */
    uint64_t seed;
    bool check_only;        /* check the results, time nothing */
    int launch;             /* number in the run, from 1 */
    uint64_t launch_seed;   /* the same for all groups of a launch */
    struct twin_goal twins; /* of each variant and its twins; floor 0: there are none */
    int count;
    const struct assay_variant *variant[PLAN_MAX_VARIANTS];
    char counters[PROFILE_MAX_LIST]; /* counters to profile: counter_list of counter_sets.h */
    struct profile *profiles;        /* one per variant, filled if it is ok; NULL: not wanted */
    /* One per variant that can be launched, and nothing is checked or timed; NULL: not wanted. */
    struct fingerprint *prints;
    bool lost[PLAN_MAX_VARIANTS]; /* do not send the result: simulates a missing case */
};
