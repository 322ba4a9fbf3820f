/*
 * measure.h - one group, measured: every variant set up, checked, timed in
 * interleaved rounds, and checked again. docs/method.md explains each choice.
 *
 * Runs in the worker. Figures go out through `results`; what a variant does
 * wrong becomes the status of its own case.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "device/device.h"
#include "device/measure_request.h"
#include "measure/wire.h"

/* How a group ended. */
struct measure_outcome {
    bool broken; /* the device can be used no more; a new worker must go on */
    int culprit; /* index of the variant that broke it; -1: none */
    char reason[ASSAY_MAX_REASON];
};

/* Fill results[i] for each variant (call result_init first). When the outcome
 * is broken the results are not to be used. -1 with assay_error when the group
 * could not begin (no memory for its buffers, no input); the results then say
 * what they are of, and nothing more. */
int measure_group(const struct device_ops *ops, struct device *device, struct board *board,
                  const struct measure_request *request, struct case_result *results,
                  struct measure_outcome *outcome);

#endif
