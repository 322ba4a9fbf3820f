/* fleet_show.c - a fleet as a table and as one JSON document. The names in JSON are a public
 * contract: format 1 may gain members but never loses or changes one. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/fleet.h"
#include "show/show.h"

enum { COMMIT = 8 };

static void heading(FILE *out, const struct fleet_cohort *cohort, int width)
{
    char spread[UNITS_MAX], least[UNITS_MAX], line[1024];
    snprintf(line, sizeof line, "%s%s%s%s, assay %s %.*s: %d card%s",
             cohort->simulated ? "SIMULATED, " : "", cohort->model,
             cohort->driver[0] ? ", driver " : "", cohort->driver, cohort->version, COMMIT,
             cohort->commit, cohort->cards, cohort->cards == 1 ? "" : "s");
    if (cohort->judged == 0)
        text_add(line, sizeof line, "; ", "no case was measured on %d of them", FLEET_LEAST_CARDS);
    else
        text_add(line, sizeof line, "; ",
                 "their times are %s apart: one that is %s slower is found",
                 units_percent(spread, cohort->spread), units_percent(least, cohort->least));
    text_wrap(out, line, 0, 2, width);
}

/* "+2.10 %"; "-" where it was not judged. */
static void change_cell(struct table *table, double away)
{
    if (isnan(away))
        table_cell(table, "-");
    else
        table_cell(table, "%+.2f %%", 100 * expm1(away));
}

static void link_cell(struct table *table, const struct fleet_card *card)
{
    if (card->link_width < 0)
        table_cell(table, "-");
    else
        table_cell(table, "x%d gen %d", card->link_width, card->link_generation);
}

static bool is_shown(const struct fleet_card *card, int cohort, bool all)
{
    return card->is_asked && card->cohort == cohort && (all || card->findings);
}

static int write_cohort(FILE *out, const struct fleet *fleet, int cohort, bool all, int width)
{
    static const char *const headings[] = {"GPU",    "host",  ">time", ">clock",
                                           ">cases", ">link", "found"};
    struct table table;
    table_init(&table, headings, sizeof headings / sizeof headings[0]);
    for (int i = 0; i < fleet->card_count; i++) {
        const struct fleet_card *card = &fleet->cards[i];
        if (!is_shown(card, cohort, all)) continue;
        table_cell(&table, "%s", card->uuid);
        table_cell(&table, "%s", card->host);
        change_cell(&table, card->measure[MEASURE_TIME].away);
        change_cell(&table, 0 - card->measure[MEASURE_CLOCK].away);
        table_cell(&table, "%d", card->cases);
        link_cell(&table, card);
        table_cell(&table, "%s", card->reason[0] ? card->reason : "nothing");
    }
    bool has_rows = table.cell_count > table.columns;
    if (has_rows) return table_print(&table, out, width);
    table_release(&table);
    return 0;
}

static void summary(FILE *out, const struct fleet *fleet, int width)
{
    struct fleet_tally tally = fleet_tally(fleet);
    char line[512];
    snprintf(line, sizeof line, "%d card%s: %d with a finding, %d judged by %s times", tally.cards,
             tally.cards == 1 ? "" : "s", tally.found, tally.judged,
             tally.judged == 1 ? "its" : "their");
    text_wrap(out, line, 0, 0, width);
}

int fleet_print(FILE *out, const struct fleet *fleet, bool all, int width)
{
    for (int i = 0; i < fleet->cohort_count; i++) {
        heading(out, &fleet->cohorts[i], width);
        if (write_cohort(out, fleet, i, all, width) != 0) return -1;
        fputc('\n', out);
    }
    summary(out, fleet, width);
    return ferror(out) ? assay_error("cannot write the fleet: %s", strerror(errno)) : 0;
}

static FIELD_TABLE(cohort_fields,
                   FIELDS(fleet_cohort, model, simulated, driver, version, commit, cards, judged,
                          spread),
                   FIELD_AS("detectable", fleet_cohort, least));

static FIELD_TABLE(card_fields, FIELD_AS("gpu", fleet_card, uuid),
                   FIELDS(fleet_card, host, cohort, run, started_at, launches, cases));
static FIELD_TABLE(health_fields,
                   FIELDS(fleet_card, wrong, lost, power_limit_w, ecc, ecc_uncorrected, link_width,
                          link_width_max, link_generation, link_generation_max));

/* Above 0 is worse, as a fraction: of the time slower, of a clock or a ceiling lower. */
static double worse(const struct fleet_card *card, int measure)
{
    double away = card->measure[measure].away;
    return measure == MEASURE_TIME ? expm1(away) : -expm1(-away);
}

static void measures_member(struct json *json, const struct fleet *fleet,
                            const struct fleet_card *card)
{
    json_array_member(json, "measures");
    for (int i = 0; i < fleet->measures; i++) {
        const struct fleet_deviation *own = &card->measure[i];
        if (own->cases == 0) continue;
        json_begin_object(json);
        json_text_member(json, "name", fleet_measure_name(fleet, i));
        json_int_member(json, "cases", own->cases);
        json_number_member(json, "worse", worse(card, i));
        json_number_member(json, "p", isnan(own->away) ? NAN : own->p);
        json_bool_member(json, "found", own->found);
        json_end(json);
    }
    json_end(json);
}

static void findings_member(struct json *json, const struct fleet_card *card)
{
    json_array_member(json, "findings");
    for (int i = 0; i < FLEET_FINDINGS; i++)
        if (card->findings & 1U << i) json_string(json, words_name(&fleet_words, i));
    json_end(json);
}

static void card_value(struct json *json, const struct fleet *fleet, const struct fleet_card *card)
{
    json_begin_object(json);
    json_fields(json, card_fields, card);
    json_bool_member(json, "judged", fleet_is_judged(card));
    findings_member(json, card);
    json_text_member(json, "reason", card->reason);
    measures_member(json, fleet, card);
    json_fields(json, health_fields, card);
    json_end(json);
}

static FIELD_TABLE(tally_fields, FIELDS(fleet_tally, cards, judged, found));

int fleet_print_json(FILE *out, const struct fleet *fleet)
{
    struct fleet_tally tally = fleet_tally(fleet);
    struct json json;
    show_json_begin(&json, out);
    json_number_member(&json, "alpha", fleet->alpha);
    json_number_member(&json, "threshold", fleet->threshold);
    show_json_list(&json, "cohorts", cohort_fields, fleet->cohorts, fleet->cohort_count,
                   sizeof *fleet->cohorts);
    json_array_member(&json, "cards");
    for (int i = 0; i < fleet->card_count; i++)
        if (fleet->cards[i].is_asked) card_value(&json, fleet, &fleet->cards[i]);
    json_end(&json);
    json_fields_member(&json, "counts", tally_fields, &tally);
    json_int_member(&json, "exit", tally.exit);
    return json_finish(&json);
}
