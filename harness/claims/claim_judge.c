/* claim_judge.c - what a measured figure says of a claim. Pure. */
#include <math.h>

#include "suite/claim.h"

/* Of the distance from 1: "7-8x" is said of 6.4 and of 8.7 too; at the least
 * what two decimals hide. */
static const double SLACK = 0.1, LEAST_SLACK = 0.005;

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

/* Away from 1 at both ends: a range above 1 gets a lower start and a higher end. */
static double widened(double end, double sign)
{
    return end + sign * fmax(SLACK * fabs(end - 1), LEAST_SLACK);
}

static bool is_inside(double value, double least, double most)
{
    return !(value < least) && !(value > most); /* NAN: that side is open */
}

/* `none` is the figure of no effect: 1 for a ratio, 0 for a difference. */
static enum claim_verdict judge(const struct claim *claim, double least, double most, double none,
                                struct interval x)
{
    double lo = isnan(x.lo) ? x.mid : x.lo;
    bool claims_effect = claim->least > none;
    bool claims_side = claim->least >= none && !(claim->most <= none);
    if (is_inside(x.mid, least, most))
        return !claims_effect || lo > none ? CLAIM_HOLDS : CLAIM_INCOMPARABLE;
    return claims_side && lo > none ? CLAIM_IN_DIRECTION : CLAIM_FAILS;
}

enum claim_verdict claim_judge(const struct claim *claim, struct interval measured)
{
    if (claim->rule == RULE_NONE) return CLAIM_INCOMPARABLE;
    if (isnan(measured.mid)) return CLAIM_UNMEASURED;
    if (claim->rule == RULE_RATIO)
        return judge(claim, widened(claim->least, -1), widened(claim->most, 1), 1, measured);
    if (claim->rule == RULE_DIFFERENCE)
        return judge(claim, (1 - SLACK) * claim->least, (1 + SLACK) * claim->most, 0, measured);
    return is_inside(measured.mid, claim->least, claim->most) ? CLAIM_HOLDS : CLAIM_FAILS;
}
