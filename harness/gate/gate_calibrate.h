/*
 * gate_calibrate.h - how far unchanged code differs from itself: pairs of launches of
 * one program, stored as blocks of noise.
 *
 * A call is one session of the noise floor, however many blocks it makes. Each launch
 * is stored when it has ended. A block is stored when it is full, or, of GATE_LEAST_ROUNDS
 * pairs or more, when the calibration ends before: by its limit, a signal or a failure.
 */
#pragma once

#include "gate/gate_run.h"

struct calibrate_options {
    int blocks, rounds; /* pairs of launches a block */
    int limit_s;        /* no pair begins that would end later; 0: no limit */
    bool resume;        /* go on with the suite's last calibration */
};

struct calibration {
    int pairs, blocks, cases; /* made in all; cases: of the last block */
    int resumed;              /* of the pairs, those that were there already */
    double pair_s;            /* how long the last one took; NAN none */
};

/* An exit code: EXIT_FINE when a block was stored, EXIT_NOTHING when the limit was too short
 * for one, otherwise of what went wrong, with assay_error. */
int calibrate_run(struct store *store, const struct gate_options *gate,
                  const struct calibrate_options *options, struct calibration *made);
