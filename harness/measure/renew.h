/*
 * renew.h - changes the inputs and moves the buffers in the middle of a group's measurement, so
 * that an answer is wrong which a variant prepared in its setup or kept from an earlier launch.
 */
#pragma once

#include "measure/measurement.h"

/* Move the group to a second set of buffers, where there is memory for it: tear its variants down,
 * set them up again on it and launch them. Then draw parts of the inputs that are not constant
 * anew, in place, and check two launches of each variant (step_checked_launches). A variant whose
 * setup or launch is costly keeps its setup and its buffers, in which the same inputs are drawn.
 * From then on the outputs of the new inputs are expected. 0, or -1 with context->culprit when the
 * device is broken. */
int renew_inputs(struct measure_context *context);
