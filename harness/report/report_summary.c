/* report_summary.c - a run in three sentences. */
#include <math.h>

#include "base/text.h"
#include "report/report.h"
#include "show/comparison_formats.h"
#include "show/show.h"

static void measured(const struct view *view, char *out)
{
    const struct stored_run *run = view->run;
    char counts[256];
    show_counts(counts, sizeof counts, view);
    snprintf(out, REPORT_SENTENCE, "The suite %s on %s%s, in %d launch%s: %s.", run->run.suite,
             run->launch_count ? run->launches[0].device.name : "no device",
             run->run.simulated ? " (simulated)" : "", run->launch_count,
             run->launch_count == 1 ? "" : "es", counts[0] ? counts : "no case was measured");
}

/* How often the fastest kernel of a group is faster or slower than the group's baseline; and
 * how it stands to the bound of a group that has no baseline. */
struct standing {
    int faster, slower, alike;
    double log_sum;
    int bounds;
    double bound_log_sum;
};

static const struct view_row *fastest(const struct view *view, int group)
{
    const struct view_row *found = NULL;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->group != group || row->is_ceiling || row->is_hidden ||
            !status_has_time(row->result.status))
            continue;
        if (row->result.id.kind != ASSAY_KERNEL || isnan(row->speedup.mid)) continue;
        if (row->result.is_baseline) continue;
        if (!found || row->speedup.mid > found->speedup.mid) found = row;
    }
    return found;
}

static struct standing standing_of(const struct view *view)
{
    struct standing standing = {0};
    for (int g = 0; g < view->group_count; g++) {
        const struct view_row *row = fastest(view, g);
        if (!row) continue;
        if (row->base_kind == ASSAY_BOUND) {
            standing.bounds++;
            standing.bound_log_sum += log(row->speedup.mid);
            continue;
        }
        double lo = isnan(row->speedup.lo) ? row->speedup.mid : row->speedup.lo;
        double hi = isnan(row->speedup.hi) ? row->speedup.mid : row->speedup.hi;
        standing.faster += lo > 1;
        standing.slower += hi < 1;
        standing.alike += !(lo > 1) && !(hi < 1);
        standing.log_sum += log(row->speedup.mid);
    }
    return standing;
}

static void shares(const struct view *view, char *out)
{
    const struct view_row *best = NULL;
    char share[UNITS_MAX];
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->is_ceiling || row->is_hidden || isnan(row->ceiling_fraction)) continue;
        if (!best || row->ceiling_fraction > best->ceiling_fraction) best = row;
    }
    if (!best) {
        snprintf(out, REPORT_SENTENCE, "No case has a baseline, a bound or a ceiling beside it.");
        return;
    }
    snprintf(out, REPORT_SENTENCE,
             "No case has a baseline; the nearest to its ceiling is %s/%s with %s of %s.",
             best->result.id.operation, best->result.id.variant,
             units_percent(share, best->ceiling_fraction), show_ceiling_name(best->ceiling));
}

static void against_baselines(const struct view *view, char *out)
{
    struct standing standing = standing_of(view);
    int groups = standing.faster + standing.slower + standing.alike;
    out[0] = '\0';
    if (!groups && !standing.bounds) shares(view, out);
    if (groups)
        snprintf(out, REPORT_SENTENCE,
                 "Of %d group%s with a baseline, the fastest kernel beats it in %d, is level in %d "
                 "and behind in %d; the geometric mean of these ratios is %.2fx.",
                 groups, groups == 1 ? "" : "s", standing.faster, standing.alike, standing.slower,
                 exp(standing.log_sum / groups));
    if (standing.bounds)
        text_add(out, REPORT_SENTENCE, " ",
                 "In %d group%s with a bound alone, such as a copy, the fastest kernel reaches "
                 "%.2f of its speed in the geometric mean.",
                 standing.bounds, standing.bounds == 1 ? "" : "s",
                 exp(standing.bound_log_sum / standing.bounds));
}

static void against_run(const struct comparison *comparison, char *out)
{
    char counts[WORDS_LINE];
    const char *reason = reason_of_most(comparison, false);
    bool any = false;
    for (int i = 0; i < comparison->count; i++)
        any |= comparison->rows[i].ratio.mid > 0;
    counts_text(comparison, counts);
    if (any || !reason[0])
        snprintf(out, REPORT_SENTENCE, "Against run %.8s: %s.", comparison->base.id, counts);
    else
        snprintf(out, REPORT_SENTENCE, "Against run %.8s nothing can be compared: %s (most: %s).",
                 comparison->base.id, counts, reason);
}

static void beside(const struct report *report, char *out)
{
    const struct claim_ledger *ledger = report->ledger;
    int settled = 0;
    for (int v = 0; ledger && v <= CLAIM_FAILS; v++)
        settled += ledger->verdicts[v];
    if (report->comparison)
        against_run(report->comparison, out);
    else if (settled)
        snprintf(
            out, REPORT_SENTENCE,
            "Of %d published claims that this run can settle, %d hold, %d within a factor of two, "
            "%d in direction only, and %d do not.",
            settled, ledger->verdicts[CLAIM_HOLDS], ledger->verdicts[CLAIM_NEAR],
            ledger->verdicts[CLAIM_IN_DIRECTION], ledger->verdicts[CLAIM_FAILS]);
    else
        snprintf(out, REPORT_SENTENCE,
                 "It is compared with no other run and settles no published claim.");
}

void report_summary(const struct report *report, char out[REPORT_SENTENCES][REPORT_SENTENCE])
{
    measured(report->view, out[0]);
    against_baselines(report->view, out[1]);
    beside(report, out[2]);
}
