#include "judge/twin.h"

#include <math.h>
#include <stdlib.h>

#include "judge/clock_steps.h"
#include "judge/noise.h"

static const double PASS_ALPHA = 0.05; /* of PASS, over all looks at a case */
static const double NULL_ALPHA = 0.01;
static const double CONFIDENCE = 0.95;
/* What the place of code in memory may do on a CPU, where too few cases show it: twice what was
 * seen of calls of 15 us. */
static const double HOST_PLACE = 0.2;
/* A mean of a short time is known to this share of a step: launches begin not quite anywhere within
 * one (610 ns repeat to 0.05 steps on an H200). */
static const double STEPS = 0.1;
/* Times beyond the range of all but this share at each end, by more than that range and a step of
 * the clock, are outliers: of normal ones those five deviations away. */
static const double EDGE = 0.05;

double twin_alpha_of(int cases)
{
    return TWIN_ALPHA / (2 * (cases > 0 ? cases : 1));
}

/* ---------------------------------------------------------------- blocks -- */

/* The valid times of both sides, sorted; how many, or -1 when out of memory. free(*times). */
static int pool(const float *base_ns, const float *other_ns, int turns, double **times)
{
    int count = 0;
    *times = malloc((2 * (size_t)turns + 1) * sizeof **times);
    if (!*times) return -1;
    for (int i = 0; i < turns; i++) {
        if (!(base_ns[i] > 0 && other_ns[i] > 0)) continue;
        (*times)[count++] = base_ns[i];
        (*times)[count++] = other_ns[i];
    }
    stats_sort(*times, count);
    return count;
}

/* What times are brought to at most. Swapping the sides changes nothing. */
struct limits {
    double least, most;
};

static bool find_limits(const float *base_ns, const float *other_ns, int turns,
                        struct limits *limits)
{
    double *times;
    int count = pool(base_ns, other_ns, turns, &times);
    if (count > 0) {
        double low = stats_quantile_sorted(times, count, EDGE);
        double high = stats_quantile_sorted(times, count, 1 - EDGE);
        /* A gap that is wider is that of an outlier. */
        double step_ns = fmin(clock_steps_of(times, count).step_ns, 0.1 * low);
        double beyond = fmax(high - low, step_ns);
        *limits = (struct limits){low - beyond, high + beyond};
    }
    free(times);
    return count > 0;
}

static double within(struct limits limits, double time_ns)
{
    return fmin(fmax(time_ns, limits.least), limits.most);
}

void twin_blocks(const float *base_ns, const float *other_ns, int turns, struct gate_rounds *blocks)
{
    struct limits limits;
    int most = turns < SIGNED_RANK_MAX ? turns : SIGNED_RANK_MAX;
    blocks->count = 0;
    if (turns <= 0 || !find_limits(base_ns, other_ns, turns, &limits)) return;
    for (int block = 0; block < most; block++) {
        double base = 0, other = 0;
        int end = (int)((int64_t)turns * (block + 1) / most);
        for (int i = (int)((int64_t)turns * block / most); i < end; i++) {
            if (!(base_ns[i] > 0 && other_ns[i] > 0)) continue;
            base += within(limits, base_ns[i]);
            other += within(limits, other_ns[i]);
        }
        if (base > 0) blocks->value[blocks->count++] = log(other) - log(base);
    }
}

double twin_quantum(const float *base_ns, const float *candidate_ns, int turns)
{
    double *times, quantum = 0;
    int count = pool(base_ns, candidate_ns, turns, &times);
    if (count > 0 && times[count / 2] < CLOCK_STEPS_MOST_NS) {
        struct clock_steps steps = clock_steps_of(times, count);
        quantum = (steps.dithers ? STEPS : WHOLE_STEPS) * steps.step_ns / times[count / 2];
    }
    free(times);
    return quantum;
}

/* ----------------------------------------------------------------- looks -- */

static void look_at_side(struct gate_side *found, const struct gate_rounds *blocks, double floor,
                         enum side side, double alpha)
{
    if (found->changed || found->excluded) return;
    found->changed = rounds_p_changed(blocks, floor, side) <= alpha / TWIN_LOOKS;
    found->excluded =
        !found->changed && rounds_p_within(blocks, floor, side) <= PASS_ALPHA / TWIN_LOOKS;
}

static bool is_decided(const struct gate_side *side)
{
    return side->changed || side->excluded;
}

bool twin_is_decided(const float *base_ns, const float *candidate_ns, int turns,
                     const struct twin_goal *goal)
{
    struct gate_rounds blocks;
    struct gate_side slower = {0}, faster = {0};
    twin_blocks(base_ns, candidate_ns, turns, &blocks);
    look_at_side(&slower, &blocks, goal->floor, SIDE_GREATER, goal->alpha);
    look_at_side(&faster, &blocks, goal->floor, SIDE_LESS, goal->alpha);
    return slower.changed || faster.changed || (is_decided(&slower) && is_decided(&faster));
}

/* --------------------------------------------------------------- verdict -- */

static void settle(struct twin_case *one, enum verdict verdict, const char *reason)
{
    one->verdict = verdict;
    one->reason = reason;
}

static bool null_trips(const struct twin_case *one)
{
    struct gate_rounds blocks;
    if (!one->null_ns) return false;
    twin_blocks(one->base_ns, one->null_ns, one->turns, &blocks);
    return rounds_trip(&blocks, one->floor, NULL_ALPHA);
}

static void judge_case(struct twin_case *one, double alpha)
{
    struct gate_rounds blocks = {.count = 0};
    struct gate_side slower = {0}, faster = {0};
    for (int look = TWIN_FIRST_TURNS, turns = 0; turns < one->turns; look *= 2) {
        turns = look < one->turns ? look : one->turns;
        twin_blocks(one->base_ns, one->candidate_ns, turns, &blocks);
        look_at_side(&slower, &blocks, one->floor, SIDE_GREATER, alpha);
        look_at_side(&faster, &blocks, one->floor, SIDE_LESS, alpha);
    }
    one->change =
        signed_rank_interval(blocks.value, blocks.count, 1 - (1 - CONFIDENCE) / TWIN_LOOKS);
    one->p_slower = rounds_p_changed(&blocks, one->floor, SIDE_GREATER);
    one->p_faster = rounds_p_changed(&blocks, one->floor, SIDE_LESS);
    one->mde = blocks.count < GATE_LEAST_ROUNDS
                   ? NAN
                   : detectable_effect(one->floor, rounds_variance(&blocks) / blocks.count,
                                       alpha / TWIN_LOOKS);
    if (blocks.count < TWIN_FIRST_TURNS)
        settle(one, VERDICT_INCONCLUSIVE, "too few valid turns");
    else if (null_trips(one))
        settle(one, VERDICT_UNSTABLE, "a second copy of the base differs from the first as well");
    else if (slower.changed)
        settle(one, VERDICT_REGRESSED, "");
    else if (faster.changed)
        settle(one, VERDICT_IMPROVED, "");
    else if (one->on_host && one->layout == HOST_PLACE)
        settle(one, VERDICT_UNSTABLE,
               "too few cases to know what the place of code in memory does");
    else if (one->layout > NOISE_MOST_THRESHOLDS * one->threshold)
        settle(one, VERDICT_UNSTABLE,
               one->has_memory
                   ? "it has memory of its own, which lies elsewhere for each copy (told by "
                     "--processes 8, or by launches without --twin)"
                   : "copies of the same code differ by more than the threshold (--processes 8 "
                     "learns by how much in each case)");
    else if (!slower.excluded)
        settle(one, VERDICT_INCONCLUSIVE, "the time for its turns does not tell it from the floor");
    else if (one->quantum > one->threshold)
        settle(one, VERDICT_INCONCLUSIVE, "the clock's steps are coarser than the threshold");
    else
        settle(one, VERDICT_PASS, "");
}

/* By how many deviations of its turns' scatter a null arm is off, squared; and how well it is
 * known. */
struct null_arm {
    double square, weight;
};

static int by_square(const void *left, const void *right)
{
    const struct null_arm *a = left, *b = right;
    return (a->square > b->square) - (a->square < b->square);
}

/* False for too few turns, or a clock too coarse to say. */
static bool read_null(const struct twin_case *one, struct null_arm *arm)
{
    struct gate_rounds blocks = {.count = 0};
    if (one->null_ns) twin_blocks(one->base_ns, one->null_ns, one->turns, &blocks);
    if (blocks.count < TWIN_FIRST_TURNS) return false;
    double middle = signed_rank_interval(blocks.value, blocks.count, CONFIDENCE).mid;
    double variance = rounds_variance(&blocks) / blocks.count;
    *arm = (struct null_arm){middle * middle / variance, 1 / variance};
    return variance > 0;
}

/* Mean square of the lower nine tenths of normal draws. */
static const double TRIMMED_SQUARE = 0.6225;

/* How far copies of the same code differ in the cases of a gate, by where each lies: what the null
 * arms differ by, beyond what their turns scatter by themselves (the moment estimate of DerSimonian
 * and Laird, Controlled Clinical Trials 7, 1986), is taken as normal draws, of which none of
 * `count` exceeds the result, a fraction, but with probability TWIN_ALPHA. The largest tenth is
 * left out: one case that is not itself trips its own null arm. NAN: too few to know, or out of
 * memory. */
static double find_layout(const struct twin_case *cases, int count)
{
    double squares = 0, weights = 0;
    int arms = 0;
    struct null_arm *arm = calloc((size_t)count + 1, sizeof *arm);
    if (!arm) return NAN;
    for (int i = 0; i < count; i++)
        arms += read_null(&cases[i], &arm[arms]);
    int kept = arms - arms / 10;
    qsort(arm, (size_t)arms, sizeof *arm, by_square);
    for (int i = 0; i < kept; i++) {
        squares += arm[i].square;
        weights += arm[i].weight;
    }
    free(arm);
    if (arms < GATE_LEAST_TWINS) return NAN;
    double excess = squares / TRIMMED_SQUARE - kept;
    double layout = excess > 0 ? sqrt(excess / weights) : 0;
    return expm1(layout * normal_quantile(1 - TWIN_ALPHA / count));
}

double twin_judge(struct twin_case *cases, int count)
{
    double layout = find_layout(cases, count);
    for (int i = 0; i < count; i++) {
        cases[i].layout = cases[i].on_host && isnan(layout) ? HOST_PLACE : layout;
        if (cases[i].has_memory) cases[i].layout = fmax(cases[i].layout, TWIN_MEMORY);
        cases[i].floor = fmax(cases[i].threshold, fmax(cases[i].quantum, cases[i].layout));
        judge_case(&cases[i], twin_alpha_of(count));
    }
    return layout;
}
