/*
 * gate_run_state.h - what the parts of a gate share: gate_run.c (launches),
 * gate_judge.c (from their times to verdicts).
 */
#ifndef GATE_RUN_STATE_H
#define GATE_RUN_STATE_H

#include "compare.h"
#include "gate.h"
#include "gate_run.h"

/* The null arm is the base once more. */
enum arm { ARM_BASE, ARM_CANDIDATE, ARM_NULL, ARMS };

struct gate_run {
    struct store *store;
    const struct gate_options *options;
    struct compare_options compare;
    struct gate_rules rules;
    struct comparison *comparison;
    struct timings pool[ARMS]; /* launch i is that of round i; of the null arm: of
                                  round screen_rounds + i */
    int screen_rounds;
    int confirm_rounds; /* of the first look; the extension goes beyond */
    struct noise noise;
    char comparability[STORE_ID];
    char session[STORE_ID];
    uint64_t seed;
    struct gate_case *cases; /* one a row of the comparison */
};

/* Judge everything measured so far from the beginning; *suspects and *open as the
 * last stage left them. Rows that compare settled keep their verdict. 0, or -1 with
 * assay_error. */
int gate_judge(struct gate_run *run, int *suspects, int *open);

/* ln(other) - ln(base) of a case over rounds [from, to), where both have a time. */
void gate_collect(struct gate_rounds *rounds, const struct gate_run *run, enum arm other,
                  const struct case_id *id, int from, int to);

/* False for a row without a ratio (new, missing, failed), which comparing settled. */
bool gate_is_judged(const struct comparison_row *row);

/* Simulated devices differ by their seeds, and are meant to. */
bool gate_is_simulated(const struct gate_run *run);

#endif
