/*
 * measure.h - measures one group: every variant is set up, checked, timed in interleaved
 * rounds, and checked again. docs/method.md explains each choice.
 *
 * Runs in the worker. A failure of a variant becomes the status of its case.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "device/device.h"
#include "device/measure_request.h"
#include "measure/wire.h"

/* How a group ended. */
struct measure_outcome {
    bool broken; /* the device is unusable; a new worker must continue the run */
    int culprit; /* index of the variant that broke it; -1: none */
    char reason[ASSAY_MAX_REASON];
};

/* Fill results[i] for each variant (call result_init first). If the outcome is broken, the
 * results must not be used. -1 with assay_error when the group could not begin (no memory
 * for its buffers, no input); the results then contain only the case's identity and work. */
int measure_group(const struct device_ops *ops, struct device *device, struct board *board,
                  const struct measure_request *request, struct case_result *results,
                  struct measure_outcome *outcome);

#endif
