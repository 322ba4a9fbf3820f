/*
 * fingerprint_pass.h - the fingerprints of a group's variants (case/fingerprint.h): each is set up
 * once and launched twice while the device traces it. Nothing is checked and nothing timed.
 */
#pragma once

#include "measure/measurement.h"

/* As measure.c's other passes: -1 when the device is broken, by context->culprit. */
int fingerprint_group(struct measure_context *context);
