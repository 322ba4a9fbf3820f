/* compare_case.c - judges one case of two runs, and names the likely causes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/nvml.h"
#include "judge/causes.h"
#include "judge/compare_parts.h"
#include "judge/twin.h"
#include "suite/suite.h"

/* SM clocks within this fraction of each other count as equal. */
static const double STEADY_CLOCK = 0.01;
/* Above this many operations per byte the time of a case follows the SM clock. */
static const double OPS_PER_BYTE = 16;

/* ---------------------------------------------------------------- sides -- */

static void side_read(struct side_figures *side, const struct comparing *comparing,
                      const struct timings *timings, enum metric_kind metric, double *logs)
{
    enum metric_kind time = metric == METRIC_MEAN ? METRIC_MEAN : METRIC_MEDIAN;
    int times = 0, clocks = 0;
    double *scratch = comparing->scratch;
    side->logs = logs;
    side->valid = 0;
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].time_ns > 0)
            scratch[times++] = timing_metric(timings, &side->rows[i], time);
    side->time_ns = stats_median(scratch, times);
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].sm_mhz > 0) scratch[clocks++] = side->rows[i].sm_mhz;
    side->sm_mhz = stats_median(scratch, clocks);
    for (int i = 0; i < side->count; i++) {
        double value = timing_metric(timings, &side->rows[i], metric);
        if (value > 0) logs[side->valid++] = log(value);
    }
}

/* What judges a case of two models: its ratio to a baseline that both have, else its share of the
 * ceiling. The ratio of a baseline to itself is none. */
static enum metric_kind limit_of(const struct comparing *comparing, const struct side_figures *base,
                                 const struct side_figures *candidate)
{
    if (base->count == 0 || candidate->count == 0) return METRIC_SHARE;
    const struct timing *left = timing_baseline(comparing->base, base->rows);
    const struct timing *right = timing_baseline(comparing->candidate, candidate->rows);
    bool is_same = left && right && left->time_ns > 0 && right->time_ns > 0 &&
                   case_id_order(&left->id, &right->id) == 0;
    return is_same && left != base->rows && right != candidate->rows ? METRIC_SPEEDUP
                                                                     : METRIC_SHARE;
}

static double limit_value(const struct comparing *comparing, const struct side_figures *side)
{
    memcpy(comparing->scratch, side->logs, (size_t)side->valid * sizeof(double));
    return exp(-stats_median(comparing->scratch, side->valid));
}

static const struct timing *first_with(const struct side_figures *side, int status)
{
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].status == status) return &side->rows[i];
    return NULL;
}

/* The first launch that failed, worst status first; NULL: none. */
static const struct timing *failure(const struct side_figures *side)
{
    static const int worst[] = {STATUS_WRONG, STATUS_CRASHED, STATUS_TIMEOUT};
    for (size_t i = 0; i < sizeof worst / sizeof worst[0]; i++) {
        const struct timing *row = first_with(side, worst[i]);
        if (row) return row;
    }
    return NULL;
}

static bool is_skipped(const struct side_figures *side)
{
    return side->count == 0 || first_with(side, STATUS_SKIPPED) != NULL;
}

static bool is_in_launch(const struct side_figures *side, int launch)
{
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].launch == launch) return true;
    return false;
}

/* Number of launches of `other` in which a side has no row. */
static int lost_rounds(const struct side_figures *side, const struct side_figures *other)
{
    int lost = 0;
    for (int i = 0; i < other->count; i++)
        lost += !is_in_launch(side, other->rows[i].launch);
    return lost;
}

/* Number of launches in which a side should have a row and has none: those that lost it, and those
 * in which `other` has one. */
static int absent_rounds(const struct side_figures *side, const struct timings *timings,
                         const struct side_figures *other)
{
    const struct case_id *id = other->count ? &other->rows[0].id : &side->rows[0].id;
    const struct lost_case *lost = timings_first_lost(timings, id),
                           *end = timings->lost + timings->lost_count;
    int absent = lost_rounds(side, other);
    for (; lost && lost < end && case_id_order(&lost->id, id) == 0; lost++)
        absent += !is_in_launch(other, lost->launch);
    return absent;
}

/* Whether half of the launches or more were unstable: the rest would be a biased selection. */
static bool mostly_unstable(const struct side_figures *side)
{
    int count = 0;
    for (int i = 0; i < side->count; i++)
        count += side->rows[i].status == STATUS_UNSTABLE;
    return count > 0 && 2 * count >= side->count;
}

/* Whether half of the launches or more know the time no better than to `most_spread`. */
static bool mostly_noisy(const struct side_figures *side, double most_spread)
{
    int count = 0;
    for (int i = 0; i < side->count; i++) {
        const struct timing *row = &side->rows[i];
        /* The ends of a median's interval lie on steps of the clock, which says nothing of noise.
         */
        double most = fmax(most_spread, WHOLE_STEPS * row->steps.step_ns / row->time_ns);
        count += interval_spread(row->time_ns, row->lo_ns, row->hi_ns) > most;
    }
    return count > 0 && 2 * count >= side->count;
}

/* What was seen of a side that is noisy; the launches are all of its run's, so that cases with one
 * cause say it in the same words. */
static void find_noise(struct comparison_row *row, const struct timings *timings,
                       const struct side_figures *side)
{
    struct causes causes = {0};
    struct clock_seen clock = {.least_mhz = INFINITY};
    if (!mostly_noisy(side, fmax(NOISY_SPREAD, row->floor))) return;
    causes_of_launches(&causes, timings->run.launches, timings->run.launch_count);
    for (int i = 0; i < side->count; i++)
        clock_seen_add(&clock, side->rows[i].sm_mhz, side->rows[i].clock_reasons);
    causes_of_clock(&causes, &clock);
    snprintf(row->noisy, sizeof row->noisy, "%s",
             causes.count ? causes.text[0] : "no cause was seen");
}

/* -------------------------------------------------------------- verdict -- */

static enum verdict of_failure(struct comparison_row *row, const struct timing *failed)
{
    return row_decide(row, VERDICT_ERROR, "%s%s%s", status_name((enum case_status)failed->status),
                      failed->reason[0] ? ": " : "", failed->reason);
}

/* A case that is missing in some launches has times only from those that went well, which
 * would be a biased selection. VERDICTS: it is in all launches that it must be in. */
static enum verdict of_lost(struct comparison_row *row, const struct comparing *comparing,
                            const struct side_figures *base, const struct side_figures *candidate)
{
    enum compare_presence presence = comparing->options->presence;
    int launches = stored_run_rounds(&comparing->candidate->run);
    int lost = presence == PRESENT_IN_ALL     ? launches - candidate->count
               : presence == PRESENT_IN_PAIRS ? absent_rounds(candidate, comparing->candidate, base)
                                              : 0;
    if (presence == PRESENT_IN_PAIRS) launches = candidate->count + lost;
    if (lost > 0)
        return row_decide(row, VERDICT_MISSING,
                          "the candidate does not have it in %d of %d launches", lost, launches);
    lost = presence == PRESENT_IN_PAIRS ? lost_rounds(base, candidate) : 0;
    if (lost == 0) return VERDICTS;
    return row_decide(row, VERDICT_INCOMPARABLE, "the base does not have it in %d of %d launches",
                      lost, candidate->count);
}

/* Unknown work on both sides, as in some imported files, is equal. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* A case that the candidate makes another one, in any launch, cannot be compared by its doing.
 * VERDICTS: it is the same. */
static enum verdict of_redefined(struct comparison_row *row, const struct side_figures *base,
                                 const struct side_figures *candidate)
{
    const struct timing *b = &base->rows[0];
    for (int i = 0; i < candidate->count; i++) {
        const struct timing *c = &candidate->rows[i];
        bool same_work = is_same(b->bytes, c->bytes) && is_same(b->ops, c->ops);
        if (same_work && strcmp(b->input, c->input) == 0) continue;
        row->tags |= TAG_REDEFINED;
        if (same_work) return row_decide(row, VERDICT_INCOMPARABLE, "its input is another file");
        return row_decide(row, VERDICT_INCOMPARABLE,
                          "the definition of its work differs (%.15g bytes, %.15g "
                          "operations; now %.15g, %.15g)",
                          b->bytes, b->ops, c->bytes, c->ops);
    }
    return VERDICTS;
}

/* The verdict if it can be decided without a ratio, else VERDICTS. */
static enum verdict without_ratio(struct comparison_row *row, const struct comparing *comparing,
                                  const struct side_figures *base,
                                  const struct side_figures *candidate, const char *difference)
{
    const struct timing *failed = failure(candidate);
    enum verdict verdict;
    if (failed) return of_failure(row, failed);
    if (is_skipped(candidate))
        return row_decide(row, VERDICT_MISSING, "%s%s", candidate->count ? "skipped: " : "",
                          candidate->count ? first_with(candidate, STATUS_SKIPPED)->reason
                                           : "the candidate does not have it");
    if (is_skipped(base))
        return row_decide(row, VERDICT_NEW, "%s",
                          base->count ? "the base skipped it" : "the base does not have it");
    if ((failed = failure(base)))
        return row_decide(row, VERDICT_INCOMPARABLE, "the base has no time: %s",
                          status_name((enum case_status)failed->status));
    if ((verdict = of_lost(row, comparing, base, candidate)) != VERDICTS) return verdict;
    if ((verdict = of_redefined(row, base, candidate)) != VERDICTS) return verdict;
    if (mostly_unstable(base) || mostly_unstable(candidate)) {
        bool is_base = mostly_unstable(base);
        return row_decide(row, VERDICT_UNSTABLE, "%s%s", is_base ? "the base: " : "the candidate: ",
                          first_with(is_base ? base : candidate, STATUS_UNSTABLE)->reason);
    }
    if (difference[0] && !comparing->options->across) {
        row->tags |= comparing->key_tags;
        return row_decide(row, VERDICT_INCOMPARABLE, "%s", difference);
    }
    if (base->valid == 0 || candidate->valid == 0)
        return row_decide(row, VERDICT_INCOMPARABLE, "%s",
                          comparing->by_limits          ? "no baseline of its group, and no ceiling"
                          : comparing->options->speedup ? "no baseline of its group"
                                                        : COMPARE_NO_TIME);
    int least = comparing->options->least_launches;
    if (row->launches >= least) return VERDICTS;
    return row_decide(row, VERDICT_INCOMPARABLE, "%d launch%s, and this needs %d on each side",
                      row->launches, row->launches == 1 ? "" : "es", least);
}

/* ----------------------------------------------------------------- tags -- */

/* The widest gap separates two groups if each has two launches or more, the gap is at least
 * one per cent, and it is more than three times as wide as either group. */
bool is_bimodal(double *logs, int count)
{
    int at = 0;
    if (count < 6) return false;
    stats_sort(logs, count);
    for (int i = 2; i <= count - 2; i++)
        if (at == 0 || logs[i] - logs[i - 1] > logs[at] - logs[at - 1]) at = i;
    double gap = logs[at] - logs[at - 1];
    double below = logs[at - 1] - logs[0], above = logs[count - 1] - logs[at];
    return gap > 0.01 && gap > 3 * below && gap > 3 * above;
}

/* Whether the change of time is explained by the clock: the cycles are the same. */
static bool is_clocks(const struct comparison_row *row, const struct side_figures *base,
                      const struct side_figures *candidate)
{
    double change = log(row->ratio.mid), floor = log1p(row->floor);
    if (!(base->rows[0].ops > OPS_PER_BYTE * base->rows[0].bytes)) return false;
    double cycles = change + log(candidate->sm_mhz / base->sm_mhz);
    return fabs(change) > floor && fabs(cycles) <= floor; /* false for NAN */
}

static void set_tags(struct comparison_row *row, const struct comparing *comparing,
                     const struct side_figures *base, const struct side_figures *candidate)
{
    const char *code = base->rows[0].code_hash;
    uint64_t reasons = 0;
    for (int i = 0; i < base->count; i++)
        reasons |= base->rows[i].clock_reasons;
    for (int i = 0; i < candidate->count; i++)
        reasons |= candidate->rows[i].clock_reasons;
    row->tags |= comparing->key_tags;
    if (nvml_is_slowdown(reasons)) row->tags |= TAG_THROTTLE;
    if (first_with(base, STATUS_UNCHECKED) || first_with(candidate, STATUS_UNCHECKED))
        row->tags |= TAG_UNCHECKED;
    if (code[0] && strcmp(code, candidate->rows[0].code_hash) == 0) row->tags |= TAG_SAME_CODE;
    if (is_bimodal(base->logs, base->valid) || is_bimodal(candidate->logs, candidate->valid))
        row->tags |= TAG_BIMODAL;
    bool by_time = !comparing->options->speedup && !comparing->by_limits;
    if (by_time && is_clocks(row, base, candidate)) row->tags |= TAG_CLOCK;
}

/* ---------------------------------------------------------------- case -- */

/* Whether all launches of the case ran at the same SM clock, as a simulated device always does. */
static bool clock_is_steady(const struct comparing *comparing, const struct side_figures *base,
                            const struct side_figures *candidate)
{
    const struct side_figures *sides[] = {base, candidate};
    const struct timings *timings[] = {comparing->base, comparing->candidate};
    int looked_at = comparing->options->clock_launches;
    double least = INFINITY, most = 0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < sides[side]->count; i++) {
            const struct timing *row = &sides[side]->rows[i];
            if (!status_has_time(row->status) || (looked_at > 0 && row->launch >= looked_at))
                continue;
            if (!(row->sm_mhz > 0)) return timings[side]->run.run.simulated;
            least = fmin(least, row->sm_mhz);
            most = fmax(most, row->sm_mhz);
        }
    }
    return most > 0 && most <= least * (1 + STEADY_CLOCK);
}

/* What the suite of a side says: the strictest of its launches, `otherwise` where one says nothing
 * or what no suite may say. */
static double threshold_of_side(const struct side_figures *side, double otherwise)
{
    double strictest = INFINITY;
    for (int i = 0; i < side->count; i++) {
        double threshold = side->rows[i].threshold;
        bool is_said = threshold > 0 && threshold <= SUITE_MOST_THRESHOLD_PCT / 100.0;
        strictest = fmin(strictest, is_said ? threshold : otherwise);
    }
    return side->count ? strictest : otherwise;
}

/* The command line's threshold, else the suites', else the default by the clock. Of two suites the
 * stricter counts: a candidate may not loosen what it is judged by. */
static double threshold_of(struct comparing *comparing, const struct side_figures *base,
                           const struct side_figures *candidate)
{
    if (comparing->options->threshold > 0) return comparing->options->threshold;
    double otherwise = clock_is_steady(comparing, base, candidate) ? COMPARE_STEADY_THRESHOLD
                                                                   : COMPARE_LOOSE_THRESHOLD;
    if (comparing->options->twins) otherwise = TWIN_THRESHOLD;
    double of_base = threshold_of_side(base, otherwise);
    double of_candidate = threshold_of_side(candidate, otherwise);
    double stricter = fmin(of_base, of_candidate);
    if (base->count && of_candidate > of_base)
        comparing->laxest_refused = fmax(comparing->laxest_refused, of_candidate);
    if (stricter > COMPARE_LOOSE_THRESHOLD)
        comparing->laxest_taken = fmax(comparing->laxest_taken, stricter);
    return stricter;
}

void compare_lost_case(struct comparing *comparing, const struct case_id *id)
{
    struct comparison_row *row = comparison_add_row(comparing->comparison, id);
    row_decide(row, VERDICT_MISSING, "the suite has it, and neither side measured it");
}

int compare_case(struct comparing *comparing, struct side_figures *base,
                 struct side_figures *candidate)
{
    const struct case_id *id = base->count ? &base->rows[0].id : &candidate->rows[0].id;
    struct interval change;
    char difference[ASSAY_MAX_REASON];
    if (!case_matches(comparing->options->filter, id)) return 0;
    if (is_skipped(base) && is_skipped(candidate)) return 0; /* neither side measured it */
    struct comparison_row *row = comparison_add_row(comparing->comparison, id);
    row->floor = row->threshold = threshold_of(comparing, base, candidate);
    const struct compare_options *options = comparing->options;
    struct clock_sight sight = clock_sight_of(comparing->base, comparing->candidate, &row->id,
                                              options->clock_launches, options->speedup);
    if (comparing->by_limits) sight.metric = limit_of(comparing, base, candidate);
    side_read(base, comparing, comparing->base, sight.metric, comparing->logs[0]);
    side_read(candidate, comparing, comparing->candidate, sight.metric, comparing->logs[1]);
    row->base_ns = base->time_ns;
    row->candidate_ns = candidate->time_ns;
    row->launches = base->valid < candidate->valid ? base->valid : candidate->valid;
    if (comparing->by_limits) {
        row->metric = sight.metric == METRIC_SPEEDUP ? "speedup" : "share";
        row->base_value = limit_value(comparing, base);
        row->candidate_value = limit_value(comparing, candidate);
    }
    row->verdict = without_ratio(row, comparing, base, candidate,
                                 compare_difference(comparing, base, candidate, difference));
    if (row->verdict != VERDICTS) return 0;

    if (compare_find_change(row, comparing, base, candidate, &change) != 0) return -1;
    row->ratio = (struct interval){exp(change.mid), exp(change.lo), exp(change.hi)};
    /* What is known of noise is of one card's times. */
    if (!comparing->by_limits)
        row->noise =
            expm1(noise_floor(comparing->options->noise, &row->id, row->base_ns, row->launches));
    row->quantum = sight.resolution_ns / row->base_ns;
    if (sight.metric == METRIC_MEAN) row->tags |= TAG_STEPS;
    row->floor = fmax(fmax(row->floor, row->noise), row->quantum);
    if (options->history)
        row->fence = history_case_fence(options->history, &row->id, options->setting);
    row->verdict = compare_judge(row, comparing, base, candidate, change);
    row->mde = compare_detectable(row, comparing, base, candidate);
    set_tags(row, comparing, base, candidate);
    find_noise(row, comparing->base, base);
    find_noise(row, comparing->candidate, candidate);
    comparison_row_doubt(row);
    return 0;
}
