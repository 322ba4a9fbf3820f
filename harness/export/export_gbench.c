/*
 * export_gbench.c - a run as the JSON of Google Benchmark (its JSON reporter, schema
 * version 1), for tools that read it: Bencher, github-action-benchmark, compare.py. One
 * entry per case, with its median time.
 *
 * Readers require cpu_time beside real_time. CPU time is not measured, so it repeats
 * real_time.
 */
#include "base/json.h"
#include "export/export.h"

/* Bencher rejects a file without caches. */
static void caches_member(struct json *json, const struct device_info *device)
{
    json_array_member(json, "caches");
    if (device->cache_bytes > 0) {
        json_begin_object(json);
        json_text_member(json, "type", "Unified");
        json_int_member(json, "level", device->place == ASSAY_CUDA ? 2 : 3);
        json_int_member(json, "size", device->cache_bytes);
        json_int_member(json, "num_sharing", device->multiprocessors);
        json_end(json);
    }
    json_end(json);
}

static void context_member(struct json *json, const struct stored_run *run)
{
    const struct device_info none = {.cache_bytes = -1};
    const struct device_info *device = run->launch_count > 0 ? &run->launches[0].device : &none;
    json_object_member(json, "context");
    json_text_member(json, "date", run->started_at);
    json_text_member(json, "host_name", run->host.hostname);
    json_text_member(json, "executable", "assay");
    json_int_member(json, "num_cpus", run->host.cores > 0 ? run->host.cores : 0);
    caches_member(json, device);
    json_text_member(json, "library_version", run->program.version);
    json_text_member(json, "library_build_type", "release");
    json_int_member(json, "json_schema_version", 1);
    json_text_member(json, "assay_run", run->run.id);
    json_text_member(json, "assay_suite", run->run.suite);
    json_text_member(json, "assay_device", device->name);
    json_text_member(json, "assay_driver", device->driver);
    json_text_member(json, "assay_commit", run->program.commit);
    json_end(json);
}

static void benchmark_value(struct json *json, const struct view_row *row, int index)
{
    const struct case_result *result = &row->result;
    char name[EXPORT_NAME];
    export_name(row, name);
    json_begin_object(json);
    json_text_member(json, "name", name);
    json_int_member(json, "family_index", row->group);
    json_int_member(json, "per_family_instance_index", index);
    json_text_member(json, "run_name", name);
    json_text_member(json, "run_type", "iteration");
    json_int_member(json, "repetitions", 1);
    json_int_member(json, "repetition_index", 0);
    json_int_member(json, "threads", 1);
    json_int_member(json, "iterations", row->samples);
    export_figure(json, "real_time", result->time_ns);
    export_figure(json, "cpu_time", result->time_ns);
    json_text_member(json, "time_unit", "ns");
    export_figure(json, "lower_time", result->lo_ns);
    export_figure(json, "upper_time", result->hi_ns);
    export_figure(json, "launches", row->launches);
    export_figure(json, row->rate_is_ops ? "operations_per_second" : "bytes_per_second", row->rate);
    export_figure(json, "ceiling_fraction", row->ceiling_fraction);
    export_figure(json, "speedup", row->speedup.mid);
    for (int i = 0; i < result->metric_count; i++)
        export_figure(json, result->metrics[i].name, result->metrics[i].value);
    json_end(json);
}

void export_gbench(FILE *out, const struct view *view)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    context_member(&json, view->run);
    json_array_member(&json, "benchmarks");
    for (int i = 0, group = -1, index = 0; i < view->count; i++) {
        if (!export_has_time(&view->rows[i])) continue;
        index = view->rows[i].group == group ? index + 1 : 0;
        group = view->rows[i].group;
        benchmark_value(&json, &view->rows[i], index);
    }
    json_finish(&json);
}
