/* gate_proof.c - what a gate need not measure: the cases in which both programs do the same
 * (judge/proof.h), by one quick pass of each, at the same time. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "base/grow.h"
#include "base/terminal.h"
#include "gate/gate_run_state.h"
#include "run/interrupt.h"

/* A gate that is gone on with proves and audits what it did at first: of its session the first
 * eight digits alone are stored (gate_label). */
static uint64_t seed_of(const struct gate_run *run)
{
    char digits[9];
    if (run->options->has_seed) return run->seed;
    snprintf(digits, sizeof digits, "%.8s", run->session);
    return strtoull(digits, NULL, 16);
}

/* ---------------------------------------------------------------- passes -- */

/* A case that failed or was lost has no facts: one that it was for both programs would else be in
 * neither list, and nobody would miss it. */
static int add_failed(struct fingerprints *prints, const struct case_id *id, const char *why)
{
    struct fingerprint *print =
        grow_add(&prints->list, &prints->count, sizeof *print, "fingerprints");
    if (!print) return -1;
    fingerprint_begin(print, id);
    fingerprint_doubt(print, "%s in its pass", why);
    return 0;
}

static bool has_failed(const struct timings *pass, int row)
{
    int status = pass->rows[row].status;
    return !status_has_time(status) && status != STATUS_SKIPPED;
}

static int add_all_failed(struct fingerprints *prints, const struct timings *pass)
{
    for (int i = 0; i < pass->count; i++) {
        const char *status = status_name((enum case_status)pass->rows[i].status);
        if (has_failed(pass, i) && add_failed(prints, &pass->rows[i].id, status)) return -1;
    }
    for (int i = 0; i < pass->lost_count; i++)
        if (add_failed(prints, &pass->lost[i].id, "it was lost")) return -1;
    return 0;
}

static struct program_call pass_call(struct gate_run *run, enum arm arm)
{
    struct program_call call = gate_call(run, arm, 0, run->options->filter);
    call.counters = NULL;
    call.label = "fingerprints";
    call.seed = seed_of(run); /* both see the same inputs */
    return call;
}

static bool any_failed(const struct timings *pass)
{
    bool failed = pass->lost_count > 0;
    for (int i = 0; i < pass->count; i++)
        failed |= has_failed(pass, i);
    return failed;
}

/* One after the other, since a device may have no room for both at a time, or take one program
 * only. */
static enum launch_end pass_apart(const struct program_call calls[ARM_NULL],
                                  struct fingerprints prints[ARM_NULL],
                                  struct timings about[ARM_NULL])
{
    enum launch_end end = program_fingerprints(&calls[0], 1, &prints[0], &about[0]);
    if (end != LAUNCH_DONE) return end;
    end = program_fingerprints(&calls[1], 1, &prints[1], &about[1]);
    if (end == LAUNCH_DONE) return end;
    fingerprints_release(&prints[0]);
    timings_release(&about[0]);
    return end;
}

static enum launch_end pass_both(const struct program_call calls[ARM_NULL],
                                 struct fingerprints prints[ARM_NULL],
                                 struct timings about[ARM_NULL])
{
    enum launch_end end = program_fingerprints(calls, ARM_NULL, prints, about);
    if (end == LAUNCH_REFUSED) return pass_apart(calls, prints, about);
    if (end != LAUNCH_DONE || !(any_failed(&about[0]) || any_failed(&about[1]))) return end;
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++) {
        fingerprints_release(&prints[arm]);
        timings_release(&about[arm]);
    }
    return pass_apart(calls, prints, about);
}

static enum launch_end take_pass(struct gate_run *run, enum arm arm, struct fingerprints *prints,
                                 const struct timings *about)
{
    comparison_side_of(&run->sides[arm], &about->run);
    if (add_all_failed(prints, about) != 0) return LAUNCH_FAILED;
    if (!run->sides[arm].simulated || run->options->allow_simulated) return LAUNCH_DONE;
    return assay_error_as(
        LAUNCH_REFUSED, "the device is simulated: a gate of it proves nothing (--allow-simulated)");
}

static enum launch_end take_passes(struct gate_run *run, struct fingerprints prints[ARM_NULL])
{
    struct program_call calls[ARM_NULL];
    struct timings about[ARM_NULL];
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++)
        calls[arm] = pass_call(run, (enum arm)arm);
    enum launch_end end = pass_both(calls, prints, about);
    if (end != LAUNCH_DONE) return end;
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++) {
        if (end == LAUNCH_DONE) end = take_pass(run, (enum arm)arm, &prints[arm], &about[arm]);
        timings_release(&about[arm]);
    }
    return end;
}

static int go_without(const char *why)
{
    fprintf(stderr, "assay: nothing is proven, and all is measured: %s\n", why);
    return GATE_MADE;
}

/* What a program refuses in a launch too, as a device or a filter, ends the gate here. */
static int without_passes(const struct gate_run *run, enum launch_end end)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", assay_last_error());
    if (end == LAUNCH_REFUSED && !gate_both_plan(run, run->options->filter))
        return interrupt_signal() ? EXIT_INTERRUPTED : EXIT_USAGE;
    return go_without(why);
}

/* --------------------------------------------------------------- the plan -- */

/* About what the launches of the screen take: each starts as long as the pass took, and a case
 * takes its budget and as long again for its checks. Twins are one launch, and take a third of
 * theirs (97 cases of an H200: 65 s). */
static double screen_s(const struct gate_run *run, double pass_s)
{
    const struct gate_options *options = run->options;
    const char *budget = options->budget ? options->budget
                         : options->twin ? TWIN_BUDGET_S
                                         : GATE_BUDGET_S;
    int cases = run->plan.open + run->plan.audited;
    if (options->counts) return 2 * pass_s; /* and the checks */
    if (options->twin) return pass_s + cases * strtod(budget, NULL) / 3;
    return 2 * run->screen_rounds * (pass_s + 2 * cases * strtod(budget, NULL));
}

static void say_open(const struct gate_run *run)
{
    enum { MOST = 10 };
    int said = 0;
    for (int i = 0; i < run->plan.count && said < MOST; i++) {
        const struct proven_case *one = &run->plan.cases[i];
        char name[CASE_TEXT];
        if (one->proof != PROOF_NONE) continue;
        case_text(&one->id, name);
        gate_tell("to measure: %s: %s", name, one->why);
        said++;
    }
    if (run->plan.open > said) gate_tell("and %d more", run->plan.open - said);
}

static void say_plan(const struct gate_run *run, double passes_s)
{
    const struct proof_plan *plan = &run->plan;
    int to_measure = plan->open + plan->audited;
    if (terminal_is_quiet()) return;
    fprintf(stderr, "assay: %d of %d cases are proven unchanged (%.1f s)",
            plan->proven + plan->audited, plan->count, passes_s);
    if (plan->audited > 0)
        fprintf(stderr, ", of which %d %s measured all the same, to audit the proof", plan->audited,
                plan->audited == 1 ? "is" : "are");
    if (to_measure > 0)
        fprintf(stderr, "; %d to measure, about %.0f s where none is suspect", to_measure,
                screen_s(run, passes_s));
    fputc('\n', stderr);
    say_open(run);
}

static int make_plan(struct gate_run *run, struct fingerprints prints[ARM_NULL], double start_s)
{
    if (proof_plan_make(&run->plan, &prints[ARM_BASE], &prints[ARM_CANDIDATE], seed_of(run)) != 0)
        return EXIT_USAGE;
    if (run->plan.proven + run->plan.audited == 0)
        return go_without(run->plan.count > 0 ? run->plan.cases[0].why : "no case was launched");
    if (run->plan.proven > 0 && run->plan.open + run->plan.audited > 0) {
        run->unproven = malloc(GATE_FILTER);
        if (!run->unproven) return assay_error_as(EXIT_USAGE, "out of memory for a filter");
        if (!gate_open_filter(run, run->unproven)) {
            proof_plan_release(&run->plan);
            return go_without("what is not proven cannot be named in a filter");
        }
        run->filter = run->unproven;
    }
    say_plan(run, clock_s() - start_s);
    return GATE_MADE;
}

int gate_prove(struct gate_run *run)
{
    const struct gate_options *options = run->options;
    struct fingerprints prints[ARM_NULL] = {{0}};
    double start_s = clock_s();
    int code = GATE_MADE;
    if (!options->proof || options->speedup) return GATE_MADE;
    enum launch_end end = take_passes(run, prints);
    if (end == LAUNCH_STOPPED)
        code = EXIT_INTERRUPTED;
    else if (end == LAUNCH_DONE)
        code = make_plan(run, prints, start_s);
    else
        code = without_passes(run, end);
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++)
        fingerprints_release(&prints[arm]);
    return code;
}

/* --------------------------------------------------------------- verdicts -- */

bool gate_measures(const struct gate_run *run)
{
    return run->plan.proven == 0 || run->plan.open + run->plan.audited > 0;
}

/* A change of what is proven is told as it was measured, and as what it is: one of the two is
 * wrong. A verdict that says less than the proof gives way to it. */
static void settle_audited(struct gate_run *run, struct comparison_row *row)
{
    char name[CASE_TEXT], change[64];
    row->tags |= TAG_AUDIT;
    if (!verdict_is_change(row->verdict)) {
        if (gate_is_judged(row)) row->verdict = VERDICT_UNCHANGED;
        return;
    }
    comparison_row_text(row, name);
    comparison_ratio_text(row, change, sizeof change);
    comparison_note(run->comparison,
                    "THE PROOF IS CONTRADICTED: %.200s does the same in both programs by all that "
                    "is known of them, and measures %s (--no-proof measures all cases)",
                    name, change);
    row_decide(row, row->verdict, "proven unchanged, and measured otherwise");
}

/* Of a gate that launched nothing the sides are those that the proof found. */
static void begin_comparison(struct gate_run *run)
{
    struct comparison *comparison = run->comparison;
    *comparison = (struct comparison){.mode = "paired", .metric = "time", .fdr = NAN};
    comparison->threshold = run->compare.threshold > 0 ? run->compare.threshold : NAN;
    comparison->base = run->sides[ARM_BASE];
    comparison->candidate = run->sides[ARM_CANDIDATE];
    comparison->base.id[0] = comparison->candidate.id[0] = '\0';
    comparison->base.launches = comparison->candidate.launches = 0;
    if (comparison->base.simulated || comparison->candidate.simulated)
        comparison_note(comparison, "SIMULATED: no hardware was measured");
}

int gate_add_proven(struct gate_run *run)
{
    const struct proof_plan *plan = &run->plan;
    struct comparison *comparison = run->comparison;
    if (plan->proven + plan->audited == 0) return 0;
    if (!gate_measures(run)) begin_comparison(run);
    for (int i = 0; i < comparison->count; i++) {
        const struct proven_case *one = proof_plan_find(plan, &comparison->rows[i].id);
        if (one && one->proof != PROOF_NONE) settle_audited(run, &comparison->rows[i]);
    }
    size_t count = (size_t)(comparison->count + plan->proven);
    struct comparison_row *rows = realloc(comparison->rows, (count + 1) * sizeof *rows);
    if (!rows) return assay_error("out of memory for %d proven cases", plan->proven);
    comparison->rows = rows;
    int measured = comparison->count;
    for (int i = 0; i < plan->count; i++) {
        bool is_there = false;
        for (int k = 0; k < measured && !is_there; k++)
            is_there = case_id_order(&rows[k].id, &plan->cases[i].id) == 0;
        if (plan->cases[i].proof == PROOF_HOLDS && !is_there)
            comparison_add_row(comparison, &plan->cases[i].id)->verdict = VERDICT_UNCHANGED;
    }
    comparison_note(comparison,
                    "%d of %d cases are UNCHANGED by proof: both programs run the same code with "
                    "the same launches, arguments, inputs and libraries; %d of them %s measured "
                    "all the same (1 in %d)",
                    plan->proven + plan->audited, plan->count, plan->audited,
                    plan->audited == 1 ? "was" : "were", PROOF_AUDIT);
    return 0;
}
