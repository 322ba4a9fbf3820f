/* store_rows.c - writes one row of a table, with the rows it stands on. */
#include <stdio.h>
#include <string.h>

#include "case/comparability.h"
#include "store/store_rows.h"

/* ----------------------------------------------------------------- run -- */

static int environment_write(struct store *store, const struct program_info *program,
                             const struct host_info *host, char id[ID_SIZE])
{
    struct id_hash hash;
    struct query query;

    id_hash_begin(&hash);
    fields_hash(&hash, program_fields, program);
    fields_hash(&hash, host_fields, host);
    id_hash_end(&hash, id);

    row_open(&query, store, "store the environment", "environment", "ON CONFLICT (id) DO NOTHING");
    fields_bind(&query, program_fields, program);
    fields_bind(&query, host_fields, host);
    query_text(&query, ":id", id);
    return query_run(&query);
}

static int objects_write(struct store *store, const struct run_info *run, bool merge)
{
    struct query query;
    row_open(&query, store, "store the objects of the run", "object",
             merge ? "ON CONFLICT (run_id, ordinal) DO NOTHING" : "");
    for (int i = 0; i < run->object_count; i++) {
        fields_bind(&query, object_fields, &run->objects[i]);
        query_text(&query, ":run_id", run->id);
        query_integer(&query, ":ordinal", i + 1);
        if (query_insert(&query) != 0) break;
    }
    return query_close(&query);
}

int run_write(struct store *store, const struct run_row *row)
{
    char environment[ID_SIZE];
    struct query query;

    if (environment_write(store, row->program, row->host, environment) != 0) return -1;
    row_open(&query, store, "store the run", "run",
             row->merge ? "ON CONFLICT (id) DO NOTHING" : "");
    fields_bind(&query, run_fields, row->run);
    if (row->run->shard.count > 0) fields_bind(&query, shard_fields, &row->run->shard);
    query_text(&query, ":id", row->run->id);
    query_text(&query, ":environment_id", environment);
    query_text(&query, ":suite_text", row->run->suite_text ? row->run->suite_text : "");
    query_text(&query, ":status", row->status);
    query_text(&query, ":started_at", row->started_at);
    if (row->ended_at && *row->ended_at) query_text(&query, ":ended_at", row->ended_at);
    if (query_run(&query) != 0) return -1;
    return objects_write(store, row->run, row->merge);
}

/* -------------------------------------------------------------- launch -- */

static int device_write(struct store *store, const struct device_info *device, char id[ID_SIZE])
{
    struct id_hash hash;
    struct query query;

    id_hash_begin(&hash);
    fields_hash(&hash, device_fields, device);
    id_hash_end(&hash, id);

    row_open(&query, store, "store the device", "device", "ON CONFLICT (id) DO NOTHING");
    fields_bind(&query, device_fields, device);
    query_text(&query, ":id", id);
    return query_run(&query);
}

int launch_write(struct store *store, const struct launch_row *row)
{
    const struct launch_info *launch = row->launch;
    char device[ID_SIZE], key[ID_SIZE];
    struct query query;

    if (device_write(store, &launch->device, device) != 0) return -1;
    store_key(&launch->device, key);
    row_open(&query, store, "store the launch", "launch",
             row->merge ? "ON CONFLICT (id) DO NOTHING" : "");
    fields_bind(&query, launch_fields, launch);
    fields_bind(&query, session_fields, &launch->device);
    fields_bind(&query, start_fields, &launch->start);
    fields_bind(&query, around_fields, &launch->around);
    query_text(&query, ":id", launch->id);
    query_text(&query, ":run_id", launch->run_id);
    query_text(&query, ":device_id", device);
    query_text(&query, ":comparability", key);
    query_text(&query, ":started_at", row->started_at);
    return query_run(&query);
}

/* -------------------------------------------------------------- result -- */

static int metrics_write(struct store *store, const char *result_id,
                         const struct case_result *result)
{
    struct query query;
    row_open(&query, store, "store a metric", "metric", "");
    for (int i = 0; i < result->metric_count; i++) {
        query_text(&query, ":result_id", result_id);
        query_integer(&query, ":ordinal", i + 1);
        query_text(&query, ":name", result->metrics[i].name);
        query_real(&query, ":value", result->metrics[i].value);
        if (query_insert(&query) != 0) break;
    }
    return query_close(&query);
}

static int samples_write(struct store *store, const char *result_id, const struct samples *samples)
{
    struct samples copy = *samples;
    struct query query;
    if (samples->count == 0 && samples->wall_count == 0) return 0;
    row_open(&query, store, "store samples", "sample", "");
    query_text(&query, ":result_id", result_id);
    for (int i = 0; i < SAMPLE_SERIES; i++) {
        const struct sample_series *series = &sample_series[i];
        size_t count = (size_t)(series->is_wall ? samples->wall_count : samples->count);
        char name[ASSAY_MAX_NAME];
        snprintf(name, sizeof name, ":%s", series->name);
        if (count > 0)
            query_blob(&query, name, *series_array(&copy, series), count * series->element_bytes);
    }
    return query_run(&query);
}

static int spans_write(struct store *store, const char *result_id, const struct samples *samples)
{
    struct query query;
    row_open(&query, store, "store a stage's span", "span", "");
    for (int i = 0; i < samples->span_count; i++) {
        query_text(&query, ":result_id", result_id);
        query_integer(&query, ":ordinal", i + 1);
        fields_bind(&query, span_fields, &samples->span[i]);
        if (query_insert(&query) != 0) break;
    }
    return query_close(&query);
}

static void result_id(const struct result_row *row, char id[ID_SIZE])
{
    struct id_hash hash;
    id_hash_begin(&hash);
    id_hash_text(&hash, row->launch_id);
    id_hash_text(&hash, words_name(&purpose_words, row->purpose));
    fields_hash(&hash, case_fields, &row->result->id);
    id_hash_end(&hash, id);
}

int result_write(struct store *store, const struct result_row *row, bool *added)
{
    static const char next[] =
        "SELECT coalesce(max(ordinal), 0) + 1 FROM result WHERE launch_id = :key";
    char id[ID_SIZE];
    int64_t ordinal = 0;
    struct query query;

    result_id(row, id);
    if (store_integer(store, "store a case", next, row->launch_id, &ordinal) != 0) return -1;
    row_open(&query, store, "store a case", "result",
             row->merge ? "ON CONFLICT (id) DO NOTHING" : "");
    fields_bind(&query, case_fields, &row->result->id);
    fields_bind(&query, result_fields, row->result);
    query_text(&query, ":id", id);
    query_text(&query, ":launch_id", row->launch_id);
    query_integer(&query, ":ordinal", ordinal);
    query_text(&query, ":measured_at", row->measured_at);
    if (row->begun_at && *row->begun_at) query_text(&query, ":begun_at", row->begun_at);
    query_text(&query, ":purpose", words_name(&purpose_words, row->purpose));
    query_text(&query, ":group_label", row->group_label);
    query_real(&query, ":threshold", row->threshold);
    query_count(&query, ":expect_wrong", row->expect_wrong);
    if (query_run(&query) != 0) return -1;

    *added = sqlite3_changes(store->db) > 0;
    if (!*added) return 0;
    if (metrics_write(store, id, row->result) != 0) return -1;
    if (spans_write(store, id, &row->result->samples) != 0) return -1;
    return samples_write(store, id, &row->result->samples);
}

/* --------------------------------------------------------- comparability -- */

void store_key(const struct device_info *device, char key[ID_SIZE])
{
    struct comparability parts;
    struct id_hash hash;
    comparability_of(device, &parts);
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay comparability 2"); /* raised when the parts change */
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        id_hash_text(&hash, parts.part[i]);
    id_hash_end(&hash, key);
}

int store_rekey(struct store *store)
{
    static const char purpose[] = "tell which launches compare";
    struct query launches, change;
    query_open(&launches, store, purpose,
               "SELECT launch.id AS launch_id, device.*, launch.* FROM launch"
               " JOIN device ON device.id = launch.device_id");
    query_open(&change, store, purpose, "UPDATE launch SET comparability = :key WHERE id = :id");
    while (query_step(&launches) == 1) {
        struct device_info device = {0};
        char id[ID_SIZE], stored[ID_SIZE], key[ID_SIZE];
        column_text(&launches, "launch_id", id, sizeof id);
        column_text(&launches, "comparability", stored, sizeof stored);
        fields_read(&launches, device_fields, &device);
        fields_read(&launches, session_fields, &device);
        store_key(&device, key);
        if (strcmp(key, stored) == 0) continue;
        query_text(&change, ":key", key);
        query_text(&change, ":id", id);
        if (query_step(&change) != 0) break;
        query_reset(&change);
    }
    int status = query_close(&change);
    return query_close(&launches) == 0 ? status : -1;
}
