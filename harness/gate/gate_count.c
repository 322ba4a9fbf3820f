/* gate_count.c - a gate by what launches count: one of each program, and more of what differs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/grow.h"
#include "gate/gate_run_state.h"
#include "judge/counts.h"

struct counting {
    struct gate_run *run;
    struct counted_case *cases;
    int count;
};

static struct counted_case *find_case(const struct counting *counting, const struct case_id *id)
{
    for (int i = 0; i < counting->count; i++)
        if (case_id_order(&counting->cases[i].id, id) == 0) return &counting->cases[i];
    return NULL;
}

static struct counted_case *case_of(struct counting *counting, const struct case_id *id)
{
    struct counted_case *known = find_case(counting, id);
    if (known) return known;
    struct counted_case *added =
        grow_add(&counting->cases, &counting->count, sizeof *added, "counted cases");
    if (added) added->id = *id;
    return added;
}

static int take_profiles(struct counting *counting, enum arm arm, const struct stored_run *stored)
{
    for (int i = 0; i < stored->case_count; i++) {
        if (!stored->profiles[i] || !status_has_time(stored->cases[i].result.status)) continue;
        struct counted_case *one = case_of(counting, &stored->cases[i].result.id);
        if (!one) return -1;
        struct profile_counts *counts = arm == ARM_BASE ? one->base : one->candidate;
        if (one->rounds[arm] < COUNTS_ROUNDS)
            profile_count(stored->profiles[i], &stored->launches[0].device,
                          &counts[one->rounds[arm]++]);
    }
    return 0;
}

/* What the launch, which is the last of the pool, has stored. */
static int read_counts(struct counting *counting, enum arm arm)
{
    struct gate_run *run = counting->run;
    const struct stored_run *pool = &run->pool[arm].run;
    struct stored_run stored;
    const char *id = pool->launches[pool->launch_count - 1].run_id;
    if (store_read_run(run->store, id, false, &stored) != 0) return -1;
    int status = store_read_profiles(run->store, &stored);
    if (status == 0) status = take_profiles(counting, arm, &stored);
    stored_run_release(&stored);
    return status;
}

/* The inputs of a round are those of both programs. */
static int count_round(struct counting *counting, int round, const char *filter)
{
    for (int arm = ARM_BASE; arm <= ARM_CANDIDATE; arm++) {
        int code = gate_launch(counting->run, (enum arm)arm, round, filter);
        if (code != GATE_MADE) return code;
        if (read_counts(counting, (enum arm)arm) != 0) return EXIT_USAGE;
    }
    return GATE_MADE;
}

/* What the first round left different. NULL: nothing. */
static const char *differing_filter(const struct counting *counting, char filter[GATE_FILTER])
{
    int differ = 0;
    bool named = true;
    filter[0] = '\0';
    for (int i = 0; i < counting->count; i++) {
        if (!counts_differ(&counting->cases[i])) continue;
        differ++;
        named = named && gate_filter_add(filter, &counting->cases[i].id);
    }
    if (differ > 0)
        gate_tell("%d case%s differ%s, counted four times more", differ, differ == 1 ? "" : "s",
                  differ == 1 ? "s" : "");
    if (differ == 0) return NULL;
    return named ? filter : counting->run->filter ? counting->run->filter : "*";
}

/* Rows that failed, are new or missing, or are not comparable for more than the times that were not
 * taken (other work, another device), were settled by comparing. */
static void judge_rows(const struct counting *counting)
{
    struct comparison *comparison = counting->run->comparison;
    for (int i = 0; i < comparison->count; i++) {
        struct comparison_row *row = &comparison->rows[i];
        const struct counted_case *one = find_case(counting, &row->id);
        bool is_untimed =
            row->verdict == VERDICT_INCOMPARABLE && strcmp(row->reason, COMPARE_NO_TIME) == 0;
        if (!one || !is_untimed) continue;
        row->verdict = counts_judge(one, row->reason);
        row->launches = one->rounds[ARM_BASE];
        row->confirmed = row->launches > 1;
        row->floor = row->threshold = 1e-3;
        double base = one->base[0].value[COUNT_INSTRUCTIONS];
        double candidate = one->candidate[0].value[COUNT_INSTRUCTIONS];
        row->ratio.mid = base > 0 ? candidate / base : NAN;
        row->ratio.lo = row->ratio.hi = NAN;
    }
}

static int compare(struct counting *counting)
{
    struct gate_run *run = counting->run;
    run->compare.across = gate_is_simulated(run);
    run->compare.presence = PRESENT_IN_PAIRS;
    if (compare_runs(run->comparison, &run->pool[ARM_BASE], &run->pool[ARM_CANDIDATE],
                     &run->compare) != 0)
        return -1;
    run->comparison->mode = "paired";
    run->comparison->metric = "counters";
    run->comparison->note_count = 0; /* they are about times */
    if (run->comparison->base.simulated || run->comparison->candidate.simulated)
        comparison_note(run->comparison, "SIMULATED: no hardware was measured");
    comparison_note(run->comparison,
                    "by what launches count, not by time: counters to 0.1 %%, all else exactly");
    judge_rows(counting);
    return 0;
}

int gate_count(struct gate_run *run)
{
    struct counting counting = {.run = run};
    char filter[GATE_FILTER];
    gate_tell("one launch of each program counts all cases; four more what then differs");
    int code = count_round(&counting, 0, run->filter);
    const char *differing = code == GATE_MADE ? differing_filter(&counting, filter) : NULL;
    for (int round = 1; differing && round < COUNTS_ROUNDS && code == GATE_MADE; round++)
        code = count_round(&counting, round, differing);
    if (code == GATE_MADE && compare(&counting) != 0) code = EXIT_USAGE;
    free(counting.cases);
    return code;
}
