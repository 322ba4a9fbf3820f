/*
 * gate_twin.c - a gate of both builds in one process: their variants come from shared objects, and
 * are launched in turns by one launch of this program (measure/turns.h).
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "gate/gate_run_state.h"
#include "judge/twin.h"
#include "object/object_family.h"
#include "store/store_gate.h"

/* A threshold that nobody said is raised so far, where no less can be told. */
#define TWIN_MOST_USUAL COMPARE_STEADY_THRESHOLD

/* --------------------------------------------------------------- objects -- */

/* The objects of both sides. */
struct twin_objects {
    char path[ARM_NULL][PATH_MAX]; /* of those that `objects` names */
    const char *base;
    const char *candidate[2]; /* ended by NULL */
};

/* The object that `make` puts beside a program, if it is of the same build. -1 with assay_error. */
static int beside(const struct program_file *program, char path[PATH_MAX])
{
    static const char name[] = "libassay_variants.so";
    char of_program[SHA256_TEXT], of_object[SHA256_TEXT];
    const char *slash = strrchr(program->path, '/');
    int folder = slash ? (int)(slash - program->path) + 1 : 0;
    if (snprintf(path, PATH_MAX, "%.*s%s", folder, program->path, name) >= PATH_MAX)
        return assay_error("%s: the path is too long", program->path);
    if (object_family(program->path, of_program) != 0 || object_family(path, of_object) != 0)
        return -1;
    if (strcmp(of_program, of_object) == 0) return 0;
    return assay_error("%s is of another build than %s", path, program->path);
}

static const char *first_of(const char *const *objects)
{
    return objects ? objects[0] : NULL;
}

/* -1 with assay_error, where the sides have no object each. */
static int find_objects(const struct gate_run *run, struct twin_objects *objects)
{
    const struct gate_options *options = run->options;
    const char *base = first_of(options->base_objects);
    const char *candidate = first_of(options->candidate_objects);
    *objects = (struct twin_objects){.base = base, .candidate = {candidate}};
    if (!options->self) return assay_error("this program has no file of its own");
    if (options->speedup)
        return assay_error("--metric speedup needs baselines beside each variant");
    if (strcmp(options->base_device, options->candidate_device) != 0)
        return assay_error("the sides have different devices");
    if (base && candidate && strcmp(base, candidate) != 0) {
        if (options->base_objects[1] || options->candidate_objects[1])
            return assay_error("further objects are loaded");
        return 0;
    }
    if (base || candidate) return assay_error("objects are loaded beside those of the builds");
    if (beside(&run->file[ARM_BASE], objects->path[ARM_BASE]) != 0 ||
        beside(&run->file[ARM_CANDIDATE], objects->path[ARM_CANDIDATE]) != 0)
        return -1;
    objects->base = objects->path[ARM_BASE];
    objects->candidate[0] = objects->path[ARM_CANDIDATE];
    return 0;
}

/* --------------------------------------------------------------- measure -- */

/* 0, or -1 with assay_error: it was not done. */
static int launch(struct gate_run *run, const struct twin_objects *objects, char id[STORE_ID],
                  enum launch_end *end)
{
    const struct gate_options *options = run->options;
    struct timings timings;
    char label[GATE_LABEL], floor[32];
    struct program_call call = gate_call(run, ARM_CANDIDATE, 0, run->filter);
    snprintf(label, sizeof label, "gate %.8s round 1, twins", run->session);
    snprintf(floor, sizeof floor, "%.9g", 100 * options->threshold);
    call.program = options->self;
    call.objects = objects->candidate;
    call.twin = objects->base;
    call.twin_floor = options->threshold > 0 ? floor : NULL;
    call.budget = options->budget ? options->budget : TWIN_BUDGET_S;
    call.label = label;
    fprintf(stderr, "assay: both builds in one process, launched in turns\n");
    *end = program_launch(&call, run->store, &timings);
    if (*end != LAUNCH_DONE) return -1;
    text_copy(id, STORE_ID, timings.run.run.id);
    timings_release(&timings);
    return 0;
}

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

static int read_arm(struct gate_run *run, const char *id, enum arm arm)
{
    struct timings *pool = &run->pool[arm];
    if (store_read_timings(run->store, id, pool) != 0) return -1;
    keep_arm(pool, arm);
    keep_object(pool, arm);
    return 0;
}

/* ----------------------------------------------------------------- plans -- */

static bool has_case(const struct timings *pool, const char *text)
{
    char name[CASE_TEXT];
    for (int i = 0; i < pool->count; i++) {
        case_text(&pool->rows[i].id, name);
        if (strcmp(name, text) == 0) return true;
    }
    for (int i = 0; i < pool->lost_count; i++) {
        case_text(&pool->lost[i].id, name);
        if (strcmp(name, text) == 0) return true;
    }
    return false;
}

/* The twins' suite is this program's. What a build of its own would measure beyond that would be
 * lost unseen: then the builds have to be launched. A line of a plan is a case, or has two blanks
 * behind one that is skipped; a count stands behind an empty line. */
static int check_plan(const struct gate_run *run, enum arm arm)
{
    struct program_call call = gate_call(run, arm, 0, run->filter);
    char *plan, *rest, *line;
    int status = 0;
    if (!program_plans(&call, &plan) || !plan)
        return assay_error("%s does not tell what it would measure", call.program);
    rest = plan;
    while (status == 0 && (line = strsep(&rest, "\n"))) {
        if (!strchr(line, '/') || strstr(line, "  ") || has_case(&run->pool[arm], line)) continue;
        status =
            assay_error("%s would measure '%s', which the suite here has not", call.program, line);
    }
    free(plan);
    return status;
}

/* The result of an arm in a case; NULL: none. */
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
        .has_memory = row->id.place != ASSAY_HOST && (allocates(base) || allocates(candidate)),
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
    row->verdict = one->verdict;
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
    snprintf(row->reason, sizeof row->reason, "%s", one->reason);
}

/* A setup that searches may choose otherwise for each copy of the same code. */
static void doubt_choice(struct comparison_row *row, const struct stored_run *stored)
{
    const struct case_result *base = result_of(stored, &row->id, ARM_BASE);
    const struct case_result *candidate = result_of(stored, &row->id, ARM_CANDIDATE);
    bool changed = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
    if (!changed || strcmp(base->note, candidate->note) == 0) return;
    row->verdict = VERDICT_UNSTABLE;
    snprintf(row->reason, sizeof row->reason, "its setup chose '%s' for the base and '%s' now",
             base->note, candidate->note);
}

static int judge(struct gate_run *run, struct stored_run *stored)
{
    struct comparison *comparison = run->comparison;
    struct twin_case *cases = calloc((size_t)comparison->count + 1, sizeof *cases);
    int *row = calloc((size_t)comparison->count + 1, sizeof *row), count = 0, with_memory = 0;
    double layout = NAN;
    int status = cases && row ? 0 : assay_error("out of memory for %d cases", comparison->count);
    for (int i = 0; status == 0 && i < comparison->count; i++) {
        fill_case(run, &cases[count], &comparison->rows[i], stored);
        if (gate_is_judged(&comparison->rows[i])) row[count++] = i;
    }
    if (status == 0) layout = twin_judge(cases, count);
    for (int i = 0; status == 0 && i < count; i++) {
        with_memory += cases[i].has_memory;
        fill_row(&comparison->rows[row[i]], &cases[i]);
        doubt_choice(&comparison->rows[row[i]], stored);
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
    free(cases);
    free(row);
    return status;
}

static int compare(struct gate_run *run, const char *id)
{
    struct stored_run stored;
    run->compare.twins = true;
    run->compare.noise = NULL;
    const struct stored_run *base = &run->pool[ARM_BASE].run;
    if (store_comparability(run->store, base->launches[0].id, run->comparability) != 0 ||
        compare_runs(run->comparison, &run->pool[ARM_BASE], &run->pool[ARM_CANDIDATE],
                     &run->compare) != 0)
        return -1;
    run->comparison->mode = "paired";
    if (store_read_run(run->store, id, true, &stored) != 0) return -1;
    int status = judge(run, &stored);
    stored_run_release(&stored);
    return status;
}

/* 0, or -1 with assay_error. */
static int measure(struct gate_run *run, char id[STORE_ID], enum launch_end *end)
{
    struct twin_objects objects;
    *end = LAUNCH_REFUSED;
    if (find_objects(run, &objects) != 0 || launch(run, &objects, id, end) != 0) return -1;
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++)
        if (read_arm(run, id, (enum arm)arm) != 0 || check_plan(run, (enum arm)arm) != 0) return -1;
    return 0;
}

int gate_twins(struct gate_run *run)
{
    char id[STORE_ID];
    enum launch_end end;
    if (measure(run, id, &end) == 0) return compare(run, id) == 0 ? GATE_MADE : EXIT_USAGE;
    if (end == LAUNCH_STOPPED) return EXIT_INTERRUPTED;
    if (end == LAUNCH_FAILED) return EXIT_USAGE;
    snprintf(run->no_twins, sizeof run->no_twins, "%s", assay_last_error());
    fprintf(stderr, "assay: no twins: %s\n", run->no_twins);
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++)
        timings_release(&run->pool[arm]);
    return TWINS_NONE;
}
