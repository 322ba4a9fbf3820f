/* claim_explain.c - why a claim got its verdict, in one line of measured facts. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "claims/claim_ledger.h"
#include "show/show.h"

/* Below this share no ceiling has to do with the time. */
static const double WORTH_SAYING = 0.05;

/* A clause; clauses are parted by "; ". */
#define say(finding, ...) text_add((finding)->why, sizeof(finding)->why, "; ", __VA_ARGS__)

static void say_absent(struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    if (claim->missing[0]) {
        say(finding, "%s", claim->missing);
        return;
    }
    if (!claim->side[CLAIM_MORE].line) return; /* the note says why there is none */
    for (int i = 0; i < CLAIM_SIDES; i++) {
        const struct claim_case *side = &claim->side[i];
        const struct view_row *row = finding->row[i];
        if (!side->line) continue;
        if (!row)
            say(finding, "no run has this %s/%s", side->operation, side->variant);
        else if (row->result.status != STATUS_OK)
            say(finding, "%s %s: %s", row->result.id.variant, status_name(row->result.status),
                row->result.reason);
    }
    if (finding->row[CLAIM_MORE] && !finding->why[0]) say(finding, "the run has no such figure");
}

/* "less than claimed, by a factor of 16": of the effect. */
static void say_factor(struct claim_finding *finding)
{
    double mid = finding->measured.mid, factor = claim_factor(finding->claim, mid);
    say(finding, "%s than claimed, by a factor of %.*f",
        mid < finding->claim->least ? "less" : "more", factor < 10 ? 1 : 0, factor);
}

static void say_noise(struct claim_finding *finding)
{
    struct view_noise noise;
    if (!claim_is_noisy(finding)) return;
    view_noise(finding->view, &noise);
    say(finding, "noisy: %s", noise.causes.count ? noise.causes.text[0] : "no cause was seen");
}

static void say_size(struct claim_finding *finding)
{
    const struct claim *claim = finding->claim;
    const struct interval *x = &finding->measured;
    double none = claim->rule == RULE_DIFFERENCE ? 0 : 1;
    if (claim->rule == RULE_NONE || claim->rule == RULE_VALUE) return;
    if (finding->verdict == CLAIM_NEAR || finding->verdict == CLAIM_IN_DIRECTION)
        say_factor(finding);
    if (finding->verdict == CLAIM_INCOMPARABLE)
        say(finding, claim_judge(claim, *x) == CLAIM_INCOMPARABLE
                         ? "the interval reaches from no effect to the claim"
                         : "only a part of the interval fails");
    if (finding->verdict != CLAIM_FAILS) return;
    if (x->lo <= none && x->hi >= none)
        say(finding, "no difference to be seen");
    else
        say(finding, x->mid < none ? "the other way round" : "not the claimed size");
}

/* Where one of the sides waits for the device inside its launch, only the host's clock can
 * time it. */
static void say_clock(struct claim_finding *finding)
{
    const struct case_result *more = &finding->row[CLAIM_MORE]->result;
    const struct case_result *less = &finding->row[CLAIM_LESS]->result;
    bool is_time = finding->claim->quantity <= CLAIM_WALL;
    if (finding->by_wall || finding->claim->quantity == CLAIM_WALL)
        say(finding, "by the host's clock");
    if (is_time && (more->clock == CLOCK_HOST) != (less->clock == CLOCK_HOST))
        say(finding, "%s waits for the device inside its launch",
            more->clock == CLOCK_HOST ? more->id.variant : less->id.variant);
    if (is_time && finding->apart) say(finding, "one after the other, not in turns");
}

static void say_launches(struct claim_finding *finding)
{
    int more = finding->row[CLAIM_MORE]->result.kernels;
    int less = finding->row[CLAIM_LESS]->result.kernels;
    if (more < 0 || less < 0 || more == less || finding->claim->quantity == CLAIM_LAUNCHES) return;
    say(finding, "%d kernel%s against %d", more, more == 1 ? "" : "s", less);
}

static void say_bytes(struct claim_finding *finding)
{
    double more = view_bytes(&finding->row[CLAIM_MORE]->result.work);
    double less = view_bytes(&finding->row[CLAIM_LESS]->result.work);
    char text[UNITS_MAX];
    if (!(more > 0) || !(less > 0) || more == less || finding->claim->quantity == CLAIM_BYTES)
        return;
    say(finding, "least bytes %s", units_ratio(text, more / less));
}

static void say_share(struct claim_finding *finding)
{
    const struct view_row *more = finding->row[CLAIM_MORE], *less = finding->row[CLAIM_LESS];
    char a[UNITS_MAX], b[UNITS_MAX];
    if (finding->claim->quantity != CLAIM_TIME || finding->by_wall) return;
    if (!(fmax(more->ceiling_fraction, less->ceiling_fraction) > WORTH_SAYING) ||
        isnan(more->ceiling_fraction) || isnan(less->ceiling_fraction) ||
        strcmp(more->ceiling, less->ceiling))
        return;
    say(finding, "%s against %s of the ceiling %s", units_percent(a, more->ceiling_fraction),
        units_percent(b, less->ceiling_fraction), show_ceiling_name(less->ceiling));
}

/* The figures themselves, which a ratio hides. */
static void say_times(struct claim_finding *finding)
{
    char more[UNITS_MAX], less[UNITS_MAX];
    if (finding->claim->quantity > CLAIM_FIRST_CALL) return;
    say(finding, "%s against %s",
        units_time(more, claim_figure(finding, &finding->row[CLAIM_MORE]->result)),
        units_time(less, claim_figure(finding, &finding->row[CLAIM_LESS]->result)));
}

void claim_explain(struct claim_finding *finding)
{
    bool measured = !isnan(finding->measured.mid);
    finding->why[0] = '\0';
    if (!measured) say_absent(finding);
    if (measured) say_size(finding);
    if (measured) say_noise(finding);
    if (measured && finding->row[CLAIM_LESS]) {
        say_times(finding);
        say_clock(finding);
        say_launches(finding);
        say_bytes(finding);
        say_share(finding);
    }
    if (finding->claim->note[0]) say(finding, "%s", finding->claim->note);
}
