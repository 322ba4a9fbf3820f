/*
 * gate_twin.c - a gate of both builds in one process: their variants come from shared objects, and
 * are launched in turns by one launch of this program (measure/turns.h). What changed there is
 * measured again by a few launches more: where copies lie differs from process to process.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "gate/gate_run_state.h"
#include "judge/twin_processes.h"
#include "object/object_file.h"
#include "store/store_gate.h"

/* --------------------------------------------------------------- objects -- */

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
    int folder = (int)(text_file_name(program->path) - program->path);
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

/* ----------------------------------------------------------------- plans -- */

/* The case that a line of a plan names ends there: two blanks stand behind one that is skipped. */
static size_t case_length(const char *line)
{
    size_t length = strcspn(line, "\n");
    const char *skipped = strstr(line, "  ");
    return skipped && skipped < line + length ? (size_t)(skipped - line) : length;
}

static bool names_case(const char *plan, const char *line, size_t length)
{
    for (const char *at = plan; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (case_length(at) == length && strncmp(at, line, length) == 0) return true;
    return false;
}

static int read_plan(const struct program_call *call, char **plan)
{
    if (!program_plans(call, plan)) return -1;
    return *plan ? 0 : assay_error("the plan of %s cannot be read", call->program);
}

/* What a build would measure and `plan` has not would be lost unseen. A count stands behind the
 * cases, without a slash. */
static int check_plan(const struct gate_run *run, enum arm arm, const char *plan)
{
    struct program_call call = gate_call(run, arm, 0, run->filter);
    char *own;
    int status = read_plan(&call, &own);
    if (status != 0) return -1;
    for (char *rest = own, *line; status == 0 && (line = strsep(&rest, "\n"));)
        if (strchr(line, '/') && !strstr(line, "  ") && !names_case(plan, line, strlen(line)))
            status = assay_error("%s would measure '%s', which the suite here has not",
                                 call.program, line);
    free(own);
    return status;
}

/* The twins' suite is this program's: where a build's own has more, the builds have to be launched.
 */
static int check_plans(const struct gate_run *run, const struct twin_objects *objects)
{
    struct program_call call = gate_call(run, ARM_CANDIDATE, 0, run->filter);
    char *plan;
    call.program = run->options->self;
    call.objects = objects->candidate;
    if (read_plan(&call, &plan) != 0) return -1;
    int status = check_plan(run, ARM_BASE, plan);
    if (status == 0) status = check_plan(run, ARM_CANDIDATE, plan);
    free(plan);
    return status;
}

/* --------------------------------------------------------------- measure -- */

struct watched {
    struct gate_run *run;
    double start_s;
    int stored;     /* cases when it was last judged */
    bool may_final; /* a failure may end it */
};

static void tell(const struct watched *watched, int stored, int planned)
{
    char text[64];
    double took_s = clock_s() - watched->start_s;
    snprintf(text, sizeof text, "both builds in turns (about %.0f s more)",
             took_s * (planned - stored) / stored);
    gate_draw_bar(stored, planned, text);
}

/* Whether what is stored makes the gate fail. A time does only once it is known what copies of the
 * same code differ by: that may raise its floor. */
static bool fails(struct gate_run *run, struct store *so_far, const char *id)
{
    double layout;
    return gate_read_twins(run, so_far, id) == 0 &&
           gate_judge_twins(run, so_far, &id, 1, false, &layout) == 0 &&
           gate_is_final(run, !isnan(layout));
}

/* A launch_watch: the first case is measured in any case, or there would be nothing to judge. What
 * makes the gate fail now is its verdict, whatever is measured until the launch has ended. */
static bool goes_on(void *about, struct store *so_far, const char *id)
{
    struct watched *watched = about;
    struct gate_run *run = watched->run;
    const struct gate_options *options = run->options;
    int stored, planned, limit_s = options->max_time_s;
    if (store_count_cases(so_far, id, &stored, &planned) != 0 || stored == 0) return true;
    tell(watched, stored, planned);
    run->out_of_time = limit_s > 0 && clock_s() - run->start_s > limit_s;
    if (!run->out_of_time && watched->may_final && stored > watched->stored)
        run->final = fails(run, so_far, id);
    watched->stored = stored;
    return !run->out_of_time && !run->final;
}

/* For a run of twins each must have one. */
#define NO_FLOOR_PCT 1e-6

static int launch(struct gate_run *run, const struct twin_objects *objects, int round,
                  const char *filter, bool may_final, char id[STORE_ID], enum launch_end *end)
{
    const struct gate_options *options = run->options;
    struct timings timings;
    struct watched watched = {.run = run, .start_s = clock_s(), .may_final = may_final};
    char label[GATE_LABEL], floor[32];
    struct program_call call = gate_call(run, ARM_CANDIDATE, round, filter);
    snprintf(label, sizeof label, "gate %.8s round %d, twins", run->session, round + 1);
    /* Several processes are compared with each other, so no turns end by what they say. */
    snprintf(floor, sizeof floor, "%.9g",
             options->processes ? NO_FLOOR_PCT : 100 * options->threshold);
    call.program = options->self;
    call.objects = objects->candidate;
    call.twin = objects->base;
    call.twin_floor = options->processes || options->threshold > 0 ? floor : NULL;
    call.budget = options->budget ? options->budget : TWIN_BUDGET_S;
    call.label = label;
    call.watch = goes_on;
    call.about = &watched;
    *end = program_launch(&call, run->store, &timings);
    gate_end_bar();
    if (*end != LAUNCH_DONE) return -1;
    text_copy(id, STORE_ID, timings.run.run.id);
    timings_release(&timings);
    return 0;
}

/* The launches by which all cases are judged. */
struct launches {
    char id[TWIN_MOST_PROCESSES][STORE_ID];
    int count;
};

/* As many as options.processes and the time allow. */
static int launch_all(struct gate_run *run, const struct twin_objects *objects,
                      struct launches *made, enum launch_end *end)
{
    const struct gate_options *options = run->options;
    int wanted = options->processes ? options->processes : 1;
    bool may_final = options->fail_fast && wanted == 1;
    for (made->count = 0; made->count < wanted && !run->out_of_time; made->count++)
        if (launch(run, objects, made->count, run->filter, may_final, made->id[made->count], end) !=
            0)
            return -1;
    return 0;
}

static int measure(struct gate_run *run, struct twin_objects *objects, struct launches *made,
                   enum launch_end *end)
{
    *end = LAUNCH_REFUSED;
    if (find_objects(run, objects) != 0 || check_plans(run, objects) != 0) return -1;
    if (run->options->processes)
        gate_tell("both builds in each of %d processes, launched in turns",
                  run->options->processes);
    else
        gate_tell("both builds in one process, launched in turns");
    if (launch_all(run, objects, made, end) != 0) return -1;
    return run->final ? 0 : gate_read_twins(run, run->store, made->id[0]);
}

/* --------------------------------------------------------------- confirm -- */

/* Processes in which a change must be seen besides, the same way and beyond the floor. */
enum { CONFIRMS = 4 };
/* What is changed by more needs none: copies of the same code were off by 3.9 % at most, in 779
 * pairs on H200s. */
static const double BEYOND_PLACE = 0.05;

static bool may_be_place(const struct comparison_row *row)
{
    return verdict_is_change(row->verdict) && fabs(log(row->ratio.mid)) < BEYOND_PLACE;
}

static const struct comparison_row *row_of(const struct comparison *comparison,
                                           const struct case_id *id)
{
    for (int i = 0; i < comparison->count; i++)
        if (case_id_order(&comparison->rows[i].id, id) == 0) return &comparison->rows[i];
    return NULL;
}

static bool repeats(const struct comparison_row *row, const struct comparison_row *again)
{
    double change = again ? log(again->ratio.mid) : NAN;
    return row->verdict == VERDICT_REGRESSED ? change > log1p(row->floor)
                                             : change < -log1p(row->floor);
}

static int count_doubtful(const struct comparison *first)
{
    int count = 0;
    for (int i = 0; i < first->count; i++)
        count += may_be_place(&first->rows[i]);
    return count;
}

/* What is measured once more: what of `first` is doubtful or, where a filter cannot name all of
 * that, everything. */
static const char *doubtful(const struct gate_run *run, const struct comparison *first,
                            char filter[GATE_FILTER])
{
    filter[0] = '\0';
    for (int i = 0; i < first->count; i++)
        if (may_be_place(&first->rows[i]) && !gate_filter_add(filter, &first->rows[i].id))
            return run->filter;
    return filter;
}

/* One more process. What it does not show is UNSTABLE in `first`. 0, or -1 with assay_error. */
static int confirm_once(struct gate_run *run, const struct twin_objects *objects,
                        struct comparison *first, int round, enum launch_end *end)
{
    char id[STORE_ID], filter[GATE_FILTER];
    const char *const only = id;
    double layout;
    *end = LAUNCH_REFUSED;
    if (launch(run, objects, round, doubtful(run, first, filter), false, id, end) != 0 ||
        gate_read_twins(run, run->store, id) != 0 ||
        gate_judge_twins(run, run->store, &only, 1, false, &layout) != 0)
        return -1;
    for (int i = 0; i < first->count; i++) {
        struct comparison_row *row = &first->rows[i];
        const struct comparison_row *again = row_of(run->comparison, &row->id);
        if (!may_be_place(row) || repeats(row, again)) continue;
        if (run->out_of_time && !(again && again->ratio.mid > 0)) continue; /* not measured */
        row_decide(row, VERDICT_UNSTABLE,
                   "not shown again by another process, where the copies lie elsewhere");
    }
    return 0;
}

/* Whether changes are those of the code, and not of where its copies lay in that one process. 0, or
 * -1 with assay_error. */
static int confirm(struct gate_run *run, const struct twin_objects *objects, const char *id,
                   enum launch_end *end)
{
    struct comparison first = *run->comparison;
    int status = 0, count = count_doubtful(&first);
    if (count == 0) return 0;
    gate_tell("%d change%s of less than %.2g %%, in %d processes more", count,
              count == 1 ? "" : "s", 100 * BEYOND_PLACE, CONFIRMS);
    memset(run->comparison, 0, sizeof *run->comparison);
    for (int round = 1; status == 0 && round <= CONFIRMS && !run->out_of_time; round++)
        if (count_doubtful(&first) > 0) status = confirm_once(run, objects, &first, round, end);
    comparison_release(run->comparison);
    *run->comparison = first;
    for (int i = 0; run->out_of_time && i < first.count; i++)
        if (may_be_place(&first.rows[i]))
            row_decide(&first.rows[i], VERDICT_INCONCLUSIVE,
                       "the gate ended before other processes showed it, too");
    return status != 0 ? status : gate_read_twins(run, run->store, id);
}

/* A gate that ends at its first failure ends with those that remain, or is made whole. */
static int judge(struct gate_run *run, const struct twin_objects *objects, struct launches *made,
                 enum launch_end *end)
{
    const char *ids[TWIN_MOST_PROCESSES], *first = made->id[0];
    double layout;
    if (run->final) {
        if (confirm(run, objects, first, end) != 0) return -1;
        run->final = gate_is_final(run, true);
        if (run->final) return 0;
        *end = LAUNCH_REFUSED;
        if (launch(run, objects, 0, run->filter, false, made->id[0], end) != 0 ||
            gate_read_twins(run, run->store, first) != 0)
            return -1;
    }
    for (int i = 0; i < made->count; i++)
        ids[i] = made->id[i];
    if (gate_judge_twins(run, run->store, ids, made->count, !run->out_of_time, &layout) != 0)
        return -1;
    return run->options->processes ? 0 : confirm(run, objects, first, end);
}

int gate_twins(struct gate_run *run)
{
    enum launch_end end;
    struct twin_objects objects;
    struct launches made;
    if (measure(run, &objects, &made, &end) == 0) {
        bool judged = judge(run, &objects, &made, &end) == 0;
        if (judged) gate_note_end(run, run->pool[ARM_CANDIDATE].count, "cases");
        return judged ? GATE_MADE : gate_exit_of(end);
    }
    if (end == LAUNCH_STOPPED || end == LAUNCH_FAILED) return gate_exit_of(end);
    snprintf(run->no_twins, sizeof run->no_twins, "%s", assay_last_error());
    fprintf(stderr, "assay: no twins: %s\n", run->no_twins);
    run->out_of_time = run->final = run->compare.twins = false;
    run->compare.noise = &run->noise;
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++)
        timings_release(&run->pool[arm]);
    return TWINS_NONE;
}
