#include "judge/gate.h"

#include <math.h>
#include <stdlib.h>

#include "judge/noise.h"

static const double CONFIDENCE = 0.95;
/* Share of the suspects whose null arm may trip before all verdicts are void. */
static const double NULL_SHARE = 0.05;

/* --------------------------------------------------------------- common -- */

/* From the spread of these rounds, for as many as a second stage has at least. */
static double detectable(const struct gate_case *one, const struct gate_rounds *rounds,
                         double alpha)
{
    if (rounds->count < GATE_LEAST_ROUNDS) return NAN;
    int count = rounds->count > GATE_CONFIRM_ROUNDS ? rounds->count : GATE_CONFIRM_ROUNDS;
    return detectable_effect(one->floor, rounds_variance(rounds) / count, alpha);
}

static void settle(struct gate_case *one, enum verdict verdict, const char *reason)
{
    one->verdict = verdict;
    one->reason = reason;
}

static bool is_noisy(const struct gate_case *one)
{
    return fmax(one->noise, one->layout) > NOISE_MOST_THRESHOLDS * one->threshold;
}

/* The verdict on a case that is not shown to have changed. A floor that noise or the clock raised
 * too far is no floor to pass by. */
static void settle_unchanged(struct gate_case *one, const char *undecided)
{
    if (is_noisy(one))
        settle(one, VERDICT_UNSTABLE, "unchanged code varies by more than 2.5 times the threshold");
    else if (!one->slower.excluded)
        settle(one, VERDICT_INCONCLUSIVE, undecided);
    else if (one->quantum > one->threshold)
        settle(one, VERDICT_INCONCLUSIVE, "the clock's steps are coarser than the threshold");
    else
        settle(one, VERDICT_PASS, "");
}

/* --------------------------------------------------------------- layout -- */

/* Root mean square of the lower nine tenths of the sizes of normal draws, in sigmas. */
static const double TRIMMED_RMS = 0.789;

/* By how much a twin differs, and how well six rounds or so know that. */
struct twin {
    double size; /* of the log ratio */
    double variance;
};

static struct twin twin_of(const struct gate_rounds *rounds)
{
    double middle = signed_rank_interval(rounds->value, rounds->count, CONFIDENCE).mid;
    return (struct twin){fabs(middle), rounds_variance(rounds) / rounds->count};
}

static int by_size(const void *left, const void *right)
{
    const struct twin *a = left, *b = right;
    return (a->size > b->size) - (a->size < b->size);
}

/* The upper 95 % limit of a standard deviation, over its estimate from `count` values: Wilson and
 * Hilferty's approximation of chi-square (PNAS 17, 1931). */
static double deviation_limit(int count)
{
    double ninth = 2.0 / (9 * count);
    return pow(1 - ninth + normal_quantile(0.05) * sqrt(ninth), -1.5);
}

double gate_layout(const struct gate_case *cases, int count, double alpha)
{
    struct twin *twin = calloc((size_t)count + 1, sizeof *twin);
    double squares = 0, noise = 0;
    int twins = 0;
    if (!twin) return NAN; /* as if nothing were known */
    for (int i = 0; i < count; i++)
        if (cases[i].twin.count >= GATE_LEAST_ROUNDS) twin[twins++] = twin_of(&cases[i].twin);
    int kept = twins - twins / 10;
    qsort(twin, (size_t)twins, sizeof *twin, by_size);
    for (int i = 0; i < kept; i++) {
        squares += twin[i].size * twin[i].size;
        noise += twin[i].variance;
    }
    free(twin);
    if (twins < GATE_LEAST_TWINS) return NAN;
    double all = sqrt(squares / kept) / TRIMMED_RMS * deviation_limit(kept);
    double layout = sqrt(fmax(all * all - noise / kept, 0));
    return expm1(layout * normal_quantile(1 - alpha / count));
}

/* --------------------------------------------------------------- screen -- */

/* Fresh rounds are for what the screen leaves undecided; more of them would not make a noisy case
 * quiet, so of these only for what looks changed in spite of that. */
static void screen_side(struct gate_case *one, struct gate_side *found, enum side side,
                        double alpha)
{
    found->excluded = rounds_p_within(&one->screen, one->floor, side) <= alpha;
    found->suspect = is_noisy(one) ? rounds_p_changed(&one->screen, one->floor, side) <= alpha
                                   : !found->excluded;
}

static void screen_case(struct gate_case *one, const struct gate_rules *rules)
{
    const struct gate_rounds *rounds = &one->screen;
    one->floor = fmax(fmax(one->threshold, one->noise), fmax(one->quantum, one->layout));
    one->slower = one->faster = (struct gate_side){false, false, false};
    one->null_tripped = false;
    one->change = signed_rank_interval(rounds->value, rounds->count, CONFIDENCE);
    one->rounds = rounds->count;
    if (rounds->count < GATE_LEAST_ROUNDS) {
        one->slower.suspect = one->faster.suspect = !one->settled;
        settle(one, VERDICT_INCONCLUSIVE, "too few rounds");
        return;
    }
    screen_side(one, &one->slower, SIDE_GREATER, rules->alpha);
    screen_side(one, &one->faster, SIDE_LESS, rules->alpha);
    settle_unchanged(one, "not confirmed");
}

static bool is_suspect(const struct gate_case *one)
{
    return one->slower.suspect || one->faster.suspect;
}

static double look_alpha(const struct gate_rules *rules, bool extended)
{
    return rules->extend ? rules->alpha * (extended ? 0.2 : 0.8) : rules->alpha;
}

int gate_screen(struct gate_case *cases, int count, const struct gate_rules *rules)
{
    int suspects = 0;
    double layout = gate_layout(cases, count, rules->alpha);
    for (int i = 0; i < count; i++) {
        cases[i].layout = layout;
        screen_case(&cases[i], rules);
        suspects += is_suspect(&cases[i]);
    }
    /* A case that changed would be one suspect more. */
    double alpha = look_alpha(rules, false) / (suspects + 1);
    for (int i = 0; i < count; i++)
        cases[i].mde = detectable(&cases[i], &cases[i].screen, alpha);
    return suspects;
}

/* -------------------------------------------------------------- confirm -- */

static struct gate_side *side_of(struct gate_case *one, enum side side)
{
    return side == SIDE_GREATER ? &one->slower : &one->faster;
}

int gate_confirm_rounds(const struct gate_case *cases, int count, const struct gate_rules *rules)
{
    int slower = 0, faster = 0;
    for (int i = 0; i < count; i++) {
        slower += cases[i].slower.suspect;
        faster += cases[i].faster.suspect;
    }
    int most = slower > faster ? slower : faster;
    int rounds = most ? (int)ceil(log2(most / look_alpha(rules, false))) : 0;
    if (rounds < GATE_CONFIRM_ROUNDS) rounds = GATE_CONFIRM_ROUNDS;
    return rounds < SIGNED_RANK_MAX ? rounds : SIGNED_RANK_MAX;
}

static bool side_is_open(const struct gate_side *side)
{
    return side->suspect && !side->changed && !side->excluded;
}

bool gate_is_open(const struct gate_case *one)
{
    if (one->confirm.count < GATE_LEAST_ROUNDS) return false; /* more would be no better */
    return side_is_open(&one->slower) || side_is_open(&one->faster);
}

/* Holm's procedure over all suspects of one direction. In a second look, suspects decided in
 * the first stay in the family but are not tested again. */
static void confirm_side(struct gate_case *cases, int count, enum side side, double alpha,
                         struct hypothesis *family)
{
    int size = 0;
    for (int i = 0; i < count; i++) {
        struct gate_side *one = side_of(&cases[i], side);
        if (!one->suspect) continue;
        bool testable = side_is_open(one) && cases[i].confirm.count >= GATE_LEAST_ROUNDS;
        double p = testable ? rounds_p_changed(&cases[i].confirm, cases[i].floor, side) : 1;
        family[size++] = (struct hypothesis){.p = p, .index = i};
    }
    holm_reject(family, size, alpha);
    for (int i = 0; i < size; i++) {
        struct gate_case *member = &cases[family[i].index];
        struct gate_side *one = side_of(member, side);
        if (!side_is_open(one)) continue;
        one->changed = family[i].rejected;
        one->excluded =
            !one->changed && rounds_p_within(&member->confirm, member->floor, side) <= alpha;
    }
}

/* `alpha`: the level that the smallest p-value must pass. */
static void judge_case(struct gate_case *one, bool all_void, double alpha)
{
    one->change = signed_rank_interval(one->confirm.value, one->confirm.count, CONFIDENCE);
    one->rounds = one->confirm.count;
    one->mde = detectable(one, &one->confirm, alpha);
    if (one->confirm.count < GATE_LEAST_ROUNDS)
        settle(one, VERDICT_INCONCLUSIVE, "too few rounds in the second stage");
    else if (one->null_tripped)
        settle(one, VERDICT_UNSTABLE, "the base against itself changed as well");
    else if (all_void)
        settle(one, VERDICT_UNSTABLE, "the base against itself changed in several cases");
    else if (one->slower.changed)
        settle(one, VERDICT_REGRESSED, "");
    else if (one->faster.changed)
        settle(one, VERDICT_IMPROVED, "");
    else
        settle_unchanged(one, "the interval straddles the floor");
}

int gate_confirm(struct gate_case *cases, int count, const struct gate_rules *rules, bool extended)
{
    double alpha = look_alpha(rules, extended);
    struct hypothesis *family = calloc((size_t)count + 1, sizeof *family);
    int suspects = 0, trips = 0, open = 0;
    if (family) {
        confirm_side(cases, count, SIDE_GREATER, alpha, family);
        confirm_side(cases, count, SIDE_LESS, alpha, family);
    } /* out of memory: every suspect stays open */
    free(family);

    for (int i = 0; i < count; i++) {
        if (!is_suspect(&cases[i])) continue;
        suspects++;
        cases[i].null_tripped = rounds_trip(&cases[i].null, cases[i].floor, rules->alpha);
        trips += cases[i].null_tripped;
    }
    bool all_void = trips >= 2 && trips > NULL_SHARE * suspects;
    for (int i = 0; i < count; i++) {
        if (!is_suspect(&cases[i])) continue;
        judge_case(&cases[i], all_void, alpha / suspects);
        open += gate_is_open(&cases[i]);
    }
    return open;
}
