/* claim_ledger.c - every claim held against runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/shape.h"
#include "claims/claim_ledger.h"
#include "suite/plan.h"
#include "suite/suite_file.h"

/* Of the distance from 1: "7-8x" is said of 6.4 and of 8.7 too; at the least
 * what two decimals hide. */
static const double SLACK = 0.1, LEAST_SLACK = 0.005;

/* Away from 1 at both ends: a range above 1 gets a lower start and a higher end. */
static double widened(double end, double sign)
{
    return end + sign * fmax(SLACK * fabs(end - 1), LEAST_SLACK);
}

static bool is_inside(double value, double least, double most)
{
    return !(value < least) && !(value > most); /* NAN: that side is open */
}

/* The figure of no effect. */
static double none_of(const struct claim *claim)
{
    return claim->rule == RULE_DIFFERENCE ? 0 : 1;
}

double claim_factor(const struct claim *claim, double measured)
{
    double none = none_of(claim);
    return measured < claim->least ? (claim->least - none) / (measured - none)
                                   : (measured - none) / (claim->most - none);
}

static enum claim_verdict judge(const struct claim *claim, double least, double most,
                                struct interval x)
{
    double none = none_of(claim);
    double lo = isnan(x.lo) ? x.mid : x.lo;
    bool claims_effect = claim->least > none;
    bool claims_side = claim->least >= none && !(claim->most <= none);
    if (is_inside(x.mid, least, most))
        return !claims_effect || lo > none ? CLAIM_HOLDS : CLAIM_INCOMPARABLE;
    if (!claims_side || !(lo > none)) return CLAIM_FAILS;
    return claim_factor(claim, x.mid) <= CLAIM_NEAR_FACTOR ? CLAIM_NEAR : CLAIM_IN_DIRECTION;
}

enum claim_verdict claim_judge(const struct claim *claim, struct interval measured)
{
    if (claim->rule == RULE_NONE) return claim->awaits ? CLAIM_UNMEASURED : CLAIM_INCOMPARABLE;
    if (isnan(measured.mid)) return CLAIM_UNMEASURED;
    if (claim->rule == RULE_RATIO)
        return judge(claim, widened(claim->least, -1), widened(claim->most, 1), measured);
    if (claim->rule == RULE_DIFFERENCE)
        return judge(claim, (1 - SLACK) * claim->least, (1 + SLACK) * claim->most, measured);
    return is_inside(measured.mid, claim->least, claim->most) ? CLAIM_HOLDS : CLAIM_FAILS;
}

/* The row of a claim's case: one that is ok before one that is not. */
static const struct view_row *row_of(const struct view *view, const struct claim_case *side)
{
    char shape[RESULT_MAX_SHAPE];
    const struct view_row *found = NULL;
    const struct suite_key *device = suite_key_find(&side->group, "device");
    if (!side->shape.operation) return NULL;
    shape_text(&side->shape, shape, sizeof shape);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        const struct case_id *id = &row->result.id;
        if (strcmp(id->variant, side->variant) || strcmp(id->operation, side->operation) ||
            id->temperature != (int32_t)side->temperature || strcmp(id->shape, shape) ||
            (device && id->place != place_parse(device->value)))
            continue;
        if (row->result.status == STATUS_OK) return row;
        if (!found) found = row;
    }
    return found;
}

/* How far a run goes for a claim: 0 nothing, 1 some of its cases, 2 all of them,
 * 3 all of them ok. */
static int look(struct claim_finding *finding, const struct view *view)
{
    int sides = 0, there = 0, ok = 0;
    finding->view = view;
    for (int i = 0; i < CLAIM_SIDES; i++) {
        const struct claim_case *side = &finding->claim->side[i];
        finding->row[i] = side->line ? row_of(view, side) : NULL;
        sides += side->line != 0;
        there += finding->row[i] != NULL;
        ok += finding->row[i] && finding->row[i]->result.status == STATUS_OK;
    }
    if (sides == 0 || there == 0) return 0;
    return there < sides ? 1 : ok < sides ? 2 : 3;
}

static bool has_case(const struct claim *claim)
{
    return claim->side[CLAIM_MORE].line != 0 && !claim->missing[0];
}

static enum claim_verdict judge_at(const struct claim *claim, double figure)
{
    return claim_judge(claim, (struct interval){figure, figure, figure});
}

bool claim_is_noisy(const struct claim_finding *finding)
{
    enum claim_quantity quantity = finding->claim->quantity;
    bool noisy = false;
    for (int i = 0; i < CLAIM_SIDES; i++)
        noisy |= finding->row[i] && finding->row[i]->is_noisy;
    return noisy && (quantity == CLAIM_TIME || quantity == CLAIM_WALL);
}

/* The weakest verdict that all of the interval of noisy times has; none where a part of it fails
 * and the part nearest to what is claimed does not. */
static enum claim_verdict judge_finding(const struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    const struct interval x = finding->measured;
    enum claim_verdict weakest = claim_judge(claim, x);
    if (!claim_is_noisy(finding) || isnan(x.lo)) return weakest;
    enum claim_verdict lo = judge_at(claim, x.lo), hi = judge_at(claim, x.hi);
    if (lo > weakest) weakest = lo;
    if (hi > weakest) weakest = hi;
    double nearest = fmin(fmax(claim->least, x.lo), x.hi); /* fmax leaves an open side (NAN) out */
    bool all_fails = judge_at(claim, nearest) == CLAIM_FAILS;
    return weakest == CLAIM_FAILS && !all_fails ? CLAIM_INCOMPARABLE : weakest;
}

static int find(struct claim_finding *finding, const struct claim *claim, const struct view *views,
                int count)
{
    int best = -1, most = 0;
    *finding = (struct claim_finding){.claim = claim, .measured = {NAN, NAN, NAN}};
    for (int i = 0; i < count && most < 3 && has_case(claim); i++) {
        int found = look(finding, &views[i]);
        if (found <= most) continue;
        most = found;
        best = i;
    }
    finding->view = NULL;
    finding->row[CLAIM_MORE] = finding->row[CLAIM_LESS] = NULL;
    if (best >= 0) look(finding, &views[best]);
    if (most == 3 && claim_measure(finding)) return -1;
    /* All its cases ran, and an answer was wrong: a time of it says nothing. */
    bool wrong = most == 2;
    for (int i = 0; i < CLAIM_SIDES && most == 2; i++)
        wrong = wrong && (!finding->row[i] || status_has_time(finding->row[i]->result.status) ||
                          finding->row[i]->result.status == STATUS_WRONG);
    finding->verdict = wrong ? CLAIM_INCOMPARABLE : judge_finding(finding);
    claim_explain(finding);
    return 0;
}

int claim_ledger_make(struct claim_ledger *ledger, const struct claims *claims,
                      const struct view *views, int count)
{
    *ledger = (struct claim_ledger){.item = calloc((size_t)claims->count + 1, sizeof *ledger->item),
                                    .views = views,
                                    .view_count = count};
    if (!ledger->item) return assay_error("out of memory for %d claims", claims->count);
    for (int i = 0; i < claims->count; i++) {
        if (find(&ledger->item[i], &claims->item[i], views, count)) {
            claim_ledger_release(ledger);
            return -1;
        }
        ledger->verdicts[ledger->item[i].verdict]++;
        ledger->count++;
    }
    return 0;
}

void claim_ledger_release(struct claim_ledger *ledger)
{
    free(ledger->item);
    *ledger = (struct claim_ledger){0};
}
