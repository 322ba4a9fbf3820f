#include "judge/fleet_facts.h"

#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "device/nvml.h"

const char *fleet_measure_name(const struct fleet *fleet, int measure)
{
    static const char *const names[MEASURE_CEILINGS] = {"time", "clock"};
    return measure < MEASURE_CEILINGS ? names[measure] : fleet->ceiling[measure];
}

enum end { END_FINE, END_WRONG, END_LOST, END_ELSE };

static enum end end_of(const struct fleet_value *values, int count)
{
    enum end end = END_ELSE;
    for (int i = 0; i < count; i++) {
        int status = values[i].status;
        if (status == STATUS_WRONG) return END_WRONG;
        if (status < 0 || status == STATUS_CRASHED || status == STATUS_TIMEOUT)
            end = END_LOST;
        else if (status_has_time(status) && end == END_ELSE)
            end = END_FINE;
    }
    return end;
}

static int next_card(const struct fleet_value *values, int count, int at)
{
    int next = at;
    while (next < count && values[next].card == values[at].card)
        next++;
    return next;
}

void fleet_count_failures(struct fleet *fleet, const struct fleet_value *values, int count)
{
    int fine = 0, cards = 0;
    for (int i = 0, next; i < count; i = next, cards++) {
        next = next_card(values, count, i);
        fine += end_of(values + i, next - i) == END_FINE;
    }
    if (2 * fine <= cards) return;
    for (int i = 0, next; i < count; i = next) {
        next = next_card(values, count, i);
        enum end end = end_of(values + i, next - i);
        fleet->cards[values[i].card].wrong += end == END_WRONG;
        fleet->cards[values[i].card].lost += end == END_LOST;
    }
}

double fleet_count(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

enum fact { FACT_LANES, FACT_GENERATION, FACT_ECC, FACT_POWER };

/* NAN: not known. */
static double fact_of(const struct fleet_card *card, enum fact fact)
{
    const double facts[] = {[FACT_LANES] = fleet_count(card->link_width),
                            [FACT_GENERATION] = fleet_count(card->link_generation),
                            [FACT_ECC] = fleet_count(card->ecc),
                            [FACT_POWER] = card->power_limit_w};
    return facts[fact];
}

/* What more than half of a cohort's cards have, as far as it is known of them; NAN: nothing is. */
static double usual(const struct fleet *fleet, int cohort, enum fact fact)
{
    int known = 0, held = 0;
    double candidate = NAN;
    /* Boyer and Moore's majority vote (1981), which is checked in a second pass. */
    for (int i = 0; i < fleet->card_count; i++) {
        double own = fact_of(&fleet->cards[i], fact);
        if (fleet->cards[i].cohort != cohort || isnan(own)) continue;
        known++;
        if (held == 0) candidate = own;
        held += own == candidate ? 1 : -1;
    }
    int votes = 0;
    for (int i = 0; i < fleet->card_count; i++)
        votes += fleet->cards[i].cohort == cohort && fact_of(&fleet->cards[i], fact) == candidate;
    return 2 * votes > known ? candidate : NAN;
}

static void find(struct fleet_card *card, enum fleet_finding finding)
{
    card->findings |= 1U << finding;
}

#define SAY(card, ...) text_add((card)->reason, sizeof(card)->reason, "; ", __VA_ARGS__)

static void say_link(const struct fleet *fleet, struct fleet_card *card)
{
    static const char *const what[] = {[FACT_LANES] = "lanes", [FACT_GENERATION] = "generation"};
    const double most[] = {[FACT_LANES] = fleet_count(card->link_width_max),
                           [FACT_GENERATION] = fleet_count(card->link_generation_max)};
    for (enum fact fact = FACT_LANES; fact <= FACT_GENERATION; fact++) {
        double own = fact_of(card, fact), others = usual(fleet, card->cohort, fact);
        bool below_others = own < others;
        if (!below_others && !(own < most[fact])) continue;
        find(card, FLEET_LINK);
        SAY(card, "PCIe %s %.0f, %s %.0f", what[fact], own,
            below_others ? "others have" : "it could have", below_others ? others : most[fact]);
    }
}

static void say_ecc(const struct fleet *fleet, struct fleet_card *card)
{
    double others = usual(fleet, card->cohort, FACT_ECC);
    if (card->ecc >= 0 && !isnan(others) && card->ecc != (int32_t)others) {
        find(card, FLEET_ECC);
        SAY(card, "ECC is %s, unlike that of the others", card->ecc ? "on" : "off");
    }
    if (card->ecc_uncorrected > 0) {
        find(card, FLEET_ECC);
        SAY(card, "%lld memory errors that ECC could not correct",
            (long long)card->ecc_uncorrected);
    }
}

static void say_power(const struct fleet *fleet, struct fleet_card *card)
{
    double others = usual(fleet, card->cohort, FACT_POWER);
    if (!(card->power_limit_w < others)) return; /* false for NAN */
    find(card, FLEET_POWER);
    SAY(card, "power limit %.0f W, others have %.0f W", card->power_limit_w, others);
}

static void say_clock_reasons(struct fleet_card *card)
{
    char text[256];
    if (!nvml_is_slowdown(card->clock_reasons)) return;
    nvml_reasons_text(card->clock_reasons, text, sizeof text);
    find(card, FLEET_THROTTLE);
    SAY(card, "slowed down: %s", text);
}

static void say_failures(struct fleet_card *card)
{
    if (card->wrong > 0) {
        find(card, FLEET_WRONG);
        SAY(card, "%d wrong answer%s, right on others", card->wrong, card->wrong == 1 ? "" : "s");
    }
    if (card->lost > 0) {
        find(card, FLEET_LOST);
        SAY(card, "%d case%s lost, which others have", card->lost, card->lost == 1 ? "" : "s");
    }
}

/* "2.1 % slower (p = 3e-07)": a time that is longer by a factor, a rate or a clock that is lower.
 */
static void say_measure(const struct fleet *fleet, struct fleet_card *card, int measure)
{
    const struct fleet_deviation *own = &card->measure[measure];
    char by[UNITS_MAX];
    bool is_time = measure == MEASURE_TIME;
    if (!own->found) return;
    units_percent(by, is_time ? expm1(own->away) : -expm1(-own->away));
    find(card, is_time ? FLEET_SLOW : measure == MEASURE_CLOCK ? FLEET_CLOCK : FLEET_CEILING);
    if (is_time)
        SAY(card, "%s slower in %d cases (p = %.1g)", by, own->cases, own->p);
    else
        SAY(card, "%s %s lower (p = %.1g)", fleet_measure_name(fleet, measure), by, own->p);
}

void fleet_say_findings(struct fleet *fleet)
{
    for (int i = 0; i < fleet->card_count; i++) {
        struct fleet_card *card = &fleet->cards[i];
        for (int measure = 0; measure < fleet->measures; measure++)
            say_measure(fleet, card, measure);
        say_link(fleet, card);
        say_ecc(fleet, card);
        say_power(fleet, card);
        say_clock_reasons(card);
        say_failures(card);
    }
}
