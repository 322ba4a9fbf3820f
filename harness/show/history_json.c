/* history_json.c - a history as one JSON document. The names are a public contract: format 1
 * may gain members but never loses or changes one. */
#include "base/json.h"
#include "case/shape.h"
#include "judge/history.h"
#include "show/history_formats.h"
#include "show/show.h"

static void setting_members(struct json *json, const struct history_setting *setting)
{
    const struct device_info *facts = &setting->facts;
    json_known_member(json, "device", facts->name);
    json_known_member(json, "uuid", facts->uuid);
    json_known_member(json, "firmware", facts->vbios);
    json_known_member(json, "driver", facts->driver);
    json_known_member(json, "runtime", facts->runtime);
    json_number_member(json, "power_limit_w", facts->power_limit_w);
    json_count_member(json, "ecc", facts->ecc);
    json_count_member(json, "mig", facts->mig);
    json_known_member(json, "clock", clock_name((enum clock_source)facts->clock));
    json_known_member(json, "flush", flush_name((enum cache_flush)facts->flush));
    json_bool_member(json, "simulated", facts->simulated);
}

static void point_value(struct json *json, const struct history *history,
                        const struct history_point *point)
{
    const struct history_run *run = &history->runs[point->run];
    json_begin_object(json);
    json_known_member(json, "run", run->id);
    json_known_member(json, "started_at", run->started_at);
    json_known_member(json, "label", run->label);
    json_known_member(json, "commit", run->commit);
    json_int_member(json, "launches", point->launches);
    json_number_member(json, "time_ns", point->time_ns);
    json_int_member(json, "setting", point->setting);
    json_end(json);
}

/* `at` is the index of a point, from 0. */
static void change_value(struct json *json, const struct history *history,
                         const struct history_series *series, const struct history_change *change)
{
    const struct history_run *run = &history->runs[series->points[change->at].run];
    json_begin_object(json);
    json_int_member(json, "at", change->at);
    json_known_member(json, "kind", change->causes ? "border" : "change");
    json_array_member(json, "causes");
    for (int part = 0; part < COMPARABILITY_PARTS; part++)
        if (history_is_cause(change, part)) json_string(json, comparability_part_name(part));
    json_end(json);
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
        if (!case_matches(ack->pattern, id)) continue;
        json_begin_object(json);
        json_known_member(json, "reason", ack->reason);
        json_known_member(json, "set_at", ack->set_at);
        json_known_member(json, "expires_at", ack->expires_at);
        json_end(json);
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
    json_known_member(json, "temperature",
                      temperature_name((enum assay_temperature)id->temperature));
    json_known_member(json, "place", place_name((enum assay_place)id->place));
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
    for (int i = 0; i < history->setting_count; i++) {
        json_begin_object(&json);
        setting_members(&json, &history->settings[i]);
        json_end(&json);
    }
    json_end(&json);
    json_array_member(&json, "series");
    for (int i = 0; i < history->series_count; i++)
        series_value(&json, history, &history->series[i]);
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}
