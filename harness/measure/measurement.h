/*
 * measurement.h - one variant in the course of its group: prepared, sampled in
 * blocks, finished, torn down. Every step ends with the device synchronised,
 * so that a failure belongs to the variant that caused it.
 */
#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include "measure/measure.h"
#include "measure/verify.h"

/* What all measurements of a group share. */
struct measure_context {
    const struct device_ops *ops;
    struct device *device;
    struct board *board;
    const struct measure_request *request;
    struct buffers buffers;
    struct verifier verifier;
    double state_read_s; /* when the device's state was last read */
    struct device_state state;
};

enum measurement_phase {
    MEASUREMENT_RUNNING, /* prepared and right so far */
    MEASUREMENT_SETTLED, /* its target is met; a baseline goes on all the same */
    MEASUREMENT_OVER,    /* failed: result->status says how */
};

struct measurement {
    int index; /* in the request */
    const struct assay_variant *variant;
    struct case_result *result;
    struct assay_call call;
    enum measurement_phase phase;
    bool set_up;

    int block_count; /* samples a block */
    bool lengthy;    /* a launch takes LENGTHY_S or more */
    double hold_ns;  /* how long the queue is held while the host enqueues */
    double spent_s;  /* in blocks */
    int rounds;
    int next_decision; /* samples at which to ask again whether it is settled */

    int count, capacity; /* samples so far */
    struct block_sample *samples;
    uint16_t *round;
    int wall_count, wall_capacity;
    float *wall_ns;
    uint16_t *wall_round;
    struct code_seen code;

    int state_count;
    double sm_mhz_sum, power_w_sum, temperature_max_c;
    double energy_mj; /* a launch; NAN not measured */
};

/* Set up, launch once, check. 0, or -1 when the device is broken; a variant
 * that is merely wrong or failing is MEASUREMENT_OVER. */
int measurement_prepare(struct measurement *measurement, struct measure_context *context);

/* One block of samples in round `round`. */
int measurement_block(struct measurement *measurement, struct measure_context *context, int round);

/* Poison, one last timed block, check again; then the energy, if asked for. */
int measurement_finish(struct measurement *measurement, struct measure_context *context, int round);

/* Take one launch apart, into a profile that names the counters wanted; a launch that
 * fails puts the measurement out. -1 when the device is broken. */
int measurement_profile(struct measurement *measurement, struct measure_context *context,
                        struct profile *profile);

/* Reduce the samples into the result. */
int measurement_summarise(struct measurement *measurement, const struct measure_context *context);

void measurement_teardown(struct measurement *measurement, struct measure_context *context);
void measurement_release(struct measurement *measurement);

/* The stopping rule. Pure. `values` are unmarked samples and get sorted. A case
 * whose samples are so long that 30 of them take MEASURE_LONG_S and several
 * budgets ends with fewer: 8 still give a 99 % interval of the median. */
enum {
    MEASURE_MIN_SAMPLES = 30,
    MEASURE_FEW_SAMPLES = 8,
    MEASURE_LONG_S = 2,
    MEASURE_LONG_BUDGETS = 4,
    MEASURE_MIN_ROUNDS = 8, /* enough for a sign-test interval on ratios by round */
    MEASURE_MAX_SAMPLES = 20000,
};
bool measure_settled(double *values, int count, int rounds, double precision_pct, double spent_s,
                     double budget_s);

/* The energy of a launch from a block's, mJ: where the block is long enough for the
 * counter and almost all of it is launches of `sample_s` each. NAN otherwise. Pure. */
double measure_block_energy(double energy_mj, double block_s, double sample_s, int launches);

#endif
