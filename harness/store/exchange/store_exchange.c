/*
 * store_exchange.c - the parts that NDJSON export and import share: which tables
 * travel, and numbers as text that reads back to the same bits.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "store/store_internal.h"

#define OF_LAUNCH                                                                                  \
    "JOIN launch ON launch.id = launch_id WHERE launch.run_id = :run"                              \
    " ORDER BY launch.number, ordinal"
#define OF_RESULT                                                                                  \
    "JOIN result ON result.id = result_id JOIN launch ON launch.id = result.launch_id"             \
    " WHERE launch.run_id = :run ORDER BY launch.number, result.ordinal"

/* A run and a launch are finished after they are first written, so of two
 * copies the one that ended later holds: the same whichever came first. */
const struct exchange exchange_tables[] = {
    {"environment", "WHERE id = (SELECT environment_id FROM run WHERE id = :run)",
     "ON CONFLICT (id) DO NOTHING"},
    {"run", "WHERE id = :run",
     "ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, status = excluded.status"
     " WHERE coalesce(excluded.ended_at, '') > coalesce(run.ended_at, '')"},
    {"object", "WHERE run_id = :run ORDER BY ordinal", "ON CONFLICT (run_id, ordinal) DO NOTHING"},
    {"device",
     "WHERE id IN (SELECT device_id FROM launch WHERE run_id = :run)"
     " ORDER BY id",
     "ON CONFLICT (id) DO NOTHING"},
    {"launch", "WHERE run_id = :run ORDER BY number",
     "ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at,"
     " end_sm_mhz = excluded.end_sm_mhz, end_memory_mhz = excluded.end_memory_mhz,"
     " end_temperature_c = excluded.end_temperature_c, end_power_w = excluded.end_power_w,"
     " end_energy_mj = excluded.end_energy_mj, end_clock_reasons = excluded.end_clock_reasons,"
     " end_other_processes = excluded.end_other_processes, processors = excluded.processors,"
     " start_load = excluded.start_load, end_load = excluded.end_load,"
     " other_share = excluded.other_share, steal_share = excluded.steal_share,"
     " link_width = excluded.link_width, link_width_max = excluded.link_width_max,"
     " link_generation = excluded.link_generation,"
     " link_generation_max = excluded.link_generation_max,"
     " ecc_uncorrected = excluded.ecc_uncorrected"
     " WHERE coalesce(excluded.ended_at, '') > coalesce(launch.ended_at, '')"},
    {"expected", OF_LAUNCH, "ON CONFLICT (launch_id, ordinal) DO NOTHING"},
    {"result", OF_LAUNCH, "ON CONFLICT (id) DO NOTHING"},
    {"metric", OF_RESULT ", metric.ordinal", "ON CONFLICT (result_id, name) DO NOTHING"},
    {"span", OF_RESULT ", span.ordinal", "ON CONFLICT (result_id, ordinal) DO NOTHING"},
    {"sample", OF_RESULT, "ON CONFLICT (result_id) DO NOTHING"},
    {"profile", OF_RESULT, "ON CONFLICT (result_id) DO NOTHING"},
    {"profile_kernel", OF_RESULT ", profile_kernel.ordinal",
     "ON CONFLICT (result_id, ordinal) DO NOTHING"},
    {"profile_counter",
     OF_RESULT ", kernel,"
               " profile_counter.ordinal",
     "ON CONFLICT (result_id, kernel, metric) DO NOTHING"},
    /* Of no run. Of a block of noise the one of more rounds stays. */
    {"noise", "",
     "ON CONFLICT (id) DO UPDATE SET rounds = excluded.rounds, time_ns = excluded.time_ns,"
     " shift = excluded.shift, spread = excluded.spread, measured_at = excluded.measured_at"
     " WHERE excluded.rounds > noise.rounds"},
    {"gate", "", "ON CONFLICT (id) DO NOTHING"},
    {"verdict", "",
     "ON CONFLICT (gate_id, operation, shape, temperature, variant, place) DO NOTHING"},
    {0},
};

/* ------------------------------------------------------------- numbers -- */

void number_text(double value, char text[NUMBER_SIZE])
{
    if (isinf(value))
        snprintf(text, NUMBER_SIZE, "%s9e999", value < 0 ? "-" : "");
    else
        json_digits(value, text);
}

/* ------------------------------------------------------------- samples -- */

int element_of(const char *column)
{
    for (int i = 0; i < SAMPLE_SERIES; i++)
        if (strcmp(column, sample_series[i].name) == 0) return (int)sample_series[i].element_bytes;
    return assay_error("%s is no column of samples", column);
}

/* Nine digits bring every float back; JSON has no NAN. */
static void append_float(sqlite3_str *out, float value)
{
    char text[NUMBER_SIZE] = "null";
    if (isinf(value))
        snprintf(text, sizeof text, "%s9e999", value < 0 ? "-" : "");
    else if (!isnan(value))
        snprintf(text, sizeof text, "%.9g", (double)value);
    sqlite3_str_appendall(out, text);
}

static void append_element(sqlite3_str *out, enum element element, const unsigned char *at)
{
    float f32;
    uint16_t whole = *at;
    if (element == ELEMENT_F32) {
        memcpy(&f32, at, sizeof f32);
        append_float(out, f32);
        return;
    }
    if (element == ELEMENT_U16) memcpy(&whole, at, sizeof whole);
    sqlite3_str_appendf(out, "%d", whole);
}

/* One number or null at *at, which moves past it; false when it is not one. */
static bool parse_element(const char **at, enum element element, unsigned char *out)
{
    char *end;
    if (element == ELEMENT_F32) {
        bool is_null = strncmp(*at, "null", 4) == 0;
        float value = is_null ? NAN : strtof(*at, &end);
        if (is_null) end = (char *)*at + 4;
        memcpy(out, &value, sizeof value);
    } else {
        long value = strtol(*at, &end, 10);
        if (value < 0 || value > (element == ELEMENT_U16 ? 65535 : 255)) return false;
        uint16_t u16 = (uint16_t)value;
        if (element == ELEMENT_U16)
            memcpy(out, &u16, sizeof u16);
        else
            *out = (unsigned char)value;
    }
    if (end == *at) return false;
    *at = end;
    return true;
}

static void skip_blanks(const char **at)
{
    while (isspace((unsigned char)**at))
        (*at)++;
}

static bool parse_elements(const char *at, enum element element, unsigned char *out, size_t *size)
{
    skip_blanks(&at);
    if (*at++ != '[') return false;
    skip_blanks(&at);
    for (*size = 0; *at != ']'; *size += element) {
        if (*size > 0 && *at++ != ',') return false;
        skip_blanks(&at);
        if (!parse_element(&at, element, out + *size)) return false;
        skip_blanks(&at);
    }
    return true;
}

int samples_parse(const char *json, enum element element, void **bytes, size_t *size)
{
    size_t most = 1;
    for (const char *c = json; *c; c++)
        most += *c == ',';
    *bytes = malloc(most * element);
    if (!*bytes) return assay_error("out of memory for samples");
    if (parse_elements(json, element, *bytes, size)) return 0;
    free(*bytes);
    *bytes = NULL;
    return assay_error("samples must be an array of %s",
                       element == ELEMENT_F32   ? "numbers and nulls"
                       : element == ELEMENT_U16 ? "whole numbers from 0 to 65535"
                                                : "whole numbers from 0 to 255");
}

/* ------------------------------------------------------- SQL functions -- */

/* SQLite writes 15 digits of a REAL, which is not always the same number. */
static void json_real(sqlite3_context *context, int count, sqlite3_value **value)
{
    char text[NUMBER_SIZE];
    (void)count;
    if (sqlite3_value_type(value[0]) == SQLITE_NULL) return;
    number_text(sqlite3_value_double(value[0]), text);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void json_samples(sqlite3_context *context, int count, sqlite3_value **value)
{
    (void)count;
    if (sqlite3_value_type(value[0]) == SQLITE_NULL) return;
    int element = element_of((const char *)sqlite3_value_text(value[1]));
    const unsigned char *bytes = sqlite3_value_blob(value[0]);
    size_t size = (size_t)sqlite3_value_bytes(value[0]);
    if (element < 0) {
        sqlite3_result_error(context, "not a column of samples", -1);
        return;
    }
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(out, 1, '[');
    for (size_t i = 0; i + element <= size; i += element) {
        if (i > 0) sqlite3_str_appendchar(out, 1, ',');
        append_element(out, (enum element)element, bytes + i);
    }
    sqlite3_str_appendchar(out, 1, ']');
    char *text = sqlite3_str_finish(out);
    if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

int exchange_functions(struct store *store)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int rc = sqlite3_create_function_v2(store->db, "json_real", 1, flags, NULL, json_real, NULL,
                                        NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function_v2(store->db, "json_samples", 2, flags, NULL, json_samples,
                                        NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_failed(store, rc, "open the database");
}
