/*
 * steps.h - one step of a variant (its setup, a launch, a check), and what follows when it fails.
 * A step returns 0, or -1 when the device is broken. For a variant that fails, is skipped or is
 * wrong the phase becomes MEASUREMENT_OVER.
 */
#pragma once

#include "measure/measurement.h"

/* The device's clock, since simulated time is not host time. */
double step_now_s(const struct measure_context *context);

void step_announce(const struct measure_context *context, const struct measurement *measurement,
                   enum board_step step);

/* The variant failed in `step`, with assay_error: its status is `crashed`, and it is torn down. */
int step_failed(struct measurement *measurement, struct measure_context *context,
                enum board_step step);

/* The measurement's outputs are wrong, for `reason`. */
void step_wrong(struct measurement *measurement, const struct measure_context *context,
                const char *reason);

/* Set up; measurement->setup_s is the time it took. */
int step_set_up(struct measurement *measurement, struct measure_context *context);

/* Launch `times` times and synchronise; measurement->launch_s is the time it took. */
int step_launch(struct measurement *measurement, struct measure_context *context,
                enum board_step step, int times);

/* Check the guards and inputs, and restore them. */
int step_intact(struct measurement *measurement, struct measure_context *context);

/* Check the outputs, guards and inputs. */
int step_check(struct measurement *measurement, struct measure_context *context);

/* After a check that passed: poison the outputs and check once more, without a launch. If a
 * variant with a check of its own passes again, it is the check that does the work. */
int step_control(struct measurement *measurement, struct measure_context *context);

/* Poison the outputs, launch exactly once, check. */
int step_checked_launch(struct measurement *measurement, struct measure_context *context,
                        enum board_step step);

/* `least` to `most` launches, as many as the seed says. */
int step_some_launches(struct measurement *measurement, struct measure_context *context, int least,
                       int most);

/* Check two launches, each after poisoning, so that a variant is wrong that works in every second
 * launch only, or does half of its work in each. Before the first, only a part of the outputs is
 * poisoned (buffers_poison_part). If launches are costly, only the first is made. */
int step_checked_launches(struct measurement *measurement, struct measure_context *context);
