#define _GNU_SOURCE /* qsort_r */
#include "judge/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "judge/fleet_facts.h"
#include "judge/gate_stats.h"
#include "judge/student_t.h"

WORDS(fleet, "slow", "ceiling", "clock", "link", "ecc", "power", "throttle", "wrong", "lost");

/* The worth of Qn as an estimate of a normal spread: n values of it are as good as this share of n
 * values are for the standard deviation. Of many values the share is 0.82; so that the error rate
 * holds from six cards on, it is less (tests/judge/test_fleet.c). */
static const double EFFICIENCY = 0.7;
/* Of the probability of a false alarm, for times; the rest is for ceilings and clocks together. */
static const double SHARE_OF_TIMES = 0.8;
/* No cohort is taken to be closer together than this: medians of clocks and times have steps. */
static const double LEAST_SPREAD = 0.001;

void fleet_release(struct fleet *fleet)
{
    free(fleet->cards);
    free(fleet->cohorts);
    memset(fleet, 0, sizeof *fleet);
}

struct fleet_tally fleet_tally(const struct fleet *fleet)
{
    struct fleet_tally tally = {0};
    for (int i = 0; i < fleet->card_count; i++) {
        const struct fleet_card *card = &fleet->cards[i];
        if (!card->is_asked) continue;
        tally.cards++;
        tally.judged += fleet_is_judged(card);
        tally.found += card->findings != 0;
        tally.lost += (card->findings & 1U << FLEET_LOST) != 0;
    }
    tally.exit = tally.lost          ? EXIT_LOST
                 : tally.found       ? EXIT_REGRESSED
                 : tally.judged == 0 ? EXIT_NOTHING
                                     : EXIT_FINE;
    return tally;
}

bool fleet_is_judged(const struct fleet_card *card)
{
    return !isnan(card->measure[MEASURE_TIME].away);
}

/* ---------------------------------------------------- from times to deviations -- */

struct away {
    int card, measure;
    double by;
};

struct aways {
    struct away *item; /* space for three a value */
    int count;
};

static int by_cohort_and_card(const void *left, const void *right, void *about)
{
    const struct fleet_value *x = left, *y = right;
    const struct fleet *fleet = about;
    int a = fleet->cards[x->card].cohort, b = fleet->cards[y->card].cohort;
    return a != b ? (a > b) - (a < b) : (x->card > y->card) - (x->card < y->card);
}

/* The median over a card's launches, as a logarithm. */
static double card_median(const struct fleet_value *values, int count, bool of_clock,
                          double *scratch)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        double value = of_clock ? values[i].sm_mhz : values[i].time_ns;
        if (value > 0) scratch[kept++] = log(value);
    }
    return stats_median(scratch, kept);
}

/* What the cards of one cohort have in one case, each card against their median. `sign`: -1 where
 * more is better. */
static void hold_against(struct aways *aways, const struct fleet_value *values, int count,
                         bool of_clock, double *scratch)
{
    double *own = scratch + count, middle;
    int cards = 0, first = aways->count;
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && values[next].card == values[i].card;)
            next++;
        double median = card_median(values + i, next - i, of_clock, scratch);
        if (isnan(median)) continue;
        aways->item[aways->count++] =
            (struct away){values[i].card, of_clock ? MEASURE_CLOCK : values[i].measure, median};
        own[cards++] = median;
    }
    if (cards < FLEET_LEAST_CARDS) {
        aways->count = first;
        return;
    }
    middle = stats_median(own, cards);
    for (int i = first; i < aways->count; i++)
        aways->item[i].by = (of_clock ? -1 : 1) * (aways->item[i].by - middle);
}

/* A case that measures a ceiling counts among the times as well. */
static void add_case(struct fleet *fleet, struct aways *aways, struct fleet_value *values,
                     int count, double *scratch)
{
    qsort_r(values, (size_t)count, sizeof *values, by_cohort_and_card, fleet);
    for (int i = 0, next; i < count; i = next) {
        int cohort = fleet->cards[values[i].card].cohort;
        for (next = i; next < count && fleet->cards[values[next].card].cohort == cohort;)
            next++;
        int first = aways->count;
        hold_against(aways, values + i, next - i, false, scratch);
        for (int j = first, end = aways->count; j < end; j++) {
            fleet->cards[aways->item[j].card].cases++;
            if (aways->item[j].measure == MEASURE_TIME) continue;
            aways->item[aways->count++] =
                (struct away){aways->item[j].card, MEASURE_TIME, aways->item[j].by};
        }
        hold_against(aways, values + i, next - i, true, scratch);
        fleet_count_failures(fleet, values + i, next - i);
    }
}

static int by_card_and_measure(const void *left, const void *right)
{
    const struct away *x = left, *y = right;
    if (x->card != y->card) return x->card < y->card ? -1 : 1;
    if (x->measure != y->measure) return x->measure < y->measure ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

static void deviate(struct fleet *fleet, struct aways *aways)
{
    qsort(aways->item, (size_t)aways->count, sizeof *aways->item, by_card_and_measure);
    for (int i = 0, next; i < aways->count; i = next) {
        const struct away *first = &aways->item[i];
        for (next = i; next < aways->count && aways->item[next].card == first->card &&
                       aways->item[next].measure == first->measure;)
            next++;
        int cases = next - i;
        struct fleet_deviation *found = &fleet->cards[first->card].measure[first->measure];
        found->away = 0.5 * (first[(cases - 1) / 2].by + first[cases / 2].by);
        found->cases = cases;
    }
}

/* -------------------------------------------------- from deviations to p-values -- */

static void test_measure(struct fleet *fleet, int number, int measure, double *scratch)
{
    struct fleet_cohort *cohort = &fleet->cohorts[number];
    int cards = 0;
    for (int i = 0; i < fleet->card_count; i++)
        if (fleet->cards[i].cohort == number && fleet->cards[i].measure[measure].cases > 0)
            scratch[cards++] = fleet->cards[i].measure[measure].away;
    double middle = stats_median(scratch, cards);
    double spread = cards > 1 ? fmax(spread_by_pairs(scratch, cards), LEAST_SPREAD) : NAN;
    double freedom = EFFICIENCY * cards;
    /* A card is held against a median that is itself a little off: pi / 2 n of the variance. */
    double error = spread * sqrt(1 + M_PI_2 / cards);
    for (int i = 0; i < fleet->card_count; i++) {
        struct fleet_deviation *own = &fleet->cards[i].measure[measure];
        if (fleet->cards[i].cohort != number || own->cases == 0) continue;
        own->away = cards < FLEET_LEAST_CARDS ? NAN : own->away - middle;
        own->p = isnan(own->away) ? 1 : student_t_above(own->away / error, freedom);
    }
    if (measure != MEASURE_TIME || cards < FLEET_LEAST_CARDS) return;
    cohort->judged = cards;
    cohort->spread = spread;
}

/* Whether a measure is off by so much that a user would care. In the logarithms of times a fraction
 * is a little less. */
static bool matters(const struct fleet *fleet, const struct fleet_deviation *own)
{
    return own->away >= log1p(fleet->threshold);
}

static void test_family(struct fleet *fleet, int from, int to, double alpha,
                        struct hypothesis *family)
{
    int count = 0;
    for (int i = 0; i < fleet->card_count; i++)
        for (int m = from; m < to; m++)
            if (!isnan(fleet->cards[i].measure[m].away))
                family[count++] = (struct hypothesis){.p = fleet->cards[i].measure[m].p,
                                                      .index = i * FLEET_MEASURES + m};
    holm_reject(family, count, alpha);
    for (int i = 0; i < count; i++) {
        struct fleet_deviation *own = &fleet->cards[family[i].index / FLEET_MEASURES]
                                           .measure[family[i].index % FLEET_MEASURES];
        own->found = family[i].rejected && matters(fleet, own);
    }
}

/* What would be found in each cohort, were one card slow: its p-value must pass all cards'. */
static void say_power(struct fleet *fleet, double alpha)
{
    static const double power_80 = 0.8416; /* quantile of the normal distribution */
    int judged = 0;
    for (int i = 0; i < fleet->cohort_count; i++)
        judged += fleet->cohorts[i].judged;
    for (int i = 0; i < fleet->cohort_count; i++) {
        struct fleet_cohort *cohort = &fleet->cohorts[i];
        if (cohort->judged == 0) continue;
        double limit = student_t_exceeded(alpha / judged, EFFICIENCY * cohort->judged);
        double least = expm1(cohort->spread * (limit + power_80));
        cohort->least = fmax(least, fleet->threshold);
    }
}

/* ------------------------------------------------------------------- all -- */

static void begin(struct fleet *fleet)
{
    for (int i = 0; i < fleet->cohort_count; i++) {
        fleet->cohorts[i].cards = fleet->cohorts[i].judged = 0;
        fleet->cohorts[i].spread = fleet->cohorts[i].least = NAN;
    }
    for (int i = 0; i < fleet->card_count; i++) {
        struct fleet_card *card = &fleet->cards[i];
        fleet->cohorts[card->cohort].cards++;
        card->cases = card->wrong = card->lost = 0;
        card->findings = 0;
        card->reason[0] = '\0';
        for (int m = 0; m < FLEET_MEASURES; m++)
            card->measure[m] = (struct fleet_deviation){NAN, 1, 0, false};
    }
}

static void judge_measures(struct fleet *fleet, struct hypothesis *family, double *scratch)
{
    for (int cohort = 0; cohort < fleet->cohort_count; cohort++)
        for (int measure = 0; measure < fleet->measures; measure++)
            test_measure(fleet, cohort, measure, scratch);
    double alpha = SHARE_OF_TIMES * fleet->alpha;
    test_family(fleet, MEASURE_TIME, MEASURE_CLOCK, alpha, family);
    test_family(fleet, MEASURE_CLOCK, fleet->measures, fleet->alpha - alpha, family);
    say_power(fleet, alpha);
}

int fleet_judge(struct fleet *fleet, struct fleet_value *values, int count)
{
    struct aways aways = {malloc(3 * ((size_t)count + 1) * sizeof *aways.item), 0};
    size_t most = (size_t)(count > fleet->card_count ? count : fleet->card_count) + 1;
    double *scratch = malloc(2 * most * sizeof *scratch);
    struct hypothesis *family =
        malloc(((size_t)fleet->card_count * FLEET_MEASURES + 1) * sizeof *family);
    int status = -1;
    if (!aways.item || !scratch || !family) {
        assay_error("out of memory for %d times of %d cards", count, fleet->card_count);
        goto out;
    }
    begin(fleet);
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && values[next].case_number == values[i].case_number;)
            next++;
        add_case(fleet, &aways, values + i, next - i, scratch);
    }
    deviate(fleet, &aways);
    judge_measures(fleet, family, scratch);
    fleet_say_findings(fleet);
    status = 0;
out:
    free(aways.item);
    free(scratch);
    free(family);
    return status;
}
