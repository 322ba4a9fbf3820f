/* show_json.c - a run as one JSON document. The names are a public contract:
 * format 1 may gain members, and never loses or changes one. */
#include <math.h>
#include <string.h>

#include "json.h"
#include "json_shape.h"
#include "show.h"

enum { FORMAT = 1 };

static void text_member(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_string(json, text);
}

/* "" is what nobody could tell: null. */
static void known_member(struct json *json, const char *key, const char *text)
{
    text_member(json, key, text[0] ? text : NULL);
}

static void number_member(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_number(json, value);
}

/* -1 is not known: null. */
static void count_member(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    if (value < 0)
        json_null(json);
    else
        json_int(json, value);
}

static void bool_member(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

/* ------------------------------------------------------------- provenance -- */

static void program_member(struct json *json, const struct program_info *program)
{
    json_key(json, "program");
    json_begin_object(json);
    known_member(json, "version", program->version);
    known_member(json, "commit", program->commit);
    known_member(json, "diff_hash", program->diff_hash);
    known_member(json, "compiler", program->compiler);
    known_member(json, "flags", program->flags);
    known_member(json, "nvcc", program->nvcc);
    known_member(json, "nvcc_flags", program->nvcc_flags);
    json_end(json);
}

static void host_member(struct json *json, const struct host_info *host)
{
    json_key(json, "host");
    json_begin_object(json);
    known_member(json, "hostname", host->hostname);
    known_member(json, "cpu", host->cpu);
    known_member(json, "kernel", host->kernel);
    known_member(json, "os", host->os);
    known_member(json, "container", host->container);
    count_member(json, "cores", host->cores);
    count_member(json, "memory_bytes", host->memory_bytes);
    json_end(json);
}

static void device_member(struct json *json, const struct device_info *device)
{
    json_key(json, "device");
    json_begin_object(json);
    known_member(json, "spec", device->spec);
    text_member(json, "place", place_name((enum assay_place)device->place));
    bool_member(json, "simulated", device->simulated);
    known_member(json, "name", device->name);
    known_member(json, "uuid", device->uuid);
    known_member(json, "vbios", device->vbios);
    known_member(json, "driver", device->driver);
    known_member(json, "runtime", device->runtime);
    known_member(json, "library", device->library);
    known_member(json, "lost", device->lost);
    count_member(json, "compute_capability", device->compute_capability);
    count_member(json, "multiprocessors", device->multiprocessors);
    count_member(json, "l1_bytes", device->l1_bytes);
    count_member(json, "cache_bytes", device->cache_bytes);
    count_member(json, "memory_bytes", device->memory_bytes);
    number_member(json, "sm_mhz_max", device->sm_mhz_max);
    number_member(json, "memory_mhz_max", device->memory_mhz_max);
    number_member(json, "power_limit_w", device->power_limit_w);
    count_member(json, "ecc", device->ecc);
    count_member(json, "mig", device->mig);
    text_member(json, "clock", clock_name((enum clock_source)device->clock));
    number_member(json, "event_floor_ns", device->event_floor_ns);
    number_member(json, "kernel_floor_ns", device->kernel_floor_ns);
    number_member(json, "clock_step_ns", device->clock_step_ns);
    json_end(json);
}

static void launches_member(struct json *json, const struct stored_run *run)
{
    json_key(json, "launches");
    json_begin_array(json);
    for (int i = 0; i < run->launch_count; i++) {
        const struct launch_info *launch = &run->launches[i];
        char seed[24]; /* beyond 2^53 a reader's double would change it */
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)launch->seed);
        json_begin_object(json);
        text_member(json, "id", launch->id);
        count_member(json, "number", launch->number);
        text_member(json, "seed", seed);
        text_member(json, "flush", flush_name((enum cache_flush)launch->device.flush));
        device_member(json, &launch->device);
        json_end(json);
    }
    json_end(json);
}

static void run_member(struct json *json, const struct view *view)
{
    const struct stored_run *run = view->run;
    json_key(json, "run");
    json_begin_object(json);
    text_member(json, "id", run->run.id);
    text_member(json, "suite", run->run.suite);
    known_member(json, "label", run->run.label);
    known_member(json, "command", run->run.command);
    text_member(json, "status", run->status);
    bool_member(json, "simulated", run->run.simulated);
    known_member(json, "started_at", run->started_at);
    known_member(json, "ended_at", run->ended_at);
    count_member(json, "cases", run->case_count);
    count_member(json, "expected", run->expected_count);
    program_member(json, &run->program);
    host_member(json, &run->host);
    launches_member(json, run);
    json_key(json, "ceilings"); /* bytes or operations a second */
    json_begin_object(json);
    for (int i = 0; i < view->ceilings.count; i++)
        number_member(json, view->ceilings.item[i].name, view->ceilings.item[i].rate);
    json_end(json);
    json_end(json);
}

/* ------------------------------------------------------------------- rows -- */

static void quality_member(struct json *json, const struct case_result *result)
{
    json_key(json, "quality");
    json_begin_object(json);
    for (int i = 0; i < result->metric_count; i++)
        number_member(json, result->metrics[i].name, result->metrics[i].value);
    json_end(json);
}

/* A time of a case that is not ok is no time. */
static void times(struct json *json, const struct case_result *result)
{
    bool ok = result->status == STATUS_OK;
    number_member(json, "time_ns", ok ? result->time_ns : NAN);
    number_member(json, "lo_ns", ok ? result->lo_ns : NAN);
    number_member(json, "hi_ns", ok ? result->hi_ns : NAN);
    number_member(json, "event_ns", ok ? result->event_ns : NAN);
    number_member(json, "wall_ns", ok ? result->wall_ns : NAN);
    number_member(json, "first_call_ns", ok ? result->first_call_ns : NAN);
}

static void row_object(struct json *json, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    const struct case_id *id = &result->id;
    json_begin_object(json);
    text_member(json, "operation", id->operation);
    text_member(json, "variant", id->variant);
    text_member(json, "kind", kind_name((enum assay_kind)id->kind));
    text_member(json, "device", place_name((enum assay_place)id->place));
    json_key(json, "shape");
    json_shape(json, id->shape);
    text_member(json, "temperature", temperature_name((enum assay_temperature)id->temperature));
    text_member(json, "status", status_name((enum case_status)result->status));
    known_member(json, "reason", result->reason);
    text_member(json, "clock", clock_name((enum clock_source)result->clock));
    count_member(json, "samples", row->samples);
    times(json, result);
    number_member(json, "bytes", view_bytes(&result->work));
    number_member(json, "ops", view_ops(&result->work));
    known_member(json, "ceiling", row->ceiling);
    number_member(json, "ceiling_fraction", row->ceiling_fraction);
    number_member(json, "speedup", row->speedup.mid);
    number_member(json, "speedup_lo", row->speedup.lo);
    number_member(json, "speedup_hi", row->speedup.hi);
    count_member(json, "workspace_bytes", result->workspace_bytes);
    number_member(json, "energy_mj", result->status == STATUS_OK ? result->energy_mj : NAN);
    quality_member(json, result);
    json_end(json);
}

int show_json(FILE *out, const struct view *view, const struct show_options *options)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    text_member(&json, "assay", view->run->program.version);
    json_key(&json, "format");
    json_int(&json, FORMAT);
    run_member(&json, view);
    json_key(&json, "rows");
    json_begin_array(&json);
    for (int i = 0; i < view->count; i++)
        if (show_has(view, i, options)) row_object(&json, &view->rows[i]);
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}
