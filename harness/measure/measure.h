/*
 * measure.h - measures one group: every variant is set up, checked, timed in interleaved
 * rounds, and checked again. docs/method.md explains each choice.
 *
 * Runs in the worker. A failure of a variant becomes the status of its case.
 */
#pragma once

#include "measure/wire.h"

/* Fill results[i] for each variant (call result_init first). If the outcome is broken, the
 * results must not be used. -1 with assay_error when the group could not begin (no memory
 * for its buffers, no input); the results then contain only the case's identity and work. */
int measure_group(const struct device_ops *ops, struct device *device, struct board *board,
                  const struct measure_request *request, struct case_result *results,
                  struct measure_outcome *outcome);
