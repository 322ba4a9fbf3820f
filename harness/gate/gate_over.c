/* gate_over.c - one verdict over the gates of many nodes. The statistics are judge/gate_nodes.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "gate/gate_over_nodes.h"
#include "judge/gate_nodes.h"

static const double ALPHA = 0.05;

struct entry {
    const struct comparison_row *row;
    int member;
};

/* ------------------------------------------------------------------ cases -- */

static int entry_order(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = case_id_order(&a->row->id, &b->row->id);
    return order ? order : (a->member > b->member) - (a->member < b->member);
}

static double median_ns(const struct over *over, const struct entry *entries, int count,
                        enum arm arm, double *scratch)
{
    int times = 0;
    for (int i = 0; i < count; i++) {
        const struct timings *pool = &over->members[entries[i].member].run.pool[arm];
        const struct case_id *id = &entries[i].row->id;
        const struct timing *row = timings_first(pool, id), *end = pool->rows + pool->count;
        for (; row && row < end && case_id_order(&row->id, id) == 0; row++)
            if (row->time_ns > 0) scratch[times++] = row->time_ns;
    }
    return stats_median(scratch, times);
}

/* On how many nodes the case is proven unchanged. A proof is of the builds, so it holds on all
 * nodes; but where one measured a change it ran other machine code, or the proof is wrong: 0. */
static int proven_on(const struct entry *entries, int count)
{
    int proven = 0;
    for (int i = 0; i < count; i++) {
        if (verdict_is_change(entries[i].row->verdict)) return 0;
        proven += entries[i].row->verdict == VERDICT_UNCHANGED;
    }
    return proven;
}

/* The verdict that one node is enough for: it lost the case there, or proved it; or there are too
 * few with a ratio. */
static void settle(const struct over *over, struct comparison_row *row, const struct entry *entries,
                   int count)
{
    const struct entry *worst = entries;
    char name[2 * RESULT_MAX_PROPERTY];
    int proven = proven_on(entries, count);
    for (int i = 0; i < count; i++)
        if (entries[i].row->verdict < worst->row->verdict) worst = &entries[i];
    if (proven > 0 && worst->row->verdict > VERDICT_MISSING) {
        row->verdict = VERDICT_UNCHANGED;
        row->launches = proven;
        if (proven < over->count)
            snprintf(row->reason, sizeof row->reason, "proven on %d of %d nodes", proven,
                     over->count);
        return;
    }
    bool has_ratio = !isnan(worst->row->ratio.mid);
    over_name(&over->members[worst->member].about, name);
    row_decide(row, has_ratio ? VERDICT_INCOMPARABLE : worst->row->verdict, "%.100s: %.140s", name,
               has_ratio ? "of no other node there are rounds" : worst->row->reason);
}

static void fill_row(const struct over *over, struct comparison_row *row,
                     const struct entry *entries, int count, double *scratch)
{
    *row = *entries->row;
    row->metric = over->options->speedup ? "speedup" : "time";
    row->ratio = (struct interval){NAN, NAN, NAN};
    row->reason[0] = '\0';
    row->base_value = row->candidate_value = row->fence = row->mde = NAN;
    row->p_slower = row->p_faster = row->p_least = NAN;
    for (int i = 1; i < count; i++) {
        const struct comparison_row *other = entries[i].row;
        row->threshold = fmin(row->threshold, other->threshold); /* leaves NAN out */
        row->floor = fmax(row->floor, other->floor);
        row->noise = fmax(row->noise, other->noise);
        row->quantum = fmax(row->quantum, other->quantum);
    }
    row->base_ns = median_ns(over, entries, count, ARM_BASE, scratch);
    row->candidate_ns = median_ns(over, entries, count, ARM_CANDIDATE, scratch);
}

/* The rounds of the nodes on which the case has a ratio. `space` holds one for each. */
static void collect(const struct over *over, struct nodes_case *one, const struct entry *entries,
                    int count, struct node_case *space)
{
    one->nodes = space;
    one->settled = proven_on(entries, count) > 0;
    for (int i = 0; i < count; i++) {
        const struct member *member = &over->members[entries[i].member];
        struct node_case *node = &space[one->count];
        if (entries[i].row->verdict <= VERDICT_MISSING) one->settled = true;
        if (isnan(entries[i].row->ratio.mid)) continue;
        *node = (struct node_case){.node = entries[i].member, .own = entries[i].row->verdict};
        gate_collect(&node->rounds, &member->run, ARM_CANDIDATE, &entries[i].row->id, 0,
                     GATE_SCREEN_ROUNDS);
        one->count += node->rounds.count >= GATE_LEAST_ROUNDS;
    }
}

static void say_strangers(const struct over *over, struct comparison_row *row,
                          const struct nodes_case *one)
{
    for (int i = 0; i < one->count; i++) {
        char name[2 * RESULT_MAX_PROPERTY], change[UNITS_MAX];
        if (!one->nodes[i].disagrees) continue;
        over_name(&over->members[one->nodes[i].node].about, name);
        comparison_change_text(exp(one->nodes[i].change), 1, change);
        text_add(row->reason, sizeof row->reason, "; ", "%.80s disagrees: %s", name, change);
    }
}

static void finish_row(const struct over *over, struct comparison_row *row,
                       const struct nodes_case *one)
{
    row->launches = one->count;
    row->evidence = EVIDENCE_LAUNCHES;
    row->ratio = (struct interval){exp(one->change.mid), exp(one->change.lo), exp(one->change.hi)};
    row->p_slower = one->p_slower;
    row->p_faster = one->p_faster;
    row->mde = one->mde;
    row_decide(row, one->verdict, "%s", one->reason);
    say_strangers(over, row, one);
}

struct work {
    struct entry *entries;
    struct nodes_case *cases; /* one per row of the comparison */
    struct node_case *nodes;
    double *scratch;
    int *first; /* the entries of row i begin here, and end where those of the next do */
};

static int work_begin(struct over *over, struct work *work, int *total)
{
    size_t entries = 0, launches = 1;
    for (int i = 0; i < over->count; i++) {
        entries += (size_t)over->members[i].count;
        launches += 2 * GATE_SCREEN_ROUNDS;
    }
    work->entries = calloc(entries + 1, sizeof *work->entries);
    work->cases = calloc(entries + 1, sizeof *work->cases);
    work->nodes = calloc(entries + 1, sizeof *work->nodes);
    work->first = calloc(entries + 2, sizeof *work->first);
    work->scratch = calloc(launches, sizeof *work->scratch);
    over->comparison->rows = calloc(entries + 1, sizeof *over->comparison->rows);
    if (!work->entries || !work->cases || !work->nodes || !work->first || !work->scratch ||
        !over->comparison->rows)
        return assay_error("out of memory for the gates of %d nodes", over->count);

    for (int i = 0; i < over->count; i++)
        for (int j = 0; j < over->members[i].count; j++)
            work->entries[(*total)++] = (struct entry){&over->members[i].rows[j], i};
    qsort(work->entries, (size_t)*total, sizeof *work->entries, entry_order);
    return 0;
}

static void work_end(struct work *work)
{
    free(work->entries);
    free(work->cases);
    free(work->nodes);
    free(work->first);
    free(work->scratch);
}

static void make_rows(struct over *over, struct work *work, int total)
{
    struct comparison *comparison = over->comparison;
    for (int i = 0, next; i < total; i = next) {
        const struct entry *entries = &work->entries[i];
        for (next = i;
             next < total && case_id_order(&work->entries[next].row->id, &entries->row->id) == 0;)
            next++;
        int at = comparison->count++, count = next - i;
        struct comparison_row *row = &comparison->rows[at];
        work->first[at] = i;
        work->first[at + 1] = next;
        fill_row(over, row, entries, count, work->scratch);
        work->cases[at] = (struct nodes_case){
            .threshold = row->threshold, .floor = row->floor, .quantum = row->quantum};
        collect(over, &work->cases[at], entries, count, &work->nodes[i]);
    }
}

static int judge(struct over *over)
{
    struct work work = {0};
    struct comparison *comparison = over->comparison;
    int total = 0, status = work_begin(over, &work, &total);
    if (status == 0) make_rows(over, &work, total);
    if (status == 0) status = gate_nodes_judge(work.cases, comparison->count, ALPHA);
    for (int i = 0; status == 0 && i < comparison->count; i++) {
        const struct nodes_case *one = &work.cases[i];
        int first = work.first[i];
        if (one->settled)
            settle(over, &comparison->rows[i], &work.entries[first], work.first[i + 1] - first);
        else
            finish_row(over, &comparison->rows[i], one);
    }
    work_end(&work);
    return status;
}

/* ------------------------------------------------------------------ whole -- */

static void fill_side(const struct over *over, struct comparison_side *side, enum arm arm)
{
    const struct stored_run *first = NULL;
    bool is_one_model = true;
    for (int i = 0; i < over->count && !first; i++)
        if (over_has_rounds(&over->members[i])) first = &over->members[i].run.pool[arm].run;
    if (first) comparison_side_of(side, first);
    text_copy(side->suite, sizeof side->suite, over->members[0].about.suite);
    side->launches = 0;
    side->label[0] = side->uuid[0] = side->spec[0] = side->command[0] = '\0';
    for (int i = 0; i < over->count; i++) {
        const struct stored_run *run = &over->members[i].run.pool[arm].run;
        side->launches += run->launch_count;
        side->simulated |= over->members[i].about.simulated;
        if (run->launch_count > 0)
            is_one_model &=
                strcmp(run->launches[0].device.name, first->launches[0].device.name) == 0;
    }
    if (is_one_model) return;
    snprintf(side->device, sizeof side->device, "several models");
    if (arm == ARM_BASE)
        comparison_note(over->comparison, "the nodes are of several models of device: what holds "
                                          "over all of them need not hold for one");
}

static void make_notes(struct over *over, int expected)
{
    struct comparison *comparison = over->comparison;
    comparison_note(comparison,
                    "one verdict over %d nodes, with %d rounds of each: a node is a draw from "
                    "nodes like these (DerSimonian and Laird, Hartung and Knapp)",
                    over->count, GATE_SCREEN_ROUNDS);
    if (over->lost_count > 0)
        snprintf(comparison->lost, sizeof comparison->lost,
                 "the share of %d node%s is missing: %.330s", over->lost_count,
                 over->lost_count == 1 ? "" : "s", over->lost);
    if (over->count + over->lost_count < expected)
        text_add(comparison->lost, sizeof comparison->lost, "; ",
                 "%d of %d nodes have left no gate", expected - over->count - over->lost_count,
                 expected);
    if (comparison->lost[0]) comparison_note(comparison, "%s", comparison->lost);
}

/* What one of the databases acknowledges is known. */
static int apply_acks(const struct over *over, char *const *files)
{
    int status = 0;
    for (int i = 0; files[i] && status == 0; i++) {
        struct store *store;
        if (store_open(&store, files[i], STORE_READ) != 0) continue; /* named as lost */
        status = store_apply_acks(store, over->comparison);
        store_close(store);
    }
    return status;
}

static int compare_nodes(struct over *over, const struct over_options *asked)
{
    struct comparison *comparison = over->comparison;
    *comparison = (struct comparison){.mode = "over",
                                      .metric = over->options->speedup ? "speedup" : "time",
                                      .threshold = over->options->threshold,
                                      .fdr = NAN,
                                      .tally.least_judged = over->options->least_judged};
    make_notes(over, asked->nodes);
    if (judge(over) != 0) return -1;
    fill_side(over, &comparison->base, ARM_BASE);
    fill_side(over, &comparison->candidate, ARM_CANDIDATE);
    if (apply_acks(over, asked->files) != 0 ||
        comparison_finish(comparison, over->options->fail_on) != 0)
        return -1;
    if (comparison->lost[0]) comparison->exit = EXIT_LOST;
    return 0;
}

/* GATE_MADE, or an exit code with assay_error. */
static int check(const struct over *over)
{
    if (over->count == 0)
        return assay_error_as(EXIT_NOTHING, "there is no gate to go by: %s", over->lost);
    for (int i = 0; i < over->count; i++)
        if (over->members[i].about.simulated && !over->options->allow_simulated)
            return assay_error_as(
                EXIT_USAGE, "a gate of a simulated device proves nothing (--allow-simulated)");
    return GATE_MADE;
}

int gate_over(const struct gate_options *options, const struct over_options *over,
              struct comparison *comparison)
{
    struct over all = {.options = options, .comparison = comparison};
    int code = GATE_MADE;
    memset(comparison, 0, sizeof *comparison);
    for (int i = 0; over->files[i] && code == GATE_MADE; i++)
        if (over_read(&all, over->files[i]) != 0) code = EXIT_USAGE;
    if (code == GATE_MADE) over_drop_useless(&all);
    if (code == GATE_MADE) code = check(&all);
    if (code == GATE_MADE && compare_nodes(&all, over) != 0) code = EXIT_USAGE;
    if (code != GATE_MADE) comparison_release(comparison);
    over_release(&all);
    return code;
}
