#include "judge/counts.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"

enum sense { MORE_IS_WORSE, LESS_IS_WORSE, ONLY_TOLD };

static const struct {
    const char *name;
    enum sense sense;
    double tolerance; /* a fraction */
} table[PROFILE_COUNTS] = {
    [COUNT_LAUNCHES] = {"launches", MORE_IS_WORSE, 0},
    [COUNT_INSTRUCTIONS] = {"warp instructions", MORE_IS_WORSE, 1e-3},
    [COUNT_LOCAL_LOADS] = {"local loads", MORE_IS_WORSE, 1e-3},
    [COUNT_LOCAL_STORES] = {"local stores", MORE_IS_WORSE, 1e-3},
    [COUNT_LOCAL_BYTES] = {"local bytes per thread", MORE_IS_WORSE, 0},
    [COUNT_REGISTERS] = {"registers", ONLY_TOLD, 0},
    [COUNT_SHARED_BYTES] = {"shared bytes", ONLY_TOLD, 0},
    [COUNT_WARPS] = {"resident warps", LESS_IS_WORSE, 0},
};

static bool agree(int count, double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return fabs(a - b) <= table[count].tolerance * fmin(fabs(a), fabs(b));
}

bool counts_differ(const struct counted_case *one)
{
    if (one->rounds[0] == 0 || one->rounds[1] == 0) return false;
    for (int i = 0; i < PROFILE_COUNTS; i++)
        if (!agree(i, one->base[0].value[i], one->candidate[0].value[i])) return true;
    return false;
}

static bool is_steady(const struct profile_counts *side, int rounds, int count)
{
    for (int i = 0; i < rounds; i++)
        for (int k = i + 1; k < rounds; k++)
            if (!agree(count, side[i].value[count], side[k].value[count])) return false;
    return true;
}

static double mean(const struct profile_counts *side, int rounds, int count)
{
    double sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += side[i].value[count];
    return sum / rounds;
}

/* "warp instructions +2.4 %", "registers 32 to 40". */
static void add_change(char reason[ASSAY_MAX_REASON], int count, double base, double candidate)
{
    const char *name = table[count].name;
    if (table[count].tolerance > 0 && base > 0)
        text_add(reason, ASSAY_MAX_REASON, ", ", "%s %+.3g %%", name, 100 * (candidate / base - 1));
    else
        text_add(reason, ASSAY_MAX_REASON, ", ", "%s %.10g to %.10g", name, base, candidate);
}

struct outcome {
    bool worse, better, unsteady;
};

static void judge_one(const struct counted_case *one, int count, struct outcome *outcome,
                      char reason[ASSAY_MAX_REASON])
{
    double base = mean(one->base, one->rounds[0], count);
    double candidate = mean(one->candidate, one->rounds[1], count);
    bool steady = is_steady(one->base, one->rounds[0], count) &&
                  is_steady(one->candidate, one->rounds[1], count);
    if (steady && agree(count, base, candidate)) return;
    if (!steady || isnan(base) || isnan(candidate)) {
        outcome->unsteady |= table[count].sense != ONLY_TOLD;
        text_add(reason, ASSAY_MAX_REASON, ", ", "%s %s", table[count].name,
                 steady ? "on one side only" : "not the same in each launch");
        return;
    }
    bool more = candidate > base;
    outcome->worse |= table[count].sense == (more ? MORE_IS_WORSE : LESS_IS_WORSE);
    outcome->better |= table[count].sense == (more ? LESS_IS_WORSE : MORE_IS_WORSE);
    add_change(reason, count, base, candidate);
}

enum verdict counts_judge(const struct counted_case *one, char reason[ASSAY_MAX_REASON])
{
    struct outcome outcome = {false, false, false};
    reason[0] = '\0';
    if (one->rounds[0] == 0 || one->rounds[1] == 0) {
        snprintf(reason, ASSAY_MAX_REASON, "nothing was counted");
        return VERDICT_INCONCLUSIVE;
    }
    if (isnan(one->base[0].value[COUNT_INSTRUCTIONS]) &&
        isnan(one->candidate[0].value[COUNT_INSTRUCTIONS])) {
        snprintf(reason, ASSAY_MAX_REASON, "no hardware counters were read");
        return VERDICT_INCONCLUSIVE;
    }
    for (int i = 0; i < PROFILE_COUNTS; i++)
        judge_one(one, i, &outcome, reason);
    if (outcome.worse) return VERDICT_REGRESSED;
    if (outcome.unsteady) return VERDICT_INCONCLUSIVE;
    return outcome.better ? VERDICT_IMPROVED : VERDICT_PASS;
}
