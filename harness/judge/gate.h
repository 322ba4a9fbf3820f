/*
 * gate.h - the decision of the gate: from the log ratios of paired launches to
 * verdicts. Pure, so that simulations call it a million times.
 *
 * A round is one launch of each program, side by side on one device; its value
 * for a case is ln(candidate median) - ln(base median).
 *
 *   screen   six rounds of everything. A case is settled when it is shown to be
 *            neither slower nor faster than the floor allows; the rest are suspects.
 *   confirm  ten or more fresh rounds, never pooled with the screen, judge the
 *            suspects: a change counts when its p against the floor passes Holm's
 *            step-down over all suspects. Fresh data are independent of how the
 *            suspects were chosen, so a gate of unchanged code calls anything
 *            REGRESSED with probability alpha at most, however many cases it has.
 *   extend   once, to twenty rounds, for what is still open; alpha is split 4:1
 *            between the two looks.
 *
 * The base rides a second time in every round of the second stage (the null arm).
 * Where unchanged code trips the same test, the instrument is at fault and the
 * verdict is UNSTABLE.
 *
 * Slower and faster are treated alike throughout: swapping the programs swaps
 * REGRESSED with IMPROVED. PASS says only "not slower", its mirror "not faster".
 */
#ifndef GATE_H
#define GATE_H

#include "judge/gate_stats.h"
#include "judge/verdict.h"

enum {
    GATE_SCREEN_ROUNDS = 6,
    GATE_CONFIRM_ROUNDS = 10,
    GATE_EXTENDED_ROUNDS = 20, /* of the second stage, when extended */
    GATE_LEAST_ROUNDS = 5,     /* fewer can show nothing at 5 % */
};

struct gate_rules {
    double alpha; /* of the whole gate */
    bool extend;
};

/* Values of one stage, NAN left out by the caller. */
struct gate_rounds {
    double value[SIGNED_RANK_MAX];
    int count;
};

/* What is known of one direction. */
struct gate_side {
    bool suspect;  /* after the screen */
    bool changed;  /* shown beyond the floor */
    bool excluded; /* shown within it */
};

struct gate_case {
    /* given */
    double threshold; /* smallest change that counts, a fraction */
    double noise;     /* noise floor, a fraction; NAN not known */
    double quantum;   /* two steps of the clock, a fraction; 0 unknown */
    struct gate_rounds screen, confirm, null;
    /* found */
    double floor; /* the largest of the three, a fraction */
    struct gate_side slower, faster;
    bool null_tripped;
    enum verdict verdict;
    struct interval change; /* log ratio, of the stage that decided, 95 % */
    int rounds;             /* of it */
    double mde;             /* smallest change found about 4 times in 5, by the normal law and
                               beside as many suspects, a fraction; NAN not known */
    const char *reason;     /* "" none */
};

/* Judge the screen; returns how many suspects there are. Cases without them have
 * their verdict. */
int gate_screen(struct gate_case *cases, int count, const struct gate_rules *rules);

/* Rounds of the second stage that so many suspects need: one among them can pass
 * Holm only when 2^-rounds is small enough. At most SIGNED_RANK_MAX. */
int gate_confirm_rounds(const struct gate_case *cases, int count, const struct gate_rules *rules);

/* Judge the second stage; returns how many suspects are still open, which is what
 * an extension is for. `extended`: this is the second look. */
int gate_confirm(struct gate_case *cases, int count, const struct gate_rules *rules, bool extended);

/* Whether a case is to be measured again: a suspect of which one direction is
 * not decided. */
bool gate_is_open(const struct gate_case *one);

#endif
