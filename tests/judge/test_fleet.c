/* test_fleet.c - what is found of cards: how often of healthy ones, and how surely of a slow one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "base/rng.h"
#include "judge/fleet.h"
#include "judge/gate_stats.h"
#include "stepped_clock.h"

enum { CASES = 8, LAUNCHES = 2, CARDS_MOST = 80 };

/* A fleet of one model, and what its cards measured in one sweep. */
struct sweep {
    struct fleet fleet;
    struct fleet_value values[CARDS_MOST * CASES * LAUNCHES];
    int count;
};

static void fleet_make(struct sweep *sweep, int cards)
{
    *sweep = (struct sweep){.fleet = {.card_count = cards,
                                      .cohort_count = 1,
                                      .measures = MEASURE_CEILINGS + 1,
                                      .alpha = FLEET_ALPHA,
                                      .threshold = FLEET_THRESHOLD}};
    sweep->fleet.cards = calloc((size_t)cards, sizeof *sweep->fleet.cards);
    sweep->fleet.cohorts = calloc(1, sizeof *sweep->fleet.cohorts);
    strcpy(sweep->fleet.ceiling[MEASURE_CEILINGS], "memory_copy");
    for (int i = 0; i < cards; i++) {
        struct fleet_card *card = &sweep->fleet.cards[i];
        card->power_limit_w = 700;
        card->ecc = 1;
        card->ecc_uncorrected = 0;
        card->link_width = card->link_width_max = 16;
        card->link_generation = card->link_generation_max = 5;
    }
}

/* Cards that differ by `spread`, cases and launches that scatter by 0.3 % more; the last case
 * measures a ceiling. Card 7 is slower by `slow`. */
static void measure(struct sweep *sweep, double spread, double slow, uint64_t seed)
{
    struct rng rng;
    double card[CARDS_MOST];
    rng_seed(&rng, seed);
    sweep->count = 0;
    for (int i = 0; i < sweep->fleet.card_count; i++)
        card[i] = spread * simulated_normal(&rng) + (i == 7 ? log1p(slow) : 0);
    for (int c = 0; c < CASES; c++)
        for (int launch = 0; launch < LAUNCHES; launch++)
            for (int i = 0; i < sweep->fleet.card_count; i++)
                sweep->values[sweep->count++] = (struct fleet_value){
                    .card = i,
                    .case_number = c,
                    .measure = c == CASES - 1 ? MEASURE_CEILINGS : MEASURE_TIME,
                    .status = STATUS_OK,
                    .time_ns = 1000 * (c + 1) * exp(card[i] + 0.003 * simulated_normal(&rng)),
                    .sm_mhz = 1980};
}

static int found(const struct sweep *sweep)
{
    int cards = 0;
    for (int i = 0; i < sweep->fleet.card_count; i++)
        cards += sweep->fleet.cards[i].findings != 0;
    return cards;
}

/* How many of so many sweeps of healthy cards find anything. */
static int alarms(int cards, double spread, int sweeps)
{
    struct sweep sweep;
    int any = 0;
    fleet_make(&sweep, cards);
    for (int i = 0; i < sweeps; i++) {
        measure(&sweep, spread, 0, rng_mix((uint64_t)cards, (uint64_t)i));
        assert_int_equal(fleet_judge(&sweep.fleet, sweep.values, sweep.count), 0);
        any += found(&sweep) > 0;
    }
    fleet_release(&sweep.fleet);
    return any;
}

/* With a spread of 2 % the threshold of 1 % holds nothing back. */
TEST(at_most_one_sweep_in_a_hundred_is_a_false_alarm)
{
    static const struct {
        int cards, sweeps;
        double spread;
    } fleets[] = {{6, 2000, 0.02},  {7, 2000, 0.02},  {8, 2000, 0.02},
                  {16, 2000, 0.02}, {64, 1000, 0.02}, {64, 500, 0.003}};
    for (size_t i = 0; i < sizeof fleets / sizeof fleets[0]; i++) {
        int any = alarms(fleets[i].cards, fleets[i].spread, fleets[i].sweeps);
        printf("%d cards, spread %.1f %%: %d of %d sweeps\n", fleets[i].cards,
               100 * fleets[i].spread, any, fleets[i].sweeps);
        assert_true(any <= fleets[i].sweeps / 100);
    }
}

/* How many of so many sweeps find card 7, and nothing else. */
static int finds(int cards, double spread, double slow, int sweeps)
{
    struct sweep sweep;
    int hits = 0;
    fleet_make(&sweep, cards);
    for (int i = 0; i < sweeps; i++) {
        measure(&sweep, spread, slow, rng_mix(1000, (uint64_t)i));
        assert_int_equal(fleet_judge(&sweep.fleet, sweep.values, sweep.count), 0);
        hits += (sweep.fleet.cards[7].findings & 1 << FLEET_SLOW) && found(&sweep) == 1;
    }
    fleet_release(&sweep.fleet);
    return hits;
}

TEST(one_slow_card_of_64_is_found_in_one_sweep)
{
    assert_int_equal(finds(64, 0.002, 0.02, 300), 300);
    int wider = finds(64, 0.003, 0.02, 300);
    printf("2 %% slow, spread 0.3 %%: %d of 300 sweeps\n", wider);
    assert_true(wider >= 285);
}

TEST(what_a_cohort_could_find_is_found_four_times_in_five)
{
    struct sweep sweep;
    fleet_make(&sweep, 64);
    measure(&sweep, 0.01, 0, 1);
    assert_int_equal(fleet_judge(&sweep.fleet, sweep.values, sweep.count), 0);
    double least = sweep.fleet.cohorts[0].least;
    assert_int_equal(sweep.fleet.cohorts[0].judged, 64);
    assert_true(fabs(sweep.fleet.cohorts[0].spread - 0.01) < 0.003);
    fleet_release(&sweep.fleet);
    int hits = finds(64, 0.01, least, 300);
    printf("%.1f %% slow, spread 1 %%: %d of 300 sweeps\n", 100 * least, hits);
    assert_in_range(hits, 180, 285);
}

/* Several at once do not hide behind each other, nor make the others look bad. */
TEST(eight_slow_cards_are_all_found)
{
    struct sweep sweep;
    fleet_make(&sweep, 64);
    measure(&sweep, 0.002, 0, 3);
    for (int i = 0; i < sweep.count; i++)
        if (sweep.values[i].card < 8) sweep.values[i].time_ns *= 1.03;
    assert_int_equal(fleet_judge(&sweep.fleet, sweep.values, sweep.count), 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal(sweep.fleet.cards[i].findings >> FLEET_SLOW & 1, i < 8);
    fleet_release(&sweep.fleet);
}

static void judge(struct sweep *sweep)
{
    assert_int_equal(fleet_judge(&sweep->fleet, sweep->values, sweep->count), 0);
}

TEST(a_low_clock_and_a_low_ceiling_have_their_names)
{
    struct sweep sweep;
    fleet_make(&sweep, 16);
    measure(&sweep, 0.001, 0, 4);
    for (int i = 0; i < sweep.count; i++) {
        struct fleet_value *value = &sweep.values[i];
        if (value->card == 2) value->sm_mhz = 1755;
        if (value->card == 3 && value->measure == MEASURE_CEILINGS) value->time_ns *= 1.5;
    }
    judge(&sweep);
    assert_int_equal(sweep.fleet.cards[2].findings, 1 << FLEET_CLOCK);
    assert_int_equal(sweep.fleet.cards[3].findings, 1 << FLEET_CEILING);
    assert_non_null(strstr(sweep.fleet.cards[3].reason, "memory_copy 33."));
    assert_non_null(strstr(sweep.fleet.cards[2].reason, "clock 11.4 % lower"));
    assert_int_equal(found(&sweep), 2);
    fleet_release(&sweep.fleet);
}

/* One step of the clock, where all others have the same clock, is no finding. */
TEST(cards_that_are_all_equal_forgive_a_step)
{
    struct sweep sweep;
    fleet_make(&sweep, 64);
    measure(&sweep, 0, 0, 5);
    for (int i = 0; i < sweep.count; i++) {
        sweep.values[i].time_ns = 1000;
        if (sweep.values[i].card == 2) sweep.values[i].sm_mhz = 1965;
    }
    judge(&sweep);
    assert_int_equal(found(&sweep), 0);
    fleet_release(&sweep.fleet);
}

TEST(what_a_card_says_of_itself_is_found)
{
    struct sweep sweep;
    fleet_make(&sweep, 9);
    measure(&sweep, 0.001, 0, 6);
    struct fleet_card *card = sweep.fleet.cards;
    card[0].link_width = 8;
    card[1].link_generation = 4;
    card[2].ecc = 0;
    card[3].ecc_uncorrected = 2;
    card[4].power_limit_w = 600;
    card[5].clock_reasons = 0x40;
    card[6].link_width = card[6].ecc = -1;
    card[6].power_limit_w = NAN;
    card[7].clock_reasons = 0x4; /* a software power cap is normal */
    judge(&sweep);
    static const unsigned expected[9] = {1 << FLEET_LINK, 1 << FLEET_LINK,  1 << FLEET_ECC,
                                         1 << FLEET_ECC,  1 << FLEET_POWER, 1 << FLEET_THROTTLE};
    for (int i = 0; i < 9; i++)
        assert_int_equal(card[i].findings, expected[i]);
    assert_string_equal(card[0].reason, "PCIe lanes 8, others have 16");
    assert_string_equal(card[2].reason, "ECC is off, unlike that of the others");
    assert_string_equal(card[5].reason, "slowed down: hw thermal slowdown");
    fleet_release(&sweep.fleet);
}

/* A card that has half of its lanes says so alone, too. */
TEST(a_card_alone_is_not_judged_but_heard)
{
    struct sweep sweep;
    fleet_make(&sweep, 5);
    measure(&sweep, 0.001, 0, 7);
    for (int i = 0; i < sweep.count; i++)
        if (sweep.values[i].card == 1) sweep.values[i].time_ns *= 3;
    for (int i = 2; i < 5; i++)
        sweep.fleet.cards[i].link_width = 8;
    judge(&sweep);
    assert_int_equal(sweep.fleet.cohorts[0].judged, 0);
    for (int i = 0; i < 5; i++)
        assert_false(fleet_is_judged(&sweep.fleet.cards[i]));
    assert_int_equal(found(&sweep), 3);
    assert_string_equal(sweep.fleet.cards[2].reason, "PCIe lanes 8, it could have 16");
    fleet_release(&sweep.fleet);
}

TEST(what_fails_on_one_card_is_its_fault)
{
    struct sweep sweep;
    fleet_make(&sweep, 8);
    measure(&sweep, 0.001, 0, 8);
    for (int i = 0; i < sweep.count; i++) {
        struct fleet_value *value = &sweep.values[i];
        bool fails = value->case_number == 0 || /* everywhere */
                     (value->card == 1 && value->case_number == 1) ||
                     (value->card == 2 && value->case_number == 2);
        if (!fails) continue;
        value->status = value->case_number == 2 ? -1 : STATUS_WRONG;
        value->time_ns = NAN;
    }
    judge(&sweep);
    assert_int_equal(sweep.fleet.cards[1].findings, 1 << FLEET_WRONG);
    assert_int_equal(sweep.fleet.cards[2].findings, 1 << FLEET_LOST);
    assert_int_equal(sweep.fleet.cards[1].wrong, 1);
    assert_int_equal(found(&sweep), 2);
    fleet_release(&sweep.fleet);
}

/* Other programs, drivers and models are other cohorts: 30 % apart, and nothing is found. */
TEST(cohorts_are_not_mixed)
{
    struct sweep sweep;
    fleet_make(&sweep, 20);
    free(sweep.fleet.cohorts);
    sweep.fleet.cohorts = calloc(2, sizeof *sweep.fleet.cohorts);
    sweep.fleet.cohort_count = 2;
    measure(&sweep, 0.001, 0, 9);
    for (int i = 0; i < sweep.count; i++)
        if (sweep.values[i].card % 2) sweep.values[i].time_ns *= 1.3;
    for (int i = 0; i < 20; i++) {
        sweep.fleet.cards[i].cohort = i % 2;
        if (i % 2) sweep.fleet.cards[i].link_width = sweep.fleet.cards[i].link_width_max = 8;
    }
    judge(&sweep);
    assert_int_equal(found(&sweep), 0);
    assert_int_equal(sweep.fleet.cohorts[1].judged, 10);
    fleet_release(&sweep.fleet);
}

static void check_spread(char **field, const char *line)
{
    double data[256], expected = strtod(field[1], NULL);
    int count = 0;
    for (char *at = field[2], *next; count < 256; count++, at = next) {
        data[count] = strtod(at, &next);
        if (next == at) break;
    }
    double found = spread_by_pairs(data, count);
    if (!(fabs(found - expected) <= 1e-10 * expected))
        fail_msg("%.17g is not %.17g: %.60s", found, expected, line);
}

TEST(the_spread_is_that_of_statsmodels)
{
    assert_int_equal(golden_lines("tests/golden/fleet.tsv", "spread", check_spread), 28);
}
