/* claim_words.c - the cells of a ledger. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "claims/claim_ledger.h"
#include "show/show.h"

const char *claim_verdict_name(enum claim_verdict verdict)
{
    static const char *const names[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "HOLDS",
        [CLAIM_IN_DIRECTION] = "HOLDS IN DIRECTION",
        [CLAIM_FAILS] = "DOES NOT HOLD",
        [CLAIM_INCOMPARABLE] = "NOT COMPARABLE",
        [CLAIM_UNMEASURED] = "NOT MEASURED",
    };
    return names[verdict];
}

/* A value or a difference, in its unit. */
static void figure_text(const struct claim_finding *finding, char *out, size_t size)
{
    const struct interval *x = &finding->measured;
    char mid[UNITS_MAX], lo[UNITS_MAX], hi[UNITS_MAX];
    claim_figure_text(finding->claim, x->mid, mid);
    claim_figure_text(finding->claim, x->lo, lo);
    claim_figure_text(finding->claim, x->hi, hi);
    if (isnan(x->lo) || isnan(x->hi))
        snprintf(out, size, "%s", mid);
    else
        snprintf(out, size, "%s [%s, %s]", mid, lo, hi);
}

void claim_measured_text(const struct claim_finding *finding, char *out, size_t size)
{
    if (finding->claim->rule == RULE_RATIO || isnan(finding->measured.mid))
        show_ratio(out, size, &finding->measured);
    else
        figure_text(finding, out, size);
}

void claim_counts_text(const struct claim_ledger *ledger, char *out, size_t size)
{
    const char *between = ": ";
    snprintf(out, size, "%d claims", ledger->count);
    for (int v = 0; v < CLAIM_VERDICTS; v++) {
        if (!ledger->verdicts[v]) continue;
        text_add(out, size, between, "%d %s", ledger->verdicts[v],
                 claim_verdict_name((enum claim_verdict)v));
        between = ", ";
    }
}
