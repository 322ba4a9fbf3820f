/*
 * gate_rounds.h - the values of a case in the rounds of a gate, or in the blocks of its turns, and
 * what is tested of them: whether a change is beyond a floor, or within it. Pure.
 */
#pragma once

#include "judge/gate_stats.h"

/* Log ratios, without NAN. */
struct gate_rounds {
    double value[SIGNED_RANK_MAX];
    int count;
};

/* One-sided p of "the change is beyond the floor on this side", and of "it is within it"; the floor
 * is a fraction. 1 without a value. */
double rounds_p_changed(const struct gate_rounds *rounds, double floor, enum side side);
double rounds_p_within(const struct gate_rounds *rounds, double floor, enum side side);

/* Whether unchanged code is beyond the floor in either direction, at this level without correction:
 * voiding a verdict is the safe error. */
bool rounds_trip(const struct gate_rounds *rounds, double floor, double alpha);

/* The variance of one value, from a spread that is right for few of them; NAN for fewer than two.
 */
double rounds_variance(const struct gate_rounds *rounds);
