/* claim_words.c - the cells of a ledger. */
#include <math.h>
#include <stdio.h>

#include "claims/claim_ledger.h"

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

/* Three significant digits, and as many more as the interval needs to show. */
static int decimals(const struct interval *x)
{
    if (!(x->mid > 0)) return 2;
    int digits = 2 - (int)floor(log10(x->mid));
    if (digits < 0) return 0;
    if (x->hi - x->lo < 2 * pow(10, -digits)) digits++;
    return digits < 4 ? digits : 4;
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
    const struct interval *x = &finding->measured;
    int digits = decimals(x);
    if (isnan(x->mid))
        snprintf(out, size, "-");
    else if (finding->claim->rule != RULE_RATIO)
        figure_text(finding, out, size);
    else if (isnan(x->lo) || isnan(x->hi))
        snprintf(out, size, "%.*fx", digits, x->mid);
    else
        snprintf(out, size, "%.*fx [%.*f, %.*f]", digits, x->mid, digits, x->lo, digits, x->hi);
}

void claim_counts_text(const struct claim_ledger *ledger, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%d claims", ledger->count);
    const char *gap = ": ";
    for (int v = 0; v < CLAIM_VERDICTS && used < size; v++) {
        if (!ledger->verdicts[v]) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%d %s", gap, ledger->verdicts[v],
                                 claim_verdict_name((enum claim_verdict)v));
        gap = ", ";
    }
}
