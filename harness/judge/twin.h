/*
 * twin.h - the decision between two builds whose launches were shuffled in one process
 * (measure/turns.h). Pure.
 *
 * In each turn candidate, base and a second copy of the base ran once, in random order. The model
 * is that a launch takes what it would have taken at that moment with the base's code, times a
 * constant (Rosenbaum, Observational Studies, 2nd ed., 2002, section 2.4). Nothing is assumed of
 * the moments: the shuffle makes every swap of the sides as likely as none, whatever drifts,
 * wanders, steps or jumps, so that the differences of blocks of turns have random signs around the
 * constant, and the signed-rank test of them (gate_stats.h) is exact.
 *
 *   blocks  the turns so far are parted into 64 blocks of equal length (fewer turns: each by
 *           itself); the value of a block is the difference of the logarithms of both sides' mean
 *           times in it. Outliers are first brought nearer, by limits that both sides have
 *           together. Means, as a time below the clock's steps is only in how often each step is
 *           read (clock_steps.h).
 *   looks   after 16, 32, 64 ... turns, and at the end of the time. Each of the twelve at most has
 *           an equal share of the error rate, which so holds whenever turns end (spending as in Lan
 *           and DeMets, Biometrika 70, 1983, by the union bound).
 *   floor   the largest of the threshold, what the clock can tell, what copies of the same code
 *           differ by in the cases of this gate, and TWIN_MEMORY for a case with memory of its own.
 *
 * REGRESSED and IMPROVED are told at alpha over all cases and both directions (Bonferroni), PASS
 * for each case by itself at 5 %.
 */
#pragma once

#include "case/twins.h"
#include "judge/gate.h"

/* Smallest change that counts where nobody says: half of a per cent can be told of most cases. */
#define TWIN_THRESHOLD 0.005

/* What a case that allocates in its setup may differ by, a fraction, since each copy's memory lies
 * elsewhere: twice what was seen of unchanged code on an H200. The shuffle does not even it out. */
#define TWIN_MEMORY 0.02

/* Error rate of REGRESSED and IMPROVED, for all cases of a gate together. */
#define TWIN_ALPHA 0.01
/* The share of it that a case has in one direction. */
double twin_alpha_of(int cases);

struct twin_case {
    /* given */
    const float *base_ns, *candidate_ns, *null_ns; /* by turn; NAN: not valid. null_ns: or NULL */
    int turns;
    double threshold; /* smallest change that counts, a fraction */
    double quantum;   /* what the clock can tell apart, a fraction; 0 unknown */
    bool on_host;     /* where code lies matters on a CPU: 10 % of 15 us were seen */
    bool has_memory;  /* its setup allocates, on a GPU */
    /* found */
    double floor, layout; /* fractions; layout NAN: unknown */
    enum verdict verdict;
    const char *reason;     /* "" none */
    struct interval change; /* log ratio with 95 % interval, which holds whenever turns end */
    double p_slower, p_faster, mde;
};

/* The values of the blocks of the first `turns` turns; none without a valid turn on both sides, or
 * without memory. */
void twin_blocks(const float *base_ns, const float *other_ns, int turns,
                 struct gate_rounds *blocks);

/* What the clock can tell apart, as a fraction of the base's time: 0 where it has no steps to speak
 * of, or without memory. */
double twin_quantum(const float *base_ns, const float *candidate_ns, int turns);

/* A turns_rule: whether a look at so many turns decides. */
bool twin_is_decided(const float *base_ns, const float *candidate_ns, int turns,
                     const struct twin_goal *goal);

/* Judge all cases of a gate. Returns what copies of the same code differ by in it by where they
 * lie, a fraction; NAN: unknown. */
double twin_judge(struct twin_case *cases, int count);
