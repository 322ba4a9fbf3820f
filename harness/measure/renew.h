/*
 * renew.h - in the middle of a group's measurement, other inputs at other addresses: what a
 * variant prepared in its setup, or kept from a launch, is then the answer to another
 * question.
 */
#pragma once

#include "measure/measurement.h"

/* Move the group to a second set of buffers, where memory allows it, and set its variants up
 * again on it; launch them; draw parts of the inputs that are not constant anew; launch and check,
 * first without poison, so that a variant which works only where its outputs were poisoned is
 * wrong. A variant whose setup or launch is lengthy keeps its setup and its buffers, in which the
 * same inputs are drawn. The outputs expected from then on are those of the new inputs. 0, or -1
 * with *culprit when the device is broken. */
int renew_inputs(struct measure_context *context, struct measurement *measurements, int *culprit);
