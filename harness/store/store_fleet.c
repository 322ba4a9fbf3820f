#include "store/store_fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "case/case_name.h"
#include "judge/timings.h"
#include "store/store_internal.h"

static const char what[] = "a fleet";

struct chosen {
    char id[STORE_ID];
    int card;
};

struct reader {
    struct fleet *fleet;
    struct chosen *launches;
    int launch_count;
    /* Suites of the last card, and the run that was taken of each. */
    char (*suites)[2][ASSAY_MAX_NAME];
    int suite_count;
};

/* ------------------------------------------------------------------ cards -- */

/* What cards must have in common to be compared. */
static void cohort_key(struct query *query, char key[ID_SIZE])
{
    static const char *const parts[] = {"place",   "simulated",  "name",       "driver",
                                        "runtime", "mig",        "clock",      "flush",
                                        "version", "git_commit", "diff_hash",  "compiler",
                                        "flags",   "nvcc",       "nvcc_flags", "objects"};
    struct id_hash hash;
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay cohort 1");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *part = column_copy(query, parts[i]);
        id_hash_text(&hash, part ? part : "");
        free(part);
    }
    id_hash_end(&hash, key);
}

static FIELD_TABLE(cohort_fields, FIELD_AS("name", fleet_cohort, model),
                   FIELDS(fleet_cohort, driver, version, simulated),
                   FIELD_AS("git_commit", fleet_cohort, commit));

static FIELD_TABLE(card_fields, FIELD_AS("run_id", fleet_card, run),
                   FIELD_AS("run_started_at", fleet_card, started_at),
                   FIELDS(fleet_card, power_limit_w, ecc, ecc_uncorrected, link_width,
                          link_width_max, link_generation, link_generation_max));

static int find_cohort(struct query *query, struct fleet *fleet)
{
    char key[ID_SIZE];
    cohort_key(query, key);
    for (int i = fleet->cohort_count - 1; i >= 0; i--)
        if (strcmp(fleet->cohorts[i].key, key) == 0) return i;
    struct fleet_cohort *cohort =
        grow_add(&fleet->cohorts, &fleet->cohort_count, sizeof *cohort, what);
    if (!cohort) return -1;
    strcpy(cohort->key, key);
    fields_read(query, cohort_fields, cohort);
    return fleet->cohort_count - 1;
}

static int add_card(struct query *query, struct reader *reader, const char *host, const char *uuid)
{
    struct fleet *fleet = reader->fleet;
    struct fleet_card *card = grow_add(&fleet->cards, &fleet->card_count, sizeof *card, what);
    if (!card || (card->cohort = find_cohort(query, fleet)) < 0) return -1;
    text_copy(card->host, sizeof card->host, host);
    text_copy(card->uuid, sizeof card->uuid, uuid);
    fields_read(query, card_fields, card);
    reader->suite_count = 0;
    return 0;
}

/* Whether the launch is of the newest run of its suite. 1: yes, 0: no, -1 with assay_error. */
static int is_of_newest(struct query *query, struct reader *reader)
{
    char suite[ASSAY_MAX_NAME], run[ASSAY_MAX_NAME];
    column_text(query, "suite", suite, sizeof suite);
    column_text(query, "run_id", run, sizeof run);
    for (int i = 0; i < reader->suite_count; i++)
        if (strcmp(reader->suites[i][0], suite) == 0) return strcmp(reader->suites[i][1], run) == 0;
    char(*row)[ASSAY_MAX_NAME] =
        grow_add(&reader->suites, &reader->suite_count, sizeof *reader->suites, what);
    if (!row) return -1;
    strcpy(row[0], suite);
    strcpy(row[1], run);
    return 1;
}

/* Launches come card by card, those of a card from the newest run on. */
static int take_launch(struct query *query, struct reader *reader)
{
    struct fleet *fleet = reader->fleet;
    char host[RESULT_MAX_PROPERTY], uuid[RESULT_MAX_PROPERTY], key[ID_SIZE];
    column_text(query, "hostname", host, sizeof host);
    column_text(query, "card", uuid, sizeof uuid);
    struct fleet_card *card = fleet->card_count ? &fleet->cards[fleet->card_count - 1] : NULL;
    bool is_new = !card || strcmp(card->host, host) != 0 || strcmp(card->uuid, uuid) != 0;
    if (is_new && add_card(query, reader, host, uuid) != 0) return -1;
    card = &fleet->cards[fleet->card_count - 1];
    cohort_key(query, key);
    if (strcmp(fleet->cohorts[card->cohort].key, key) != 0) return 0;
    int newest = is_of_newest(query, reader);
    if (newest != 1) return newest;
    struct chosen *launch =
        grow_add(&reader->launches, &reader->launch_count, sizeof *launch, what);
    if (!launch) return -1;
    column_text(query, "launch_id", launch->id, sizeof launch->id);
    launch->card = fleet->card_count - 1;
    card->launches++;
    return 0;
}

/* A device without a UUID, as a simulated one, is told by what --device took. */
static int read_cards(struct store *store, const struct fleet_choice *choice, struct reader *reader)
{
    struct query query;
    int status = 0;
    query_open(
        &query, store, "read the cards of a fleet",
        "SELECT launch.id AS launch_id, launch.run_id, launch.*, device.*, environment.*,"
        " run.suite, run.started_at AS run_started_at,"
        " iif(device.uuid = '', launch.spec, device.uuid) AS card,"
        " (SELECT group_concat(object.name || ' ' || object.sha256) FROM object"
        "  WHERE object.run_id = run.id) AS objects"
        " FROM launch JOIN run ON run.id = launch.run_id"
        " JOIN device ON device.id = launch.device_id"
        " JOIN environment ON environment.id = run.environment_id"
        " WHERE (device.place = 'cuda' AND NOT device.simulated OR device.simulated AND :simulated)"
        " AND (:label IS NULL OR run.label = :label) AND (:suite IS NULL OR run.suite = :suite)"
        " AND (:since IS NULL OR run.started_at >= :since) AND NOT " STORE_OF_GATE
        " ORDER BY hostname, card, run.started_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),"
        " run.started_at DESC, run.rowid DESC, launch.number");
    query_integer(&query, ":simulated", choice->simulated);
    if (choice->label) query_text(&query, ":label", choice->label);
    if (choice->suite) query_text(&query, ":suite", choice->suite);
    if (choice->since) query_text(&query, ":since", choice->since);
    while (status == 0 && query_step(&query) == 1)
        status = take_launch(&query, reader);
    return query_close(&query) == 0 ? status : -1;
}

/* ------------------------------------------------------------------ times -- */

static int measure_of(struct fleet *fleet, const char *ceiling)
{
    if (!*ceiling) return MEASURE_TIME;
    for (int i = MEASURE_CEILINGS; i < fleet->measures; i++)
        if (strcmp(fleet->ceiling[i], ceiling) == 0) return i;
    if (fleet->measures == FLEET_MEASURES) return MEASURE_TIME;
    text_copy(fleet->ceiling[fleet->measures], ASSAY_MAX_NAME, ceiling);
    return fleet->measures++;
}

static void read_value(struct query *query, struct reader *reader, struct fleet_value *value)
{
    char ceiling[ASSAY_MAX_NAME], status[16];
    int64_t launch = column_integer(query, "launch");
    column_text(query, "ceiling", ceiling, sizeof ceiling);
    column_text(query, "status", status, sizeof status);
    value->card = reader->launches[launch].card;
    value->measure = measure_of(reader->fleet, ceiling);
    value->status = status[0] ? status_parse(status) : -1;
    value->time_ns = status_has_time(value->status) ? column_real(query, "time_ns") : NAN;
    value->sm_mhz = column_real(query, "sm_mhz");
    reader->fleet->cards[value->card].clock_reasons |=
        (uint64_t)column_integer(query, "clock_reasons");
}

/* What the plans of these launches name, case by case: a JSON array of their ids is :key. What
 * a launch that has not ended lacks may still come. */
static const char select_values[] =
    "SELECT chosen.key AS launch, plan.operation, plan.variant, plan.kind, plan.place, plan.shape,"
    " plan.temperature, plan.ceiling, result.status, result.time_ns, result.sm_mhz,"
    " coalesce(result.clock_reasons, 0) AS clock_reasons"
    " FROM json_each(:key) AS chosen"
    " JOIN launch ON launch.id = chosen.value"
    " JOIN expected AS plan ON plan.launch_id = chosen.value"
    " LEFT JOIN result ON " STORE_OF_PLAN " AND result.purpose = plan.purpose"
    " WHERE plan.skip = '' AND coalesce(result.expect_wrong, 0) = 0"
    " AND (result.id IS NOT NULL OR launch.ended_at IS NOT NULL)"
    " ORDER BY plan.operation, plan.shape, plan.temperature, plan.variant, plan.place";

static int read_values(struct store *store, const struct fleet_choice *choice,
                       struct reader *reader, const char *launches, struct fleet_value **values,
                       int *count)
{
    struct query query;
    struct case_id last = {0}, id;
    int status = 0, cases = 0;
    if (store_need(store, NEED_LAUNCHES, launches) != 0) return -1;
    query_ask(&query, store, "read the times of a fleet", select_values, launches);
    while (status == 0 && query_step(&query) == 1) {
        case_read(&query, &id);
        if (!case_matches(choice->filter, &id)) continue;
        if (case_id_order(&id, &last) != 0) cases++;
        last = id;
        struct fleet_value *value = grow_add(values, count, sizeof *value, what);
        status = value ? 0 : -1;
        if (!value) continue;
        value->case_number = cases;
        read_value(&query, reader, value);
    }
    return query_close(&query) == 0 ? status : -1;
}

/* Their ids are hexadecimal digits; what else a file of others holds there is no JSON. */
static char *launches_text(const struct reader *reader)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < reader->launch_count; i++)
        sqlite3_str_appendf(text, "%c\"%s\"", i ? ',' : '[', reader->launches[i].id);
    sqlite3_str_appendall(text, reader->launch_count ? "]" : "[]");
    return sqlite3_str_finish(text);
}

/* ------------------------------------------------------------------- both -- */

static int read_both(struct store *store, const struct fleet_choice *choice, struct reader *reader,
                     struct fleet_value **values, int *count)
{
    if (read_cards(store, choice, reader) != 0) return -1;
    char *launches = launches_text(reader);
    int status = launches ? read_values(store, choice, reader, launches, values, count)
                          : assay_error("out of memory for %s", what);
    sqlite3_free(launches);
    return status;
}

/* One transaction: runs that are being measured are seen at one moment. */
int store_read_fleet(struct store *store, const struct fleet_choice *choice, struct fleet *fleet,
                     struct fleet_value **values, int *count)
{
    static const char purpose[] = "read a fleet";
    *fleet = (struct fleet){
        .measures = MEASURE_CEILINGS, .alpha = FLEET_ALPHA, .threshold = FLEET_THRESHOLD};
    *values = NULL;
    *count = 0;
    struct reader reader = {.fleet = fleet};
    if (store_need(store, NEED_FLEET, "") != 0) return -1;
    if (store_exec(store, purpose, "BEGIN") != 0) return -1;
    int status = read_both(store, choice, &reader, values, count);
    status = store_finish(store, purpose, status);
    free(reader.launches);
    free(reader.suites);
    if (status == 0) return 0;
    fleet_release(fleet);
    free(*values);
    *values = NULL;
    return -1;
}
