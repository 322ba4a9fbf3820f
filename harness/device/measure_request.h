/*
 * measure_request.h - what is asked of a device's worker: one group, with the variants to
 * measure. A device may put stubs into it (device_ops.stage).
 */
#ifndef MEASURE_REQUEST_H
#define MEASURE_REQUEST_H

#include "suite/plan.h"

struct profile; /* profile.h */

struct measure_request {
    struct assay_shape shape;
    enum assay_temperature temperature;
    double budget_s, precision_pct, energy_s;
    const char *baseline; /* "" the operation's own choice */
    uint64_t seed;
    bool check_only;      /* check the answers, time nothing */
    int launch;           /* number in its run, from 1 */
    uint64_t launch_seed; /* the same for every group of the launch */
    int count;
    const struct assay_variant *variant[PLAN_MAX_VARIANTS];
    const char *counters;         /* of the profiles: counter_list of counter_sets.h */
    struct profile *profiles;     /* one a variant, filled where it is ok; NULL: not wanted */
    bool lost[PLAN_MAX_VARIANTS]; /* its result is not sent: a device that plays a lost case */
};

#endif
