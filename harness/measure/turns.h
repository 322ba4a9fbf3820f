/*
 * turns.h - a variant and its twins (case/twins.h), launched in turns: in each turn every one of
 * them once, in an order shuffled by the seed, on the same buffers. Whatever slows the device down
 * falls on all alike, and where the twins are the same code each order was as likely as any other,
 * which is what the test of judge/twin.h rests on.
 */
#pragma once

#include "measure/measurement.h"

/* Whether the samples of the base and the candidate decide between them; both have `turns`, a
 * number of turns that is looked at (case/twins.h), with NAN for those that are not valid. */
typedef bool turns_rule(const float *base, const float *candidate, int turns,
                        const struct twin_goal *goal);

/* By which rule turns end: the judge stands above this room. Said once, when the program starts;
 * without one they end by the budget. */
void turns_end_by(turns_rule *rule);

/* Take turns of each variant and its twins, one variant after the other, until the rule decides or
 * the budget is spent; a variant without a base beside it is timed by itself. *last is a number of
 * turns that none has taken. 0, or -1 when the device is broken. */
int turns_run(struct measure_context *context, int *last);
