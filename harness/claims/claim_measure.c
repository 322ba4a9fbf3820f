/* claim_measure.c - the figure of a claim, from the stored cases of one run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claim_ledger.h"
#include "judge/timings.h"

double claim_figure(const struct claim_finding *finding, const struct case_result *result)
{
    const struct claim *claim = finding->claim;
    const double figures[] = {
        [CLAIM_TIME] = result->time_ns,
        [CLAIM_WALL] = result->wall_ns,
        [CLAIM_FIRST_CALL] = result->first_call_ns,
        [CLAIM_BYTES] = view_bytes(&result->work),
        [CLAIM_WORKSPACE] = result->workspace_bytes < 0 ? NAN : (double)result->workspace_bytes,
        [CLAIM_LAUNCHES] = result->kernels < 0 ? NAN : result->kernels,
        [CLAIM_METRIC] = view_metric(result, claim->metric),
    };
    return figures[finding->by_wall ? CLAIM_WALL : claim->quantity];
}

/* Samples by round, by the clock of the case or the host's. `no_marks` are zeros, at least as
 * many as there are samples. */
static struct paired series_of(const struct samples *samples, bool wall, const uint8_t *no_marks)
{
    if (!wall) return view_paired(samples);
    bool whole = samples->wall_ns && samples->wall_round;
    return (struct paired){samples->wall_ns, samples->wall_round, no_marks,
                           whole ? samples->wall_count : 0};
}

static int ratio_in_turns(const struct case_result *more, const struct case_result *less, bool wall,
                          struct interval *ratio)
{
    const struct samples *a = &more->samples, *b = &less->samples;
    size_t space = 1 + (wall ? (size_t)a->wall_count + (size_t)b->wall_count
                             : (size_t)a->count + (size_t)b->count);
    uint8_t *no_marks = calloc(space, sizeof *no_marks);
    double *scratch = malloc(space * sizeof *scratch);
    if (no_marks && scratch)
        *ratio =
            stats_paired_ratio(series_of(a, wall, no_marks), series_of(b, wall, no_marks), scratch);
    int status = no_marks && scratch ? 0 : assay_error("out of memory for the samples of a case");
    free(scratch);
    free(no_marks);
    return status;
}

static int interval_of(const struct claim_finding *finding, const struct case_result *result,
                       bool wall, struct interval *own)
{
    *own = (struct interval){claim_figure(finding, result), result->lo_ns, result->hi_ns};
    if (!wall) return 0;
    const struct samples *samples = &result->samples;
    int count = samples->wall_ns ? samples->wall_count : 0;
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    if (!values) return assay_error("out of memory for the samples of a case");
    for (int i = 0; i < count; i++)
        values[i] = samples->wall_ns[i];
    struct interval all = stats_median_interval(values, count, 0.95);
    own->lo = all.lo;
    own->hi = all.hi;
    free(values);
    return 0;
}

/* Of cases that were not measured in turns: the far ends of their intervals. */
static int ratio_apart(const struct claim_finding *finding, const struct case_result *more,
                       const struct case_result *less, struct interval *ratio)
{
    bool wall = finding->by_wall || finding->claim->quantity == CLAIM_WALL;
    struct interval a, b;
    if (interval_of(finding, more, wall, &a) || interval_of(finding, less, wall, &b)) return -1;
    *ratio = (struct interval){b.mid > 0 ? a.mid / b.mid : NAN, a.lo / b.hi, a.hi / b.lo};
    if (finding->claim->rule == RULE_DIFFERENCE)
        *ratio = (struct interval){a.mid - b.mid, a.lo - b.hi, a.hi - b.lo};
    return 0;
}

static bool is_time(const struct claim_finding *finding)
{
    return finding->claim->quantity == CLAIM_TIME || finding->claim->quantity == CLAIM_WALL;
}

static int launch_ratio(struct claim_finding *finding, const struct stored_case *more,
                        const struct stored_case *less, struct interval *ratio)
{
    bool wall = finding->by_wall || finding->claim->quantity == CLAIM_WALL;
    bool together = !strcmp(more->group_label, less->group_label) &&
                    !strcmp(more->result.id.shape, less->result.id.shape) &&
                    more->result.id.temperature == less->result.id.temperature;
    finding->apart = !together;
    *ratio = (struct interval){NAN, NAN, NAN};
    if (!is_time(finding)) {
        double a = claim_figure(finding, &more->result), b = claim_figure(finding, &less->result);
        bool subtract = finding->claim->rule == RULE_DIFFERENCE;
        ratio->mid = subtract ? a - b : b > 0 ? a / b : NAN;
        return 0;
    }
    if (together && finding->claim->rule == RULE_RATIO &&
        ratio_in_turns(&more->result, &less->result, wall, ratio))
        return -1;
    return isnan(ratio->mid) ? ratio_apart(finding, &more->result, &less->result, ratio) : 0;
}

static bool is_of_row(const struct stored_case *stored, const struct view_row *row)
{
    return stored->result.status == STATUS_OK && stored->purpose == row->stored->purpose &&
           !strcmp(stored->group_label, row->stored->group_label) &&
           case_id_order(&stored->result.id, &row->result.id) == 0;
}

/* The stored case of a row in the launch of `like` (NULL: in any), after `from`. */
static const struct stored_case *stored_of(const struct stored_run *run, const struct view_row *row,
                                           const struct stored_case *like,
                                           const struct stored_case *from)
{
    for (const struct stored_case *c = from; c < run->cases + run->case_count; c++)
        if (is_of_row(c, row) && (!like || !strcmp(c->launch_id, like->launch_id))) return c;
    return NULL;
}

static int measure_ratio(struct claim_finding *finding)
{
    const struct stored_run *run = finding->view->run;
    const struct view_row *more = finding->row[CLAIM_MORE], *less = finding->row[CLAIM_LESS];
    double *mids = malloc(((size_t)run->case_count + 1) * sizeof *mids);
    struct interval only = {NAN, NAN, NAN};
    int count = 0;
    if (!mids) return assay_error("out of memory for %d cases", run->case_count);
    const struct stored_case *a = run->cases;
    for (; (a = stored_of(run, more, NULL, a)); a++) {
        const struct stored_case *b = stored_of(run, less, a, run->cases);
        if (!b) continue;
        struct interval ratio;
        if (launch_ratio(finding, a, b, &ratio)) {
            free(mids);
            return -1;
        }
        if (isnan(ratio.mid)) continue;
        mids[count++] = ratio.mid;
        only = ratio;
    }
    finding->measured = count > 1 ? stats_over_launches(mids, count) : only;
    free(mids);
    return 0;
}

int claim_measure(struct claim_finding *finding)
{
    const struct view_row *more = finding->row[CLAIM_MORE], *less = finding->row[CLAIM_LESS];
    if (!less) {
        finding->measured.mid = claim_figure(finding, &more->result);
        return 0;
    }
    /* A device time against a host time would be two different things. */
    bool clocks_differ = (more->result.clock == CLOCK_HOST) != (less->result.clock == CLOCK_HOST);
    finding->by_wall = finding->claim->quantity == CLAIM_TIME && clocks_differ;
    return measure_ratio(finding);
}
