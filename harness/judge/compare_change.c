/* compare_change.c - by how much one case changed, and whether that is shown. */
#include <math.h>
#include <string.h>

#include "judge/compare_parts.h"
#include "judge/gate_stats.h"

static const double CONFIDENCE = 0.95;

/* With one launch on each side: from the intervals of the two medians, at their far ends. */
static struct interval sample_interval(const struct comparing *comparing,
                                       const struct side_figures *base,
                                       const struct side_figures *candidate)
{
    struct interval change = {candidate->logs[0] - base->logs[0], NAN, NAN};
    const struct timing *b = base->rows, *c = candidate->rows;
    /* The intervals of baselines and ceilings are not known. */
    if (comparing->options->speedup || comparing->by_limits) return change;
    if (b->lo_ns > 0 && c->lo_ns > 0) {
        change.lo = log(c->lo_ns / b->hi_ns);
        change.hi = log(c->hi_ns / b->lo_ns);
    }
    return change;
}

int compare_find_change(struct comparison_row *row, const struct comparing *comparing,
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

double compare_detectable(const struct comparison_row *row, const struct comparing *comparing,
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

enum verdict compare_judge(struct comparison_row *row, const struct comparing *comparing,
                           const struct side_figures *base, const struct side_figures *candidate,
                           struct interval change)
{
    const struct compare_options *options = comparing->options;
    bool weak = row->evidence != EVIDENCE_LAUNCHES;
    bool unfenced = options->history && isnan(row->fence);
    struct findings found = test_case(row, base, candidate, change);
    if ((found.slower || found.faster) && (weak || unfenced || options->at_most_suspect)) {
        if (found.faster) row->tags |= TAG_FASTER;
        return row_decide(row, VERDICT_SUSPECT, "%s",
                          weak ? "too few launches to prove it"
                               : "confirm it with launches side by side");
    }
    if (found.slower) return VERDICT_REGRESSED;
    if (found.faster) return VERDICT_IMPROVED;
    if (found.fenced)
        return row_decide(row, VERDICT_INCONCLUSIVE,
                          "runs of this case differ by up to %.3g %% anyway", 100 * row->fence);
    if (row->noise > NOISE_MOST_THRESHOLDS * row->threshold)
        return row_decide(row, VERDICT_UNSTABLE,
                          "unchanged code varies by more than 2.5 times the threshold here");
    if (found.not_slower && row->quantum > row->threshold)
        return row_decide(row, VERDICT_INCONCLUSIVE,
                          "the clock's steps are coarser than the threshold");
    if (found.not_slower) return VERDICT_PASS;
    return row_decide(row, VERDICT_INCONCLUSIVE, "%s",
                      weak ? "too few launches to prove anything"
                           : "the interval straddles the floor");
}
