/*
 * gate.h - the decision of the gate, from the log ratios of paired launches to verdicts.
 * Pure, so that simulations can call it a million times.
 *
 * A round is one launch of each program, one after the other on one device; its value for
 * a case is ln(candidate median) - ln(base median).
 *
 *   screen   six rounds of all cases. A case that is shown to be neither slower nor
 *            faster than the floor allows is decided; the others are suspects, and so is
 *            one with too few valid rounds.
 *   confirm  ten or more fresh rounds, never pooled with the screen, judge the suspects:
 *            a change counts if its p-value against the floor passes Holm's step-down
 *            procedure over all suspects. Fresh data are independent of how the suspects
 *            were chosen, so for unchanged code the probability of any REGRESSED is at
 *            most alpha, however many cases there are, if rounds are independent and no build is
 *            slower in all of its launches by how it lies in memory (gate_layout).
 *   extend   once, to twenty rounds, for suspects that are still open; alpha is split
 *            4:1 between the two looks.
 *
 * In the second stage each round launches the base a second time (the null arm). If the
 * same test finds a change between base and base, the measurement is at fault and the
 * verdict is UNSTABLE.
 *
 * Slower and faster are treated alike: swapping the programs swaps REGRESSED and IMPROVED.
 * PASS means only "not slower". It has a chance at alpha in the screen and in each look, so of
 * cases slower by exactly the floor up to 2 alpha pass.
 */
#pragma once

#include "judge/gate_rounds.h"
#include "judge/verdict.h"

enum {
    GATE_SCREEN_ROUNDS = 6,
    GATE_CONFIRM_ROUNDS = 10,
    GATE_EXTENDED_ROUNDS = 20, /* in the second stage, when extended */
    GATE_LEAST_ROUNDS = 5,     /* fewer cannot be significant at 5 % */
};

struct gate_rules {
    double alpha; /* family-wise error rate of the whole gate */
    bool extend;
};

/* State of one direction, slower or faster. */
struct gate_side {
    bool suspect;  /* after the screen */
    bool changed;  /* shown beyond the floor */
    bool excluded; /* shown within it */
};

struct gate_case {
    /* given */
    bool settled;     /* before any round: new, missing or failed */
    double threshold; /* smallest change that counts, a fraction */
    double noise;     /* noise floor, a fraction; NAN unknown */
    double quantum;   /* what the clock can tell apart, a fraction; 0 or NAN unknown */
    struct gate_rounds screen, confirm, null;
    /* Rounds of the screen of two builds that do the same in this case: its own where both run
     * identical machine code, or the base and a second build of it; none. */
    struct gate_rounds twin;
    /* found */
    double floor;  /* the largest of the three and the layout's, a fraction */
    double layout; /* how far builds that do the same differ in the cases of this gate; NAN */
    struct gate_side slower, faster;
    bool null_tripped;
    enum verdict verdict;
    struct interval change; /* log ratio with 95 % interval, from the stage that decided */
    int rounds;             /* in that stage */
    double mde;             /* minimum detectable effect at 80 % power with as many suspects,
                               by the normal approximation, a fraction; NAN unknown */
    const char *reason;     /* "" none */
};

/* How far two builds that do the same may differ by how they lie in memory: a bias of a build lasts
 * through all of its launches, so no number of rounds averages it out. From the twins of all cases,
 * if there are GATE_LEAST_TWINS or more: their differences, less what six rounds scatter by
 * themselves, are taken as normal draws, of which no further one of `count` exceeds the result, a
 * fraction, with probability 1 - alpha. The largest tenth is left out, as a case that did change
 * may be among them. NAN: unknown. */
enum { GATE_LEAST_TWINS = 10 };
double gate_layout(const struct gate_case *cases, int count, double alpha);

/* Judge the screen; returns the number of suspects. The other cases have their verdict. */
int gate_screen(struct gate_case *cases, int count, const struct gate_rules *rules);

/* Number of rounds that the second stage needs: a suspect can pass Holm's procedure only if
 * 2^-rounds is small enough for the number of suspects. At most SIGNED_RANK_MAX. */
int gate_confirm_rounds(const struct gate_case *cases, int count, const struct gate_rules *rules);

/* Judge the second stage; returns how many suspects are still open. `extended`: this is the
 * second look. */
int gate_confirm(struct gate_case *cases, int count, const struct gate_rules *rules, bool extended);

/* Whether a case needs more rounds: a suspect with an undecided direction. */
bool gate_is_open(const struct gate_case *one);
