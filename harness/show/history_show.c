/* history_show.c - a history as text (a sparkline per series, a line per change), as one JSON
 * document and as one HTML file, which draws that. The names in JSON are a public contract: format
 * 1 may gain members but never loses or changes one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "base/markup.h"
#include "base/sparkline.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "case/shape.h"
#include "judge/history.h"
#include "show/page.h"
#include "show/show.h"

enum { DAY = 10, SHORT_ID = 8, WHY = 512 }; /* characters: a date, an id, a border */
enum { MARGIN = 4 };

static const struct history_run *run_at(const struct history *history,
                                        const struct history_series *series, int point)
{
    return &history->runs[series->points[point].run];
}

struct page {
    FILE *out;
    const struct history *history;
    int columns;
};

static void print_heading(const struct page *page, const struct history_series *series)
{
    char name[CASE_TEXT];
    const struct device_info *facts = NULL;
    case_text(&series->id, name);
    if (series->point_count > 0)
        facts = &page->history->settings[series->points[series->point_count - 1].setting].facts;
    text_line(page->out, 0, page->columns, "%s%s%s%s", name, facts ? "  on " : "",
              facts ? facts->name : "", facts && facts->simulated ? " (simulated)" : "");
}

static void print_summary(const struct page *page, const struct history_series *series)
{
    char newest[UNITS_MAX], lowest[UNITS_MAX], highest[UNITS_MAX], failed[48] = "";
    double low = INFINITY, high = 0;
    int last = series->point_count - 1;
    for (int i = 0; i <= last; i++) {
        low = fmin(low, series->points[i].time_ns);
        high = fmax(high, series->points[i].time_ns);
    }
    if (series->failed > 0) snprintf(failed, sizeof failed, "; %d without a time", series->failed);
    text_line(page->out, 2, page->columns, "%d run%s, %.*s to %.*s, newest %s, from %s to %s%s",
              last + 1, last ? "s" : "", DAY, run_at(page->history, series, 0)->started_at, DAY,
              run_at(page->history, series, last)->started_at,
              units_time(newest, series->points[last].time_ns), units_time(lowest, low),
              units_time(highest, high), failed);
}

/* As wide as the terminal, or as a usual one. */
static int print_sparkline(const struct page *page, const struct history_series *series, bool utf8)
{
    char cells[SPARKLINE_SIZE];
    bool fits = page->columns > 2 * MARGIN && page->columns < TERMINAL_ENDLESS;
    int width = (fits ? page->columns : TERMINAL_USUAL) - MARGIN;
    double *values = calloc((size_t)series->point_count, sizeof *values);
    if (!values) return assay_error("out of memory for the history");
    for (int i = 0; i < series->point_count; i++)
        values[i] = series->points[i].time_ns;
    sparkline(cells, values, series->point_count, width, utf8);
    fprintf(page->out, "  %s\n", cells);
    free(values);
    return 0;
}

static void print_change(const struct page *page, const struct history_series *series,
                         const struct history_change *change)
{
    const struct history_run *run = run_at(page->history, series, change->at);
    char before[UNITS_MAX], after[UNITS_MAX], why[WHY];
    history_border_text(page->history, series, change, why, sizeof why);
    text_line(page->out, 2, page->columns, "%.*s  %-6s  %+6.1f %%  %s -> %s  run %.*s%s%.12s%s%s",
              DAY, run->started_at, change->causes ? "border" : "change",
              100 * (change->after_ns / change->before_ns - 1),
              units_time(before, change->before_ns), units_time(after, change->after_ns), SHORT_ID,
              run->id, run->commit[0] ? " of " : "", run->commit, why[0] ? "  " : "", why);
}

static void print_acks(const struct page *page, const struct case_id *id)
{
    for (int i = 0; i < page->history->ack_count; i++) {
        const struct ack *ack = &page->history->acks[i];
        if (!case_matches(ack->pattern, id)) continue;
        text_line(page->out, 2, page->columns, "%.*s  acknowledged: %s%s%.*s%s", DAY, ack->set_at,
                  ack->reason, ack->expires_at[0] ? " (until " : "", DAY, ack->expires_at,
                  ack->expires_at[0] ? ")" : "");
    }
}

int history_print(FILE *out, const struct history *history, int columns, bool utf8)
{
    const struct page page = {out, history, columns};
    for (int i = 0; i < history->series_count; i++) {
        const struct history_series *series = &history->series[i];
        if (i > 0) fputc('\n', out);
        print_heading(&page, series);
        if (series->point_count == 0) {
            text_line(out, 2, columns, "no time in %d run%s", series->failed,
                      series->failed > 1 ? "s" : "");
            continue;
        }
        print_summary(&page, series);
        if (print_sparkline(&page, series, utf8) != 0) return -1;
        for (int j = 0; j < series->change_count; j++)
            print_change(&page, series, &series->changes[j]);
        print_acks(&page, &series->id);
    }
    if (ferror(out)) return assay_error("cannot write the history: %s", strerror(errno));
    return 0;
}

/* ------------------------------------------------------------------- JSON -- */

static FIELD_TABLE(setting_fields, FIELD_AS("device", device_info, name), FIELDS(device_info, uuid),
                   FIELD_AS("firmware", device_info, vbios),
                   FIELDS(device_info, driver, runtime, power_limit_w, ecc, mig),
                   FIELD("clock", FIELD_SOME_WORD, device_info, clock, &clock_words),
                   FIELD_OF_WORDS(device_info, flush, flush_words), FIELDS(device_info, simulated));

static FIELD_TABLE(run_fields, FIELD_AS("run", history_run, id),
                   FIELDS(history_run, started_at, label, commit));
static FIELD_TABLE(point_fields, FIELDS(history_point, launches, time_ns, lo_ns, hi_ns));
static FIELD_TABLE(ack_fields, FIELDS(ack, reason, set_at, expires_at));

static void point_value(struct json *json, const struct history *history,
                        const struct history_point *point)
{
    json_begin_object(json);
    json_fields(json, run_fields, &history->runs[point->run]);
    json_fields(json, point_fields, point);
    json_known_member(json, "interval", show_interval_word(point->lo_ns, point->launches));
    json_int_member(json, "setting", point->setting);
    json_end(json);
}

/* `at` is the index of a point, from 0. */
static void change_value(struct json *json, const struct history *history,
                         const struct history_series *series, const struct history_change *change)
{
    const struct history_run *run = run_at(history, series, change->at);
    char why[WHY];
    history_border_text(history, series, change, why, sizeof why);
    json_begin_object(json);
    json_int_member(json, "at", change->at);
    json_known_member(json, "kind", change->causes ? "border" : "change");
    json_array_member(json, "causes");
    for (int part = 0; part < COMPARABILITY_PARTS; part++)
        if (history_is_cause(change, part)) json_string(json, comparability_part_name(part));
    json_end(json);
    json_known_member(json, "reason", why);
    json_known_member(json, "run", run->id);
    json_known_member(json, "started_at", run->started_at);
    json_known_member(json, "commit", run->commit);
    json_number_member(json, "before_ns", change->before_ns);
    json_number_member(json, "after_ns", change->after_ns);
    json_number_member(json, "ratio", change->after_ns / change->before_ns);
    json_end(json);
}

static void acks_member(struct json *json, const struct history *history, const struct case_id *id)
{
    json_array_member(json, "acks");
    for (int i = 0; i < history->ack_count; i++) {
        const struct ack *ack = &history->acks[i];
        if (case_matches(ack->pattern, id)) json_fields_element(json, ack_fields, ack);
    }
    json_end(json);
}

static void series_value(struct json *json, const struct history *history,
                         const struct history_series *series)
{
    const struct case_id *id = &series->id;
    json_begin_object(json);
    json_known_member(json, "operation", id->operation);
    json_known_member(json, "variant", id->variant);
    json_key(json, "shape");
    json_shape(json, id->shape);
    json_known_member(json, "temperature", temperature_name(id->temperature));
    json_known_member(json, "place", place_name(id->place));
    json_int_member(json, "runs", series->point_count);
    json_int_member(json, "failed", series->failed);
    json_array_member(json, "changes");
    for (int i = 0; i < series->change_count; i++)
        change_value(json, history, series, &series->changes[i]);
    json_end(json);
    acks_member(json, history, id);
    json_array_member(json, "points");
    for (int i = 0; i < series->point_count; i++)
        point_value(json, history, &series->points[i]);
    json_end(json);
    json_end(json);
}

int history_print_json(FILE *out, const struct history *history)
{
    struct json json;
    show_json_begin(&json, out);
    json_array_member(&json, "settings");
    for (int i = 0; i < history->setting_count; i++)
        json_fields_element(&json, setting_fields, &history->settings[i].facts);
    json_end(&json);
    json_array_member(&json, "series");
    for (int i = 0; i < history->series_count; i++)
        series_value(&json, history, &history->series[i]);
    return json_finish(&json);
}

/* ------------------------------------------------------------------ HTML -- */

static int document(FILE *out, const void *history)
{
    return history_print_json(out, history);
}

static void summary(FILE *out, const struct history *history)
{
    int changes = 0, borders = 0, last = history->run_count - 1;
    for (int i = 0; i < history->series_count; i++)
        for (int j = 0; j < history->series[i].change_count; j++)
            ++*(history->series[i].changes[j].causes ? &borders : &changes);
    xml_print(out, "<p id=\"summary\">Runs of %.10s to %.10s: ",
              last < 0 ? "" : history->runs[0].started_at,
              last < 0 ? "" : history->runs[last].started_at);
    fprintf(out,
            "%d case%s, %d change%s of level, %d border%s (another device, driver, clock).</p>\n",
            history->series_count, history->series_count == 1 ? "" : "s", changes,
            changes == 1 ? "" : "s", borders, borders == 1 ? "" : "s");
}

int history_html(FILE *out, const struct history *history, const char *cases)
{
    char title[CASE_TEXT];
    snprintf(title, sizeof title, "%s over runs", cases);
    page_begin(out, title);
    summary(out, history);
    page_place(out, "trend", true, "assay history");
    if (page_document(out, "history", document, history)) return -1;
    page_end(out, true);
    return ferror(out) ? assay_error("cannot write the history: %s", strerror(errno)) : 0;
}
