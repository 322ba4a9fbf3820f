/* gate_judge.c - from the launches of a gate to its verdicts. */
#include <math.h>
#include <stdlib.h>

#include "gate/gate_run_state.h"
#include "store/store_gate.h"

/* The metric of a case in one launch of a pool; NAN none. */
static double value_of(const struct gate_run *run, enum arm arm, const struct case_id *id,
                       int launch, enum metric_kind metric)
{
    const struct timings *pool = &run->pool[arm];
    const struct timing *end = pool->rows + pool->count;
    for (const struct timing *row = timings_first(pool, id);
         row && row < end && case_id_order(&row->id, id) == 0; row++)
        if (row->launch == launch) return timing_metric(pool, row, metric);
    return NAN;
}

void gate_collect(struct gate_rounds *rounds, const struct gate_run *run, enum arm other,
                  const struct case_id *id, int from, int to)
{
    const struct compare_options *compare = &run->compare;
    struct clock_sight sight = clock_sight_of(&run->pool[ARM_BASE], &run->pool[ARM_CANDIDATE], id,
                                              compare->clock_launches, compare->speedup);
    rounds->count = 0;
    for (int round = from; round < to && rounds->count < SIGNED_RANK_MAX; round++) {
        double base = value_of(run, ARM_BASE, id, round, sight.metric);
        bool is_later = other == ARM_NULL && !run->options->null;
        int launch = is_later ? round - run->screen_rounds : round;
        double value = log(value_of(run, other, id, launch, sight.metric)) - log(base);
        if (!isnan(value)) rounds->value[rounds->count++] = value;
    }
}

static void collect_second(struct gate_run *run, int to)
{
    for (int i = 0; i < run->comparison->count; i++) {
        const struct case_id *id = &run->comparison->rows[i].id;
        gate_collect(&run->cases[i].confirm, run, ARM_CANDIDATE, id, run->screen_rounds, to);
        gate_collect(&run->cases[i].null, run, ARM_NULL, id, run->screen_rounds, to);
    }
}

static int launches_made(const struct gate_run *run)
{
    int base = run->pool[ARM_BASE].run.launch_count;
    int candidate = run->pool[ARM_CANDIDATE].run.launch_count;
    return base < candidate ? base : candidate;
}

bool gate_is_judged(const struct comparison_row *row)
{
    return row->evidence != EVIDENCE_NONE;
}

bool gate_is_wanted(const struct gate_run *run, const struct gate_case *one)
{
    return run->extending ? gate_is_open(one) : one->slower.suspect || one->faster.suspect;
}

bool gate_is_simulated(const struct gate_run *run)
{
    return run->pool[ARM_BASE].run.run.simulated && run->pool[ARM_CANDIDATE].run.run.simulated;
}

/* Of the stage that decided. */
static void fill_p(struct comparison_row *row, const struct gate_case *one)
{
    const struct gate_rounds *rounds = row->confirmed ? &one->confirm : &one->screen;
    row->p_slower = rounds_p_changed(rounds, one->floor, SIDE_GREATER);
    row->p_faster = rounds_p_changed(rounds, one->floor, SIDE_LESS);
}

static void fill_row(struct comparison_row *row, const struct gate_case *one, bool confirmed)
{
    row->floor = one->floor;
    row->mde = one->mde;
    row->launches = one->rounds;
    row->confirmed = confirmed && (one->slower.suspect || one->faster.suspect);
    fill_p(row, one);
    row->ratio = (struct interval){exp(one->change.mid), exp(one->change.lo), exp(one->change.hi)};
    row->tags &= ~(unsigned)TAG_FASTER;
    row_decide(row, one->verdict, "%s", one->reason);
    comparison_row_doubt(row);
}

bool gate_is_final(const struct gate_run *run, bool times_are)
{
    const struct comparison *comparison = run->comparison;
    if (!run->options->fail_fast || store_apply_acks(run->store, run->comparison) != 0)
        return false;
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        bool fails = row->verdict == VERDICT_ERROR || row->verdict == VERDICT_MISSING ||
                     (row->verdict == VERDICT_REGRESSED && times_are);
        if (fails && !(row->tags & TAG_ACK)) return true;
    }
    return false;
}

bool gate_runs_same_kernels(const struct gate_run *run, const struct comparison_row *row)
{
    const struct device_info *device = &run->pool[ARM_BASE].run.launches[0].device;
    bool by_kernels = device->clock == CLOCK_CUPTI && row->id.place == ASSAY_CUDA;
    return (row->tags & TAG_SAME_CODE) && by_kernels && !run->options->speedup;
}

static int make_cases(struct gate_run *run)
{
    struct comparison *comparison = run->comparison;
    free(run->cases);
    run->cases = calloc((size_t)comparison->count + 1, sizeof *run->cases);
    if (!run->cases) return assay_error("out of memory for %d cases", comparison->count);
    for (int i = 0; i < comparison->count; i++) {
        struct comparison_row *row = &comparison->rows[i];
        struct gate_case *one = &run->cases[i];
        *one = (struct gate_case){.threshold = row->threshold, .noise = NAN};
        /* One whose launches were unstable is measured again. */
        one->settled = !gate_is_judged(row) && row->verdict != VERDICT_UNSTABLE;
        if (!gate_is_judged(row)) continue;
        one->noise = row->noise =
            expm1(noise_floor(&run->noise, &row->id, row->base_ns, GATE_CONFIRM_ROUNDS));
        one->quantum = row->quantum;
        gate_collect(&one->screen, run, ARM_CANDIDATE, &row->id, 0, run->screen_rounds);
        if (run->options->null)
            gate_collect(&one->twin, run, ARM_NULL, &row->id, 0, run->screen_rounds);
        else if (gate_runs_same_kernels(run, row))
            one->twin = one->screen;
    }
    return 0;
}

/* The first look at the second stage, and the second one where there were more rounds. */
static int judge_second(struct gate_run *run)
{
    int rounds = launches_made(run), looked = run->screen_rounds + run->confirm_rounds;
    collect_second(run, looked);
    int open = gate_confirm(run->cases, run->comparison->count, &run->rules, false);
    if (rounds <= looked) return open; /* fewer: --max-time ended the first look */
    collect_second(run, rounds);
    return gate_confirm(run->cases, run->comparison->count, &run->rules, true);
}

int gate_judge(struct gate_run *run, int *suspects, int *open)
{
    struct comparison *comparison = run->comparison;
    bool confirmed = run->confirm_rounds > 0;
    comparison_release(comparison);
    run->compare.across = gate_is_simulated(run);
    run->compare.presence = PRESENT_IN_PAIRS;
    run->compare.clock_launches = run->screen_rounds; /* a threshold holds to the end */
    if (compare_runs(comparison, &run->pool[ARM_BASE], &run->pool[ARM_CANDIDATE], &run->compare) !=
        0)
        return -1;
    comparison->mode = "paired";
    if (make_cases(run) != 0) return -1;
    *suspects = gate_screen(run->cases, comparison->count, &run->rules);
    *open = confirmed && *suspects > 0 ? judge_second(run) : 0;
    for (int i = 0; i < comparison->count; i++)
        if (gate_is_judged(&comparison->rows[i]))
            fill_row(&comparison->rows[i], &run->cases[i], confirmed);
    return 0;
}
