#include "judge/gate_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "assay.h"
#include "judge/noise.h"
#include "judge/student_t.h"

static const double CONFIDENCE = 0.95;
/* Variance of the Hodges-Lehmann estimate of normal values, over that of their mean. */
static const double HODGES_LEHMANN = M_PI / 3;
/* Rounds without any spread, as of a simulated device without noise. */
static const double LEAST_VARIANCE = 1e-16;

/* The variance of a round, over all nodes of the case: six rounds of one node hardly know it. */
static double round_variance(const struct nodes_case *one)
{
    double sum = 0, freedom = 0;
    for (int i = 0; i < one->count; i++) {
        const struct gate_rounds *rounds = &one->nodes[i].rounds;
        sum += (rounds->count - 1) * rounds_variance(rounds);
        freedom += rounds->count - 1;
    }
    return fmax(sum / freedom, LEAST_VARIANCE);
}

static void estimate(const struct nodes_case *one, struct node_effect *effects)
{
    double variance = round_variance(one);
    for (int i = 0; i < one->count; i++) {
        struct node_case *node = &one->nodes[i];
        node->change = signed_rank_interval(node->rounds.value, node->rounds.count, CONFIDENCE).mid;
        effects[i] =
            (struct node_effect){node->change, HODGES_LEHMANN * variance / node->rounds.count};
    }
}

static void settle(struct nodes_case *one, enum verdict verdict, const char *reason)
{
    one->verdict = verdict;
    one->reason = reason;
}

/* As a gate has it: a floor that noise or the clock raised too far is none to pass by. */
static void settle_unchanged(struct nodes_case *one, bool within)
{
    if (one->floor > NOISE_MOST_THRESHOLDS * one->threshold && !(one->floor <= one->quantum))
        settle(one, VERDICT_UNSTABLE, "unchanged code varies by more than 2.5 times the threshold");
    else if (!within)
        settle(one, VERDICT_INCONCLUSIVE, "the interval over nodes straddles the floor");
    else if (one->quantum > one->threshold)
        settle(one, VERDICT_INCONCLUSIVE, "the clock's steps are coarser than the threshold");
    else
        settle(one, VERDICT_PASS, "");
}

/* `tests`: how many cases the smallest p-value must pass. */
static void pool_case(struct nodes_case *one, struct node_effect *effects, double alpha, int tests)
{
    static const double power_80 = 0.8416;
    double floor = log1p(one->floor);
    estimate(one, effects);
    struct pooled_effect pooled = random_effects(effects, one->count);
    double margin = pooled_margin(&pooled, CONFIDENCE);
    one->change = (struct interval){pooled.effect, pooled.effect - margin, pooled.effect + margin};
    one->p_slower = pooled_p_above(&pooled, floor);
    one->p_faster = pooled_p_below(&pooled, -floor);
    double limit = student_t_exceeded(alpha / tests, one->count - 1);
    one->mde = expm1(floor + (limit + power_80) * pooled.error);
    settle_unchanged(one, pooled_p_below(&pooled, floor) <= alpha);
}

static void find_changes(struct nodes_case *cases, int count, double alpha, bool slower,
                         struct hypothesis *family)
{
    int size = 0;
    for (int i = 0; i < count; i++)
        if (!cases[i].settled)
            family[size++] = (struct hypothesis){
                .p = slower ? cases[i].p_slower : cases[i].p_faster, .index = i};
    holm_reject(family, size, alpha);
    for (int i = 0; i < size; i++)
        if (family[i].rejected)
            settle(&cases[family[i].index], slower ? VERDICT_REGRESSED : VERDICT_IMPROVED, "");
}

/* Whether a node's own gate found what the fleet did not, or the other way round. */
static bool contradicts(enum verdict own, enum verdict all)
{
    bool changed = verdict_is_change(own);
    bool all_changed = verdict_is_change(all);
    bool same = own == VERDICT_PASS || own == VERDICT_UNCHANGED;
    return (changed && own != all) || (all_changed && same);
}

static void find_strangers(struct nodes_case *one, struct node_effect *effects, double alpha)
{
    estimate(one, effects);
    for (int i = 0; i < one->count; i++)
        one->nodes[i].disagrees = contradicts(one->nodes[i].own, one->verdict) &&
                                  node_p_alike(effects, one->count, i) <= alpha / one->count;
}

int gate_nodes_judge(struct nodes_case *cases, int count, double alpha)
{
    int most = 1, tests = 0;
    for (int i = 0; i < count; i++) {
        if (cases[i].count > most) most = cases[i].count;
        cases[i].settled |= cases[i].count < NODES_LEAST;
        tests += !cases[i].settled;
    }
    struct node_effect *effects = calloc((size_t)most, sizeof *effects);
    struct hypothesis *family = calloc((size_t)count + 1, sizeof *family);
    int status = effects && family ? 0 : assay_error("out of memory for %d cases", count);
    for (int i = 0; status == 0 && i < count; i++)
        if (!cases[i].settled) pool_case(&cases[i], effects, alpha, tests);
    if (status == 0) find_changes(cases, count, alpha, true, family);
    if (status == 0) find_changes(cases, count, alpha, false, family);
    for (int i = 0; status == 0 && i < count; i++)
        if (!cases[i].settled) find_strangers(&cases[i], effects, alpha);
    free(effects);
    free(family);
    return status;
}
