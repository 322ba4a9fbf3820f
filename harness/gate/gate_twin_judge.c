/* gate_twin_judge.c - from what was measured of both builds in one process to verdicts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate_run_state.h"
#include "judge/twin_processes.h"
#include "store/store_gate.h"

/* A threshold that nobody said is raised so far, where no less can be told. */
#define TWIN_MOST_USUAL COMPARE_STEADY_THRESHOLD

/* --------------------------------------------------------------- reading -- */

/* Whether a variant of this name is one of the arm; its own name is then in `plain`. */
static bool is_of_arm(const char *name, enum arm arm, char plain[ASSAY_MAX_NAME])
{
    static const int twin[ARMS] = {
        [ARM_BASE] = TWIN_BASE, [ARM_CANDIDATE] = -1, [ARM_NULL] = TWIN_NULL};
    return twin_split(name, plain) == twin[arm];
}

/* Leave the rows of an arm, under their own names. */
static void keep_arm(struct timings *timings, enum arm arm)
{
    char plain[ASSAY_MAX_NAME];
    int rows = 0, lost = 0;
    for (int i = 0; i < timings->count; i++) {
        struct timing *row = &timings->rows[i];
        if (!is_of_arm(row->id.variant, arm, plain)) continue;
        text_copy(row->id.variant, sizeof row->id.variant, plain);
        timings->rows[rows++] = *row;
    }
    for (int i = 0; i < timings->lost_count; i++) {
        struct lost_case *row = &timings->lost[i];
        if (!is_of_arm(row->id.variant, arm, plain)) continue;
        text_copy(row->id.variant, sizeof row->id.variant, plain);
        timings->lost[lost++] = *row;
    }
    timings->count = rows;
    timings->lost_count = lost;
    if (rows > 0) qsort(timings->rows, (size_t)rows, sizeof *timings->rows, timing_order);
    if (lost > 0) qsort(timings->lost, (size_t)lost, sizeof *timings->lost, lost_case_order);
}

/* What a side was built from is what its object says; the program only measured. */
static void keep_object(struct timings *timings, enum arm arm)
{
    struct stored_run *run = &timings->run;
    int last = run->run.object_count - 1;
    if (last < 1) return;
    if (arm == ARM_BASE) run->objects[0] = run->objects[last];
    run->run.object_count = arm == ARM_BASE ? 1 : last;
    struct program_info *program = &run->program;
    text_copy(program->commit, sizeof program->commit, run->objects[0].commit);
    program->diff_hash[0] = '\0';
}

int gate_read_twins(struct gate_run *run, struct store *store, const char *id)
{
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++) {
        struct timings *pool = &run->pool[arm];
        timings_release(pool);
        if (store_read_timings(store, id, pool) != 0) return -1;
        keep_arm(pool, (enum arm)arm);
        keep_object(pool, (enum arm)arm);
    }
    return 0;
}

static const struct case_result *result_of(const struct stored_run *stored,
                                           const struct case_id *id, enum arm arm)
{
    for (int i = 0; i < stored->case_count; i++) {
        const struct case_result *result = &stored->cases[i].result;
        struct case_id own = result->id;
        if (is_of_arm(result->id.variant, arm, own.variant) && case_id_order(&own, id) == 0)
            return result;
    }
    return NULL;
}

/* How many turns there are: sample i is of turn i, and those of the last round were not shuffled.
 */
static int turns_of(const struct case_result *result)
{
    const struct samples *samples = &result->samples;
    int turns = 0;
    while (turns < samples->count && samples->round && samples->round[turns] == turns)
        turns++;
    bool is_last = turns > 0 && samples->round[samples->count - 1] == turns - 1;
    return is_last ? turns - 1 : turns;
}

/* Its valid times are its own; the others become NAN. NULL: none. */
static const float *times_of(const struct case_result *result, int turns)
{
    if (!result || turns_of(result) < turns || !result->samples.time_ns) return NULL;
    for (int i = 0; i < turns; i++)
        if (result->samples.mark && result->samples.mark[i]) result->samples.time_ns[i] = NAN;
    return result->samples.time_ns;
}

/* --------------------------------------------------------------- judging -- */

static bool allocates(const struct case_result *result)
{
    return result && result->workspace_bytes > 0;
}

static void fill_case(const struct gate_run *run, struct twin_case *one, struct comparison_row *row,
                      const struct stored_run *stored)
{
    const struct case_result *base = result_of(stored, &row->id, ARM_BASE);
    const struct case_result *candidate = result_of(stored, &row->id, ARM_CANDIDATE);
    *one = (struct twin_case){
        .threshold = row->threshold,
        .on_host = row->id.place == ASSAY_HOST && !gate_is_simulated(run),
        .has_memory = !run->options->processes && row->id.place != ASSAY_HOST &&
                      (allocates(base) || allocates(candidate)),
    };
    if (!gate_is_judged(row) || !base || !candidate) return;
    int turns = turns_of(base), other = turns_of(candidate);
    turns = turns < other ? turns : other;
    one->base_ns = times_of(base, turns);
    one->candidate_ns = times_of(candidate, turns);
    one->null_ns = times_of(result_of(stored, &row->id, ARM_NULL), turns);
    one->turns = one->base_ns && one->candidate_ns ? turns : 0;
    one->quantum = twin_quantum(one->base_ns, one->candidate_ns, one->turns);
    bool is_usual = !(run->options->threshold > 0) && row->threshold == TWIN_THRESHOLD;
    double told = one->has_memory ? fmax(one->quantum, TWIN_MEMORY) : one->quantum;
    if (is_usual) one->threshold = fmax(row->threshold, fmin(told, TWIN_MOST_USUAL));
}

static void fill_row(struct comparison_row *row, const struct twin_case *one)
{
    row->evidence = EVIDENCE_TURNS;
    row->threshold = one->threshold;
    row->quantum = one->quantum;
    row->floor = one->floor;
    row->mde = one->mde;
    row->launches = one->turns;
    row->p_slower = one->p_slower;
    row->p_faster = one->p_faster;
    row->p_least = NAN;
    row->ratio = (struct interval){exp(one->change.mid), exp(one->change.lo), exp(one->change.hi)};
    /* The clock, a slow-down and what made times noisy are both sides' alike. */
    row->tags &= ~(unsigned)(TAG_FASTER | TAG_CLOCK | TAG_BIMODAL | TAG_SAME_CODE);
    row->noisy[0] = '\0';
    row_decide(row, one->verdict, "%s", one->reason);
}

/* A setup that searches may choose otherwise for each copy of the same code. */
static void doubt_choice(struct comparison_row *row, const struct stored_run *stored)
{
    const struct case_result *base = result_of(stored, &row->id, ARM_BASE);
    const struct case_result *candidate = result_of(stored, &row->id, ARM_CANDIDATE);
    if (!verdict_is_change(row->verdict) || strcmp(base->note, candidate->note) == 0) return;
    row_decide(row, VERDICT_UNSTABLE, "its setup chose '%s' for the base and '%s' now", base->note,
               candidate->note);
}

/* What a side lacks because the launch was not made to its end. It counts among the cases of the
 * gate, so that the error rate of the others is what it would have been. */
static bool is_unmeasured(const struct gate_run *run, const struct comparison_row *row, bool whole)
{
    return !whole && row->verdict == VERDICT_MISSING &&
           (timings_first_lost(&run->pool[ARM_BASE], &row->id) ||
            timings_first_lost(&run->pool[ARM_CANDIDATE], &row->id));
}

/* By what each process found of the case. */
static void judge_by_processes(const struct gate_run *run, struct twin_case *one,
                               struct comparison_row *row, const struct stored_run *stored,
                               int count, double alpha)
{
    struct twin_process process[TWIN_MOST_PROCESSES];
    int found = 0;
    one->turns = 0;
    for (int i = 0; i < count; i++) {
        struct twin_case turns;
        fill_case(run, &turns, row, &stored[i]);
        one->turns += turns.turns;
        found += twin_process_read(&turns, &process[found]);
    }
    twin_processes_judge(one, process, found, alpha);
}

static void note_copies(struct comparison *comparison, const struct gate_run *run, double layout,
                        int with_memory)
{
    if (run->options->processes) {
        comparison_note(
            comparison,
            "each case is judged by %d processes: its interval has in it what copies of "
            "the same code differ by",
            run->options->processes);
        return;
    }
    if (layout > 0)
        comparison_note(comparison,
                        "copies of the same code may differ by %.2g %% by where they lie: no floor "
                        "is below that",
                        100 * layout);
    if (with_memory > 0)
        comparison_note(comparison,
                        "%d case%s with memory of their own, which lies elsewhere for each copy: "
                        "no floor of these is below %.2g %%",
                        with_memory, with_memory == 1 ? "" : "s", 100 * TWIN_MEMORY);
}

static int judge(struct gate_run *run, const struct stored_run *stored, int launches, bool whole,
                 double *layout)
{
    struct comparison *comparison = run->comparison;
    struct twin_case *cases = calloc((size_t)comparison->count + 1, sizeof *cases);
    int *row = calloc((size_t)comparison->count + 1, sizeof *row), count = 0, with_memory = 0;
    int unmeasured = 0;
    *layout = NAN;
    int status = cases && row ? 0 : assay_error("out of memory for %d cases", comparison->count);
    for (int i = 0; status == 0 && i < comparison->count; i++) {
        fill_case(run, &cases[count], &comparison->rows[i], &stored[0]);
        if (gate_is_judged(&comparison->rows[i])) row[count++] = i;
    }
    for (int i = 0; status == 0 && i < comparison->count; i++) {
        if (!is_unmeasured(run, &comparison->rows[i], whole)) continue;
        cases[count + unmeasured++] = (struct twin_case){.turns = 0};
        row_decide(&comparison->rows[i], VERDICT_INCONCLUSIVE,
                   "the gate ended before it was measured");
    }
    bool by_processes = run->options->processes > 0;
    if (status == 0 && !by_processes) *layout = twin_judge(cases, count + unmeasured);
    for (int i = 0; status == 0 && i < count; i++) {
        struct comparison_row *judged = &comparison->rows[row[i]];
        with_memory += cases[i].has_memory;
        if (by_processes)
            judge_by_processes(run, &cases[i], judged, stored, launches,
                               twin_alpha_of(count + unmeasured));
        fill_row(judged, &cases[i]);
        if (!by_processes) doubt_choice(judged, &stored[0]);
    }
    if (status == 0) note_copies(comparison, run, *layout, with_memory);
    free(cases);
    free(row);
    return status;
}

int gate_judge_twins(struct gate_run *run, struct store *store, const char *const *ids, int count,
                     bool whole, double *layout)
{
    run->compare.twins = true;
    run->compare.noise = NULL;
    run->compare.presence = PRESENT_IN_PAIRS;
    comparison_release(run->comparison);
    const struct stored_run *base = &run->pool[ARM_BASE].run;
    if (store_comparability(store, base->launches[0].id, run->comparability) != 0 ||
        compare_runs(run->comparison, &run->pool[ARM_BASE], &run->pool[ARM_CANDIDATE],
                     &run->compare) != 0)
        return -1;
    run->comparison->mode = "paired";
    struct stored_run *stored = calloc((size_t)count, sizeof *stored);
    int read = 0, status = stored ? 0 : assay_error("out of memory for %d launches", count);
    while (status == 0 && read < count) {
        status = store_read_run(store, ids[read], true, &stored[read]);
        read += status == 0;
    }
    if (status == 0) status = judge(run, stored, count, whole, layout);
    for (int i = 0; i < read; i++)
        stored_run_release(&stored[i]);
    free(stored);
    return status;
}
