/*
 * gate_run_state.h - what the parts of a gate share. A part calls those below it only, which
 * stand here from the lowest to the highest.
 */
#pragma once

#include "gate/gate_run.h"
#include "gate/program_launch.h"
#include "judge/compare.h"
#include "judge/gate.h"
#include "judge/proof.h"

/* The null arm is the base once more, or options.null. */
enum arm { ARM_BASE, ARM_CANDIDATE, ARM_NULL, ARMS };

struct gate_run {
    struct store *store;
    const struct gate_options *options;
    struct compare_options compare;
    struct gate_rules rules;
    struct comparison *comparison;
    bool is_calibration;            /* both programs are one, and nothing is decided */
    int label_skip;                 /* rounds that labels count beside those of the pool */
    struct program_file file[ARMS]; /* none of a stored run, and of the null arm options.null */
    struct timings pool[ARMS];      /* launch i is that of round i; of the null arm without
                                       options.null: of round screen_rounds + i */
    double start_s, round_s; /* when the gate began, and how long the last round took; 0 none */
    bool final;              /* ended early: options.fail_fast, and it fails */
    bool out_of_time;        /* by options.max_time_s: what there is is judged */
    int screen_rounds;
    int confirm_rounds;    /* of the first look; the extension goes beyond */
    bool extending;        /* only what is still open is measured, not every suspect */
    int stored_rounds;     /* the last one of the gate that is gone on with; 0: none is */
    int taken_rounds;      /* so many of them are in the pool; further ones are measured */
    char taken_until[32];  /* when the last of these launches began */
    struct timings pinned; /* options.pinned and the siblings of that run */
    int pinned_sessions;
    struct noise noise;
    char comparability[STORE_ID];
    char session[STORE_ID];
    uint64_t seed;
    struct gate_case *cases; /* one a row of the comparison */
    char no_twins[512];      /* why builds that were to be twins are not; "" nothing */
    struct proof_plan plan;  /* empty: nothing is proven */
    struct comparison_side sides[ARM_NULL]; /* of the programs, as the proof found them */
    const char *filter;                     /* of all launches: options.filter, or `unproven` */
    char *unproven;                         /* owned; NULL: all is measured, or nothing */
};

/* What steps return that may end the gate: this, or the exit code of the failure. */
enum { GATE_MADE = -1 };

/* ---- gate_state.c: the beginning, the end, and what is launched ---- */

/* 0, or -1 with assay_error. gate_end frees. */
int gate_begin(struct gate_run *run, struct store *store, const struct gate_options *options,
               struct comparison *comparison);
void gate_end(struct gate_run *run);

/* The arm whose program an arm launches. */
enum arm gate_program_of(const struct gate_run *run, enum arm arm);

enum { GATE_LABEL = 64 };
/* "gate 1a2b3c4d round 3, base", which the launch is stored under. */
void gate_label(const struct gate_run *run, enum arm arm, int round, char out[GATE_LABEL]);
/* The same arm as messages have it: "base", "base again". */
const char *gate_arm_name(const struct gate_run *run, enum arm arm);

/* What a launch asks its program for, but for the label. */
struct program_call gate_call(const struct gate_run *run, enum arm arm, int round,
                              const char *filter);
/* Which arm is launched as number `turn` of a round. */
enum arm gate_arm_at(int round, int turn);

/* A gate that did not measure all that it could says so: it made so many rounds, or cases. */
void gate_note_end(const struct gate_run *run, int made, const char *what);

/* A line of progress on standard error, which --quiet leaves out. */
void gate_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a terminal: how far it is, in a line that the next one overwrites; and its end, so that what
 * is said next has a line of its own. */
void gate_draw_bar(int done, int all, const char *text);
void gate_end_bar(void);

/* ---- gate_judge.c: from times to verdicts ---- */

/* Judge everything measured so far from the beginning; *suspects and *open as the
 * last stage left them. Rows that compare settled keep their verdict. 0, or -1 with
 * assay_error. */
int gate_judge(struct gate_run *run, int *suspects, int *open);

/* ln(other) - ln(base) of a case over rounds [from, to), where both have a time. */
void gate_collect(struct gate_rounds *rounds, const struct gate_run *run, enum arm other,
                  const struct case_id *id, int from, int to);

/* With options.fail_fast: whether a case failed, is missing or, where verdicts by time are final,
 * too, REGRESSED, and is not acknowledged. */
bool gate_is_final(const struct gate_run *run, bool times_are);

/* Whether both programs ran identical machine code in a case, and are timed by that alone. What the
 * host adds, or hands to the kernels, is a change like any other. */
bool gate_runs_same_kernels(const struct gate_run *run, const struct comparison_row *row);

/* Whether a case is to be measured in the rounds that come. */
bool gate_is_wanted(const struct gate_run *run, const struct gate_case *one);

/* False for a row without a ratio (new, missing, failed), which comparing settled. */
bool gate_is_judged(const struct comparison_row *row);

/* Simulated devices differ by their seeds, and are meant to. */
bool gate_is_simulated(const struct gate_run *run);

/* ---- gate_filter.c: the cases that a second stage launches ---- */

enum { GATE_FILTER = 1 << 16 }; /* Linux takes an argument of twice as much */
/* The filter of what is still to be judged and what its values need; may be `filter`. Asks the
 * programs whether they know filters of shapes. */
const char *gate_wanted_filter(const struct gate_run *run, char filter[GATE_FILTER]);

/* Whether both programs would launch this; false has its reason in assay_error. */
bool gate_both_plan(const struct gate_run *run, const char *filter);

/* Add a case to a filter that begins as "". false: it cannot be named, or there is no room. */
bool gate_filter_add(char filter[GATE_FILTER], const struct case_id *id);
/* The same of the cases that the proof left open or that audit it; false: they cannot be named. */
bool gate_open_filter(const struct gate_run *run, char filter[GATE_FILTER]);

/* ---- gate_twin_judge.c: what was measured of both builds in one process ---- */

/* The launch `id` as those of base and candidate, into the pools, in the place of what is there. 0,
 * or -1 with assay_error. */
int gate_read_twins(struct gate_run *run, struct store *store, const char *id);
/* The same to verdicts, of one launch or, of which the first was read, of `count`
 * (options.processes). Where that one is not `whole`, what it lacks is INCONCLUSIVE. *layout: what
 * copies of the same code differ by; NAN: not known yet, or by what each case's processes show. */
int gate_judge_twins(struct gate_run *run, struct store *store, const char *const *ids, int count,
                     bool whole, double *layout);

/* ---- gate_twin.c: both builds in one process ---- */

/* Measure and judge all cases in one process that has both builds' variants, and put it into the
 * comparison. GATE_MADE; the exit code of a failure; or TWINS_NONE: these two cannot be twins,
 * which is said in a note of the comparison that is made otherwise. */
enum { TWINS_NONE = -2 };
/* Sampling time of a case, at most: turns end when they have decided. */
#define TWIN_BUDGET_S "2"
int gate_twins(struct gate_run *run);

/* ---- gate_proof.c: what need not be measured ---- */

/* Find what is proven unchanged, and say on standard error what the gate will do. Where nothing can
 * be proven it says why, and all is measured. GATE_MADE, or an exit code. */
int gate_prove(struct gate_run *run);
/* Whether anything is to be launched. */
bool gate_measures(const struct gate_run *run);
/* Put the proven cases beside those that were judged. 0, or -1 with assay_error. */
int gate_add_proven(struct gate_run *run);

/* ---- gate_count.c: counters in the place of times; GATE_MADE, or an exit code ---- */

/* Count all that is not proven, and what differs four times more; the comparison is made. */
int gate_count(struct gate_run *run);

/* ---- gate_resume.c: launches of a gate or a calibration that did not end ---- */

/* The suite's newest gate that did not end becomes this one. 0, or -1 with assay_error. */
int gate_resume(struct gate_run *run);
/* The stored launches of a round into the pool. 1: all were there, 0: not, and none is in the
 * pool, -1 with assay_error. */
int gate_take_round(struct gate_run *run, int round, bool with_null);
/* Rounds [from, to) as far as they are stored without a gap, of a gate that is gone on with.
 * How many, or -1. */
int gate_take_rounds(struct gate_run *run, int from, int to, bool with_null);
/* -1 with assay_error where a launch is of another device, driver or clock than those before. */
int gate_check_device(struct gate_run *run, const char *launch_id);
/* Whether two programs were built alike from the same sources; whether two sides have one text of
 * the suite. */
bool gate_is_same_build(const struct program_info *a, const struct program_info *b);
bool gate_is_same_suite(const struct timings *a, const struct timings *b);
/* The same of a new launch of an arm beside the rounds that were taken; and, whenever others of the
 * arm were before it, of its build and its suite. */
int gate_check_launch(struct gate_run *run, enum arm arm, const struct timings *launch);
/* How much of the comparison is of before, as a note. */
void gate_note_resumed(const struct gate_run *run);

/* ---- gate_launch.c: new launches; GATE_MADE, or an exit code ---- */

/* Of a gate whose launch ended so, or came to nothing that is of use. */
int gate_exit_of(enum launch_end end);
int gate_launch(struct gate_run *run, enum arm arm, int round, const char *filter);
/* Rounds [from, to) of both programs, with the null arm or without; fewer, with out_of_time, where
 * options.max_time_s ends before. */
int gate_launch_rounds(struct gate_run *run, int from, int to, bool with_null, const char *filter);

/* ---- gate_keep.c: the database before and after ---- */

/* The noise of the base's device; needs a launch of it. 0, or -1. */
int gate_read_noise(struct gate_run *run);
/* Keep a block of unchanged code where it has rounds enough; `first`: the first of them, among
 * the session's blocks of this source. 0, or -1. */
int gate_keep_block(const struct gate_run *run, const struct case_id *id, double time_ns,
                    const struct gate_rounds *rounds, const char *source, int first);
/* What a gate learns about noise on its way: its null arm, and the cases of which both
 * programs ran the same machine code. */
int gate_keep_noise(const struct gate_run *run);
/* Acks, exit code, and the verdicts into the database. 0, or -1. */
int gate_finish(struct gate_run *run);

/* ---- gate_stored.c: against stored runs; GATE_MADE, or an exit code ---- */

/* The run of that name, and what its very build measured of the suite on this device at
 * other times, behind what is in the pool. */
int gate_read_baseline(struct store *store, const char *name, struct timings *pool, int *sessions);
/* The whole gate against a stored run. */
int gate_stored(struct gate_run *run);
/* What the candidate comes to against options.pinned, as notes: many small steps add up
 * there. */
int gate_compare_pinned(struct gate_run *run);
