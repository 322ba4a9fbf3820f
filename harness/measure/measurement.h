/*
 * measurement.h - the measurement of one variant within its group: prepared, sampled in
 * blocks, finished, torn down. The device is synchronised at the end of every step, so
 * that a failure is reported for the variant that caused it.
 */
#pragma once

#include "measure/measure.h"
#include "measure/verify.h"
#include "measure/witness.h"

/* Shared by all measurements of a group. */
struct measure_context {
    const struct device_ops *ops;
    struct device *device;
    struct board *board;
    const struct measure_request *request;
    struct measurement *measurements; /* of each variant of the request */
    int culprit;                      /* whose code runs; -1: none's */
    struct buffers buffers;
    struct buffers moved; /* a second set, from the renewal on (renew.h); empty: none */
    struct verifier verifier;
    bool renewing;
    struct witness witness;
    double state_read_s; /* when `state` was last read */
    struct device_state state;
};

enum measurement_phase {
    MEASUREMENT_RUNNING, /* prepared and correct so far */
    MEASUREMENT_SETTLED, /* the stopping rule is met; a baseline is still sampled */
    MEASUREMENT_OVER,    /* failed or skipped: see result->status */
};

struct measurement {
    int index; /* in the request */
    const struct assay_variant *variant;
    struct case_result *result;
    struct assay_shape shape; /* a copy: a variant that changes it harms itself alone */
    struct assay_call call;
    struct buffers *buffers; /* those of the call: context->buffers or ->moved */
    bool passed;             /* the last check passed; the next two are of that check */
    uint64_t passed_inputs;  /* input_seed of the inputs */
    uint64_t passed_sum;     /* checksum of the outputs */
    enum measurement_phase phase;
    bool set_up;

    int block_count;          /* samples per block */
    bool lengthy;             /* a launch takes at least LENGTHY_S */
    bool costly;              /* a launch takes a large part of the budget: checks make fewer */
    double setup_s, launch_s; /* how long the last setup and the last launch outside blocks took */
    double hold_ns;           /* how long the stream is held while the host enqueues */
    double spent_s;           /* time spent in blocks */
    int rounds;
    int next_decision; /* number of samples at which the stopping rule is next checked */

    struct samples samples; /* so far */
    struct code_seen code;

    int state_count;
    double sm_mhz_sum, power_w_sum, temperature_max_c;
    double energy_mj; /* per launch; NAN not measured */
};

/* Let the call have this set of buffers. Before its setup. */
void measurement_use(struct measurement *measurement, struct buffers *buffers);

/* Set up, launch once, check. 0, or -1 when the device is broken; for a variant that fails
 * or is wrong the phase becomes MEASUREMENT_OVER. The same holds for the functions below. */
int measurement_prepare(struct measurement *measurement, struct measure_context *context);

/* Take one block of samples in round `round`. */
int measurement_block(struct measurement *measurement, struct measure_context *context, int round);

/* The block that takes so many samples of it. */
struct block measurement_block_of(const struct measurement *measurement,
                                  const struct measure_context *context, int count);
/* Keep the samples of a block in which variants took turns: the sample of each turn is with the
 * measurement that `whose` says, as one of round `round` + its turn, `a_turn` samples a turn. -1
 * with assay_error. */
int measurement_keep_turns(struct measurement *measurements, const int *whose,
                           struct block_sample *samples, int count, int a_turn,
                           struct measure_context *context, int round);

/* Take a last timed block and then single launches, each with poisoned outputs and a check;
 * then measure the energy if the request asks for it. */
int measurement_finish(struct measurement *measurement, struct measure_context *context, int round);

/* Profile one launch; `profile` names the counters to read. */
int measurement_profile(struct measurement *measurement, struct measure_context *context,
                        struct profile *profile);

/* Compute the result from the samples, and hand these over to it (summary.c). */
int measurement_summarise(struct measurement *measurement, const struct measure_context *context);

/* Copy the unmarked values of a series that are numbers; returns how many. `mark` may be NULL. */
int samples_unmarked(const float *series, const uint8_t *mark, int count, double *out);

void measurement_teardown(struct measurement *measurement, struct measure_context *context);
void measurement_release(struct measurement *measurement);

/* The stopping rule. Pure. `values` are the unmarked samples; they are sorted. A case whose
 * samples are so long that it has taken MEASURE_LONG_S and several budgets may end with
 * fewer than 30 samples: 8 are enough for a 99 % confidence interval of the median. */
enum {
    MEASURE_MIN_SAMPLES = 30,
    MEASURE_FEW_SAMPLES = 8,
    MEASURE_LONG_S = 2,
    MEASURE_LONG_BUDGETS = 4,
    MEASURE_MIN_ROUNDS = 8, /* enough for a sign-test confidence interval of ratios by round */
    MEASURE_MAX_SAMPLES = 20000,
};
bool measure_settled(double *values, int count, int rounds, double precision_pct, double spent_s,
                     double budget_s);

/* Energy per launch in mJ, from that of a block. NAN unless the block is long enough for
 * the resolution of the counter and consists almost only of launches of `sample_s` each.
 * Pure. */
double measure_block_energy(double energy_mj, double block_s, double sample_s, int launches);
