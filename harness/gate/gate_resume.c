/* gate_resume.c - the launches of a gate or a calibration that was interrupted, found again by
 * their labels. */
#include <string.h>

#include "gate/gate_run_state.h"
#include "store/store_gate.h"
#include "suite/suite_find.h"

/* Its launches, as far as they were looked for. */
struct stored_round {
    struct timings arm[ARMS];
};

static const struct timings *pool_of(const struct gate_run *run, enum arm arm)
{
    return &run->pool[gate_program_of(run, arm)];
}

static bool is_there(const struct timings *launch)
{
    return launch->run.launch_count > 0;
}

/* ------------------------------------------------------------- conditions -- */

/* Whether a launch is of the device, driver and clock of those before it; the first one says which
 * these are. 1: yes, 0: no, -1 with assay_error. */
static int is_same_device(struct gate_run *run, const char *launch_id)
{
    char key[STORE_ID];
    if (store_comparability(run->store, launch_id, key) != 0) return -1;
    if (!run->comparability[0]) strcpy(run->comparability, key);
    return strcmp(run->comparability, key) == 0;
}

int gate_check_device(struct gate_run *run, const char *launch_id)
{
    int same = is_same_device(run, launch_id);
    if (same != 0) return same < 0 ? -1 : 0;
    return assay_error("what is to be gone on with is of another device, driver or clock");
}

bool gate_is_same_build(const struct program_info *a, const struct program_info *b)
{
    return strcmp(a->version, b->version) == 0 && strcmp(a->commit, b->commit) == 0 &&
           strcmp(a->diff_hash, b->diff_hash) == 0 && strcmp(a->compiler, b->compiler) == 0 &&
           strcmp(a->flags, b->flags) == 0 && strcmp(a->nvcc, b->nvcc) == 0 &&
           strcmp(a->nvcc_flags, b->nvcc_flags) == 0;
}

bool gate_is_same_suite(const struct timings *a, const struct timings *b)
{
    const char *one = a->run.suite_text, *other = b->run.suite_text;
    return strcmp(one ? one : "", other ? other : "") == 0;
}

/* "1a2b3c4d, changed", as reports have it. */
static void build_text(const struct program_info *program, char out[32])
{
    snprintf(out, 32, "%s%.8s%s", program->commit[0] ? "" : "no commit", program->commit,
             program->diff_hash[0] ? ", changed" : "");
}

static int refuse_build(const struct gate_run *run, enum arm arm, const struct program_info *then,
                        const struct program_info *now)
{
    const char *side = arm == ARM_CANDIDATE ? "candidate" : arm == ARM_BASE ? "base" : "null arm";
    char before[32], after[32];
    build_text(then, before);
    build_text(now, after);
    if (run->taken_rounds == 0)
        return assay_error("the build of the %s changed during the gate (%s, then %s)", side,
                           before, after);
    return assay_error(
        "what is to be gone on with was measured with another build of the %s (%s, and this is %s)",
        side, before, after);
}

int gate_check_launch(struct gate_run *run, enum arm arm, const struct timings *launch)
{
    const struct timings *pool = pool_of(run, arm);
    if (run->is_calibration || !is_there(pool)) return 0;
    if (!gate_is_same_build(&pool->run.program, &launch->run.program))
        return refuse_build(run, arm, &pool->run.program, &launch->run.program);
    if (!gate_is_same_suite(pool, launch))
        return assay_error(
            run->taken_rounds == 0
                ? "the text of '%s' changed during the gate"
                : "what is to be gone on with was measured with another text of '%s'",
            launch->run.run.suite);
    return run->taken_rounds == 0 ? 0 : gate_check_device(run, launch->run.launches[0].id);
}

/* Whether a launch was begun with this value of an option; NULL: without it. The value ends where
 * the next option begins, for it may have blanks. What a command that was cut, or is not known,
 * lacks says nothing against it. */
static bool was_told(const char *command, const char *option, const char *value)
{
    char words[32];
    bool cut = strlen(command) + 1 == sizeof((struct run_info *)0)->command;
    snprintf(words, sizeof words, " %s ", option);
    const char *at = strstr(command, words);
    if (!at) return !value || !command[0] || cut;
    if (!value) return false;
    at += strlen(words);
    const char *next = strstr(at, " --");
    size_t length = next ? (size_t)(next - at) : strlen(at), given = strlen(value);
    bool fits = given == length || (given > length && !next && cut);
    return fits && strncmp(at, value, length) == 0;
}

/* What says which cases are measured, where and for how long. The filters of later rounds follow
 * from what looked changed. */
static int check_options(const struct gate_run *run, enum arm arm, const struct timings *launch)
{
    const struct gate_options *options = run->options;
    const char *const told[][2] = {
        {"--device", arm == ARM_CANDIDATE ? options->candidate_device : options->base_device},
        {"--filter", run->filter},
        {"--budget", options->budget ? options->budget : GATE_BUDGET_S},
        {"--precision", options->precision},
    };
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (!was_told(launch->run.run.command, told[i][0], told[i][1]))
            return assay_error("the gate to go on with was begun with another %s: "
                               "its first launch was '%s'",
                               told[i][0], launch->run.run.command);
    return 0;
}

/* ------------------------------------------------------------------ rounds -- */

/* The stored launch of an arm. 1: found, 0: there is none, or it is of another device, driver
 * or clock than those before it; -1 with assay_error. */
static int find_launch(struct gate_run *run, enum arm arm, int round, struct timings *timings)
{
    char label[GATE_LABEL], id[STORE_ID];
    gate_label(run, arm, round, label);
    int found = store_find_label(run->store, label, id);
    if (found != 1) return found;
    if (store_read_timings(run->store, id, timings) != 0) return -1;
    found = is_there(timings) ? is_same_device(run, timings->run.launches[0].id) : 0;
    if (found != 1) timings_release(timings);
    return found;
}

/* A launch without its other half is of another hour than whatever could be put beside it. */
static int find_round(struct gate_run *run, int round, bool with_null, struct stored_round *stored)
{
    int found = 1;
    for (int arm = 0; arm < ARMS && found == 1; arm++)
        if (arm != ARM_NULL || with_null) found = find_launch(run, arm, round, &stored->arm[arm]);
    /* Half of the first round binds nobody to its device. */
    if (found != 1 && !is_there(&run->pool[ARM_BASE])) run->comparability[0] = '\0';
    return found;
}

static bool has_case(const struct timings *launch, const struct case_id *id, bool with_baseline)
{
    const struct timing *row = timings_first(launch, id);
    if (!row || !with_baseline) return row != NULL;
    for (int i = 0; i < launch->count; i++)
        if (launch->rows[i].is_baseline && case_id_same_group(&launch->rows[i].id, id)) return true;
    return false;
}

/* Noise that was learnt meanwhile, or another threshold, makes other cases suspects. */
static bool has_what_is_wanted(const struct gate_run *run, const struct timings *launch)
{
    const struct comparison *comparison = run->comparison;
    for (int i = 0; i < comparison->count; i++)
        if (gate_is_wanted(run, &run->cases[i]) &&
            !has_case(launch, &comparison->rows[i].id, run->options->speedup))
            return false;
    return true;
}

/* Launches of a round that was interrupted and made anew follow each other in the order of the
 * round, or they are of two attempts. */
static bool is_in_order(const struct gate_run *run, int round, const struct stored_round *stored)
{
    const char *before = run->taken_until;
    for (int turn = 0; turn < ARMS; turn++) {
        const struct timings *launch = &stored->arm[gate_arm_at(round, turn)];
        if (!is_there(launch)) continue;
        if (strcmp(launch->run.started_at, before) < 0) return false;
        before = launch->run.started_at;
    }
    return true;
}

/* Builds and suites may differ between the rounds of a gate that somebody went on with in vain. */
static bool is_as_before(const struct gate_run *run, const struct stored_round *stored)
{
    for (int arm = 0; arm < ARMS; arm++) {
        const struct timings *launch = &stored->arm[arm], *pool = pool_of(run, arm);
        if (!is_there(launch) || !is_there(pool)) continue;
        if (!gate_is_same_build(&pool->run.program, &launch->run.program)) return false;
        if (!gate_is_same_suite(pool, launch)) return false;
    }
    return true;
}

/* Whether a round goes on with what is in the pool. 1: yes, 0: no, -1 with assay_error. */
static int suits(const struct gate_run *run, int round, const struct stored_round *stored)
{
    if (run->is_calibration) return 1;
    if (!is_as_before(run, stored) || !is_in_order(run, round, stored) ||
        !has_what_is_wanted(run, &stored->arm[ARM_BASE]))
        return 0;
    bool fine = round > 0 || (check_options(run, ARM_BASE, &stored->arm[ARM_BASE]) == 0 &&
                              check_options(run, ARM_CANDIDATE, &stored->arm[ARM_CANDIDATE]) == 0);
    return fine ? 1 : -1;
}

static int append_round(struct gate_run *run, int round, struct stored_round *stored)
{
    for (int turn = 0; turn < ARMS; turn++) {
        enum arm arm = gate_arm_at(round, turn);
        struct timings *launch = &stored->arm[arm];
        if (!is_there(launch)) continue;
        snprintf(run->taken_until, sizeof run->taken_until, "%s", launch->run.started_at);
        if (timings_append(&run->pool[arm], launch) != 0) return -1;
    }
    return 0;
}

int gate_take_round(struct gate_run *run, int round, bool with_null)
{
    struct stored_round stored = {0};
    int found = find_round(run, round, with_null, &stored);
    if (found == 1) found = suits(run, round, &stored);
    if (found == 1 && append_round(run, round, &stored) != 0) found = -1;
    for (int arm = 0; arm < ARMS; arm++)
        timings_release(&stored.arm[arm]);
    return found;
}

/* -------------------------------------------------------------------- gate -- */

int gate_resume(struct gate_run *run)
{
    char suite[ASSAY_MAX_NAME];
    suite_name_of(run->options->suite, suite);
    return store_unfinished_gate(run->store, suite, run->session, &run->stored_rounds);
}

int gate_take_rounds(struct gate_run *run, int from, int to, bool with_null)
{
    if (run->taken_rounds != from) return 0; /* nothing stored behind what was measured anew */
    if (to > run->stored_rounds) to = run->stored_rounds;
    for (int found = 1; run->taken_rounds < to && found == 1;) {
        found = gate_take_round(run, run->taken_rounds, with_null);
        if (found < 0) return -1;
        run->taken_rounds += found;
    }
    int taken = run->taken_rounds - from;
    if (taken == 1) gate_tell("round %d was measured before", from + 1);
    if (taken > 1) gate_tell("rounds %d to %d were measured before", from + 1, from + taken);
    return taken;
}

void gate_note_resumed(const struct gate_run *run)
{
    if (run->taken_rounds == 0) return;
    comparison_note(run->comparison,
                    "%d of %d rounds are of before: of the gate %.8s, which was begun %.19sZ "
                    "and did not end",
                    run->taken_rounds, run->pool[ARM_BASE].run.launch_count, run->session,
                    run->pool[ARM_BASE].run.started_at);
}
