/* compare_case.c - judges one case of two runs, and names the likely causes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/nvml.h"
#include "judge/causes.h"
#include "judge/compare_parts.h"
#include "judge/gate_stats.h"
#include "suite/suite.h"

static const double CONFIDENCE = 0.95;
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
        count += interval_spread(row->time_ns, row->lo_ns, row->hi_ns) > most_spread;
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

static enum verdict set(struct comparison_row *row, enum verdict verdict, const char *before,
                        const char *reason)
{
    snprintf(row->reason, sizeof row->reason, "%s%s", before, reason);
    return verdict;
}

static enum verdict of_failure(struct comparison_row *row, const struct timing *failed)
{
    char before[32];
    snprintf(before, sizeof before, "%s%s", status_name((enum case_status)failed->status),
             failed->reason[0] ? ": " : "");
    return set(row, VERDICT_ERROR, before, failed->reason);
}

/* A case that is missing in some launches has times only from those that went well, which
 * would be a biased selection. VERDICTS: it is in all launches that it must be in. */
static enum verdict of_lost(struct comparison_row *row, const struct comparing *comparing,
                            const struct side_figures *base, const struct side_figures *candidate)
{
    enum compare_presence presence = comparing->options->presence;
    int launches = comparing->candidate->run.launch_count;
    int lost = presence == PRESENT_IN_ALL     ? launches - candidate->count
               : presence == PRESENT_IN_PAIRS ? absent_rounds(candidate, comparing->candidate, base)
                                              : 0;
    char count[64];
    if (presence == PRESENT_IN_PAIRS) launches = candidate->count + lost;
    snprintf(count, sizeof count, "%d of %d launches", lost, launches);
    if (lost > 0) return set(row, VERDICT_MISSING, "the candidate does not have it in ", count);
    lost = presence == PRESENT_IN_PAIRS ? lost_rounds(base, candidate) : 0;
    snprintf(count, sizeof count, "%d of %d launches", lost, candidate->count);
    if (lost > 0) return set(row, VERDICT_INCOMPARABLE, "the base does not have it in ", count);
    return VERDICTS;
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
        if (same_work) return set(row, VERDICT_INCOMPARABLE, "", "its input is another file");
        snprintf(row->reason, sizeof row->reason,
                 "the definition of its work differs (%.15g bytes, %.15g operations; now %.15g, "
                 "%.15g)",
                 b->bytes, b->ops, c->bytes, c->ops);
        return VERDICT_INCOMPARABLE;
    }
    return VERDICTS;
}

/* The verdict if it can be decided without a ratio, else VERDICTS. */
static enum verdict without_ratio(struct comparison_row *row, const struct comparing *comparing,
                                  const struct side_figures *base,
                                  const struct side_figures *candidate)
{
    const struct timing *failed = failure(candidate);
    enum verdict verdict;
    if (failed) return of_failure(row, failed);
    if (is_skipped(candidate))
        return set(row, VERDICT_MISSING, candidate->count ? "skipped: " : "",
                   candidate->count ? first_with(candidate, STATUS_SKIPPED)->reason
                                    : "the candidate does not have it");
    if (is_skipped(base))
        return set(row, VERDICT_NEW, "",
                   base->count ? "the base skipped it" : "the base does not have it");
    if ((failed = failure(base)))
        return set(row, VERDICT_INCOMPARABLE,
                   "the base has no time: ", status_name((enum case_status)failed->status));
    if ((verdict = of_lost(row, comparing, base, candidate)) != VERDICTS) return verdict;
    if ((verdict = of_redefined(row, base, candidate)) != VERDICTS) return verdict;
    if (mostly_unstable(base) || mostly_unstable(candidate)) {
        bool is_base = mostly_unstable(base);
        return set(row, VERDICT_UNSTABLE, is_base ? "the base: " : "the candidate: ",
                   first_with(is_base ? base : candidate, STATUS_UNSTABLE)->reason);
    }
    if (comparing->difference[0] && !comparing->options->across) {
        row->tags |= comparing->key_tags;
        return set(row, VERDICT_INCOMPARABLE, "", comparing->difference);
    }
    if (base->valid == 0 || candidate->valid == 0)
        return set(row, VERDICT_INCOMPARABLE, "",
                   comparing->options->speedup ? "no baseline of its group" : "no time");
    int least = comparing->options->least_launches;
    if (row->launches >= least) return VERDICTS;
    snprintf(row->reason, sizeof row->reason, "%d launch%s, and this needs %d on each side",
             row->launches, row->launches == 1 ? "" : "es", least);
    return VERDICT_INCOMPARABLE;
}

/* With one launch on each side: from the intervals of the two medians, at their far ends. */
static struct interval sample_interval(const struct comparing *comparing,
                                       const struct side_figures *base,
                                       const struct side_figures *candidate)
{
    struct interval change = {candidate->logs[0] - base->logs[0], NAN, NAN};
    const struct timing *b = base->rows, *c = candidate->rows;
    if (comparing->options->speedup) return change; /* the baselines' intervals are not known */
    if (b->lo_ns > 0 && c->lo_ns > 0) {
        change.lo = log(c->lo_ns / b->hi_ns);
        change.hi = log(c->hi_ns / b->lo_ns);
    }
    return change;
}

static int find_change(struct comparison_row *row, const struct comparing *comparing,
                       const struct side_figures *base, const struct side_figures *candidate,
                       struct interval *change)
{
    if (base->valid == 1 && candidate->valid == 1) {
        *change = sample_interval(comparing, base, candidate);
        row->evidence = EVIDENCE_SAMPLES;
        return 0;
    }
    if (rank_sum_interval(base->logs, base->valid, candidate->logs, candidate->valid, CONFIDENCE,
                          change) != 0)
        return -1;
    row->evidence = isnan(change->lo) ? EVIDENCE_RANGE : EVIDENCE_LAUNCHES;
    if (row->evidence == EVIDENCE_RANGE) {
        stats_sort(base->logs, base->valid);
        stats_sort(candidate->logs, candidate->valid);
        change->lo = candidate->logs[0] - base->logs[base->valid - 1];
        change->hi = candidate->logs[candidate->valid - 1] - base->logs[0];
    }
    return 0;
}

/* From the spread of these launches. */
static double detectable(const struct comparison_row *row, const struct comparing *comparing,
                         const struct side_figures *base, const struct side_figures *candidate)
{
    const struct side_figures *sides[] = {base, candidate};
    double variance = 0;
    if (row->evidence != EVIDENCE_LAUNCHES) return NAN;
    for (int i = 0; i < 2; i++) {
        memcpy(comparing->scratch, sides[i]->logs, (size_t)sides[i]->valid * sizeof(double));
        double spread = spread_of_few(comparing->scratch, sides[i]->valid);
        variance += spread * spread / sides[i]->valid;
    }
    return detectable_effect(row->floor, variance, COMPARE_ALPHA);
}

static double p_of(const struct side_figures *base, const struct side_figures *candidate,
                   double shift, enum side side)
{
    return rank_sum_p(base->logs, base->valid, candidate->logs, candidate->valid, shift, side);
}

struct findings {
    bool slower, faster; /* by more than the floor */
    bool not_slower;     /* shown */
    bool fenced;         /* by more than the floor without the fence */
};

/* With too few launches for a test, the interval alone decides. The fence is part of the floor, and
 * yet nothing passes by it: what is slower by less than a fence is slower by more than is allowed.
 */
static struct findings test_case(struct comparison_row *row, const struct side_figures *base,
                                 const struct side_figures *candidate, struct interval change)
{
    double within = log1p(row->floor);
    row->floor = fmax(row->floor, row->fence);
    double floor = log1p(row->floor);
    if (row->evidence != EVIDENCE_LAUNCHES)
        return (struct findings){.slower = change.lo > floor, .faster = change.hi < -floor};
    row->p_slower = p_of(base, candidate, floor, SIDE_GREATER);
    row->p_faster = p_of(base, candidate, -floor, SIDE_LESS);
    row->p_least = rank_sum_least_p(base->valid, candidate->valid);
    return (struct findings){
        .slower = row->p_slower <= COMPARE_ALPHA,
        .faster = row->p_faster <= COMPARE_ALPHA,
        .not_slower = p_of(base, candidate, within, SIDE_LESS) <= COMPARE_ALPHA,
        .fenced = p_of(base, candidate, within, SIDE_GREATER) <= COMPARE_ALPHA ||
                  p_of(base, candidate, -within, SIDE_LESS) <= COMPARE_ALPHA,
    };
}

static enum verdict of_fence(struct comparison_row *row)
{
    snprintf(row->reason, sizeof row->reason, "runs of this case differ by up to %.3g %% anyway",
             100 * row->fence);
    return VERDICT_INCONCLUSIVE;
}

/* Symmetric: swapping the sides mirrors the verdict, except that PASS means "not slower". */
static enum verdict judge(struct comparison_row *row, const struct comparing *comparing,
                          const struct side_figures *base, const struct side_figures *candidate,
                          struct interval change)
{
    const struct compare_options *options = comparing->options;
    bool weak = row->evidence != EVIDENCE_LAUNCHES;
    bool unfenced = options->history && isnan(row->fence);
    struct findings found = test_case(row, base, candidate, change);
    if ((found.slower || found.faster) && (weak || unfenced || options->at_most_suspect)) {
        if (found.faster) row->tags |= TAG_FASTER;
        return set(row, VERDICT_SUSPECT, "",
                   weak ? "too few launches to prove it" : "confirm it with launches side by side");
    }
    if (found.slower) return VERDICT_REGRESSED;
    if (found.faster) return VERDICT_IMPROVED;
    if (found.fenced) return of_fence(row);
    if (row->noise > 2.5 * row->threshold)
        return set(row, VERDICT_UNSTABLE, "",
                   "unchanged code varies by more than 2.5 times the threshold here");
    if (found.not_slower && row->quantum > row->threshold)
        return set(row, VERDICT_INCONCLUSIVE, "",
                   "the clock's steps are coarser than the threshold");
    if (found.not_slower) return VERDICT_PASS;
    return set(row, VERDICT_INCONCLUSIVE, "",
               weak ? "too few launches to prove anything" : "the interval straddles the floor");
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
    if (!comparing->options->speedup && is_clocks(row, base, candidate)) row->tags |= TAG_CLOCK;
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
    double of_base = threshold_of_side(base, otherwise);
    double of_candidate = threshold_of_side(candidate, otherwise);
    double stricter = fmin(of_base, of_candidate);
    if (base->count && of_candidate > of_base)
        comparing->laxest_refused = fmax(comparing->laxest_refused, of_candidate);
    if (stricter > COMPARE_LOOSE_THRESHOLD)
        comparing->laxest_taken = fmax(comparing->laxest_taken, stricter);
    return stricter;
}

static struct comparison_row *add_row(struct comparison *comparison, const struct case_id *id)
{
    struct comparison_row *row = &comparison->rows[comparison->count++];
    row->id = *id;
    row->ratio = (struct interval){NAN, NAN, NAN};
    row->base_ns = row->candidate_ns = row->threshold = row->floor = NAN;
    row->noise = row->quantum = row->mde = row->fence = row->p_slower = row->p_faster =
        row->p_least = NAN;
    return row;
}

void compare_lost_case(struct comparing *comparing, const struct case_id *id)
{
    struct comparison_row *row = add_row(comparing->comparison, id);
    row->verdict = set(row, VERDICT_MISSING, "", "the suite has it, and neither side measured it");
}

int compare_case(struct comparing *comparing, struct side_figures *base,
                 struct side_figures *candidate)
{
    const struct case_id *id = base->count ? &base->rows[0].id : &candidate->rows[0].id;
    struct interval change;
    if (!case_matches(comparing->options->filter, id)) return 0;
    if (is_skipped(base) && is_skipped(candidate)) return 0; /* neither side measured it */
    struct comparison_row *row = add_row(comparing->comparison, id);
    row->floor = row->threshold = threshold_of(comparing, base, candidate);
    const struct compare_options *options = comparing->options;
    struct clock_sight sight = clock_sight_of(comparing->base, comparing->candidate, &row->id,
                                              options->clock_launches, options->speedup);
    side_read(base, comparing, comparing->base, sight.metric, comparing->logs[0]);
    side_read(candidate, comparing, comparing->candidate, sight.metric, comparing->logs[1]);
    row->base_ns = base->time_ns;
    row->candidate_ns = candidate->time_ns;
    row->launches = base->valid < candidate->valid ? base->valid : candidate->valid;
    row->verdict = without_ratio(row, comparing, base, candidate);
    if (row->verdict != VERDICTS) return 0;

    if (find_change(row, comparing, base, candidate, &change) != 0) return -1;
    row->ratio = (struct interval){exp(change.mid), exp(change.lo), exp(change.hi)};
    row->noise =
        expm1(noise_floor(comparing->options->noise, &row->id, row->base_ns, row->launches));
    row->quantum = sight.resolution_ns / row->base_ns;
    if (sight.metric == METRIC_MEAN) row->tags |= TAG_STEPS;
    row->floor = fmax(fmax(row->floor, row->noise), row->quantum);
    if (options->history)
        row->fence = history_case_fence(options->history, &row->id, options->setting);
    row->verdict = judge(row, comparing, base, candidate, change);
    row->mde = detectable(row, comparing, base, candidate);
    set_tags(row, comparing, base, candidate);
    bool changed = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
    if (changed && (row->tags & TAG_CLOCK))
        row->verdict = set(row, VERDICT_UNSTABLE, "", "the clock differed, the cycles did not");
    find_noise(row, comparing->base, base);
    find_noise(row, comparing->candidate, candidate);
    comparison_row_doubt(row);
    return 0;
}
