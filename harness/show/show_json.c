/* show_json.c - a run as one JSON document. The names are a public contract: format 1 may
 * gain members but never loses or changes one. */
#include <math.h>

#include "case/shape.h"
#include "show/show.h"

void show_json_begin(struct json *json, FILE *out)
{
    struct program_info program;
    provenance_program(&program);
    json_begin(json, out, 2);
    json_begin_object(json);
    json_known_member(json, "assay", program.version);
    json_int_member(json, "format", 1);
}

void show_json_list(struct json *json, const char *key, const struct field *fields,
                    const void *list, int count, size_t size)
{
    json_array_member(json, key);
    for (int i = 0; i < count; i++)
        json_fields_element(json, fields, (const char *)list + (size_t)i * size);
    json_end(json);
}

void show_json_case(struct json *json, const struct case_id *id)
{
    json_text_member(json, "operation", id->operation);
    json_text_member(json, "variant", id->variant);
    json_text_member(json, "kind", kind_name(id->kind));
    json_text_member(json, "device", place_name(id->place));
    json_key(json, "shape");
    json_shape(json, id->shape);
    json_text_member(json, "temperature", temperature_name(id->temperature));
}

/* ------------------------------------------------------------- provenance -- */

static FIELD_TABLE(program_fields, FIELDS(program_info, version, commit, diff_hash, compiler, flags,
                                          nvcc, nvcc_flags));

static FIELD_TABLE(host_fields,
                   FIELDS(host_info, hostname, cpu, kernel, os, container, cores, memory_bytes));

static FIELD_TABLE(device_fields, FIELDS(device_info, spec),
                   FIELD_OF_WORDS(device_info, place, place_words),
                   FIELDS(device_info, simulated, name, uuid, vbios, driver, runtime, library, lost,
                          compute_capability, multiprocessors, l1_bytes, cache_bytes, memory_bytes,
                          sm_mhz_max, memory_mhz_max, power_limit_w, ecc, mig),
                   FIELD("clock", FIELD_SOME_WORD, device_info, clock, &clock_words),
                   FIELDS(device_info, event_floor_ns, kernel_floor_ns, clock_step_ns));

static FIELD_TABLE(around_fields, FIELDS(surroundings, processors, start_load, end_load,
                                         other_share, steal_share));

static FIELD_TABLE(object_fields, FIELDS(object_info, name, sha256, commit));

static void surroundings_member(struct json *json, const struct launch_info *launch)
{
    json_object_member(json, "surroundings");
    json_fields(json, around_fields, &launch->around);
    json_count_member(json, "start_other_processes", launch->start.other_processes);
    json_count_member(json, "end_other_processes", launch->end_other_processes);
    json_end(json);
}

static void launches_member(struct json *json, const struct stored_run *run)
{
    json_array_member(json, "launches");
    for (int i = 0; i < run->launch_count; i++) {
        const struct launch_info *launch = &run->launches[i];
        char seed[24]; /* text, because a reader's double is not exact beyond 2^53 */
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)launch->seed);
        json_begin_object(json);
        json_text_member(json, "id", launch->id);
        json_count_member(json, "number", launch->number);
        json_text_member(json, "seed", seed);
        json_text_member(json, "flush", flush_name(launch->device.flush));
        json_fields_member(json, "device", device_fields, &launch->device);
        surroundings_member(json, launch);
        json_end(json);
    }
    json_end(json);
}

static void noise_member(struct json *json, const struct view *view)
{
    struct view_noise noise;
    view_noise(view, &noise);
    json_object_member(json, "noise");
    json_number_member(json, "most_spread", view->most_spread);
    json_count_member(json, "rows", noise.rows);
    json_count_member(json, "noisy", noise.noisy);
    json_array_member(json, "causes");
    for (int i = 0; i < noise.causes.count; i++)
        json_string(json, noise.causes.text[i]);
    json_end(json);
    json_end(json);
}

static void shard_member(struct json *json, const struct stored_run *run)
{
    const struct shard *shard = &run->run.shard;
    if (shard->count == 0) {
        json_text_member(json, "shard", NULL);
        return;
    }
    json_object_member(json, "shard");
    json_count_member(json, "index", run->shares > 0 ? -1 : shard->index);
    json_count_member(json, "shares", run->shares > 0 ? run->shares : 1);
    json_count_member(json, "count", shard->count);
    json_known_member(json, "job", shard->group);
    json_text_member(json, "cut", shard->cut);
    json_end(json);
}

static void run_member(struct json *json, const struct view *view)
{
    const struct stored_run *run = view->run;
    json_object_member(json, "run");
    json_text_member(json, "id", run->run.id);
    json_text_member(json, "suite", run->run.suite);
    json_known_member(json, "label", run->run.label);
    json_known_member(json, "command", run->run.command);
    json_text_member(json, "status", run->status);
    json_bool_member(json, "simulated", run->run.simulated);
    json_known_member(json, "started_at", run->started_at);
    json_known_member(json, "ended_at", run->ended_at);
    json_count_member(json, "cases", run->case_count);
    json_count_member(json, "expected", run->expected_count);
    shard_member(json, run);
    json_fields_member(json, "program", program_fields, &run->program);
    show_json_list(json, "objects", object_fields, run->run.objects, run->run.object_count,
                   sizeof *run->run.objects);
    json_fields_member(json, "host", host_fields, &run->host);
    launches_member(json, run);
    noise_member(json, view);
    json_object_member(json, "ceilings"); /* bytes or operations per second */
    for (int i = 0; i < view->ceilings.count; i++)
        json_number_member(json, view->ceilings.item[i].name, view->ceilings.item[i].rate);
    json_end(json);
    json_end(json);
}

/* ------------------------------------------------------------------- rows -- */

static void quality_member(struct json *json, const struct case_result *result)
{
    json_object_member(json, "quality");
    for (int i = 0; i < result->metric_count; i++)
        json_number_member(json, result->metrics[i].name, result->metrics[i].value);
    json_end(json);
}

/* "B/s", "FLOP/s", "OP/s" for integers; NULL without a rate. */
static const char *rate_unit(const struct view_row *row)
{
    if (isnan(row->rate)) return NULL;
    if (!row->rate_is_ops) return "B/s";
    return row->arithmetic == ASSAY_INT8_OPS ? "OP/s" : "FLOP/s";
}

const char *show_interval_word(double lo_ns, int launches)
{
    if (isnan(lo_ns)) return "";
    return stats_is_range(launches) ? "smallest to largest" : "95 % confidence";
}

static FIELD_TABLE(time_fields,
                   FIELDS(case_result, time_ns, lo_ns, hi_ns, event_ns, wall_ns, first_call_ns));
static FIELD_TABLE(ceiling_fields, FIELDS(view_row, ceiling, ceiling_fraction),
                   FIELD_AS("speedup", view_row, speedup.mid),
                   FIELD_AS("speedup_lo", view_row, speedup.lo),
                   FIELD_AS("speedup_hi", view_row, speedup.hi),
                   FIELD_AS("against", view_row, baseline));

static void row_object(struct json *json, const struct view *view, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    struct show_words words;
    show_words(&words, view, row);
    json_begin_object(json);
    show_json_case(json, &result->id);
    json_text_member(json, "status", status_name(result->status));
    json_known_member(json, "reason", result->reason);
    json_text_member(json, "clock", clock_name(result->clock));
    json_count_member(json, "samples", row->samples);
    json_fields(json, time_fields, result);
    json_number_member(json, "bytes", view_bytes(&result->work));
    json_number_member(json, "ops", view_ops(&result->work));
    json_fields(json, ceiling_fields, row);
    json_known_member(json, "against_kind", row->baseline[0] ? kind_name(row->base_kind) : "");
    json_count_member(json, "workspace_bytes", result->workspace_bytes);
    json_number_member(json, "energy_mj", result->energy_mj);
    json_number_member(json, "rate", row->rate);
    json_known_member(json, "rate_unit", rate_unit(row));
    json_int_member(json, "launches", row->launches);
    json_known_member(json, "interval", show_interval_word(result->lo_ns, row->launches));
    json_known_member(json, "marks", words.cell[CELL_MARKS]);
    json_known_member(json, "note", result->note);
    json_bool_member(json, "noisy", row->is_noisy);
    quality_member(json, result);
    json_count_member(json, "outputs", result->outputs);
    json_count_member(json, "checked", result->checked);
    json_end(json);
}

int show_json(FILE *out, const struct view *view)
{
    struct json json;
    show_json_begin(&json, out);
    run_member(&json, view);
    json_array_member(&json, "rows");
    for (int i = 0; i < view->count; i++)
        if (!view->rows[i].is_hidden) row_object(&json, view, &view->rows[i]);
    return json_finish(&json);
}
