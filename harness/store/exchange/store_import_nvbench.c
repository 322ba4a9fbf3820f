/*
 * store_import_nvbench.c - the JSON that NVBench writes (--json, --jsonbin), read
 * with SQLite's JSON functions. A state of a benchmark becomes a case: the
 * benchmark is the operation, the axes are the shape, the isolated measurement is
 * the cold case and the batch one, where there is one, the hot case. A run for
 * each device.
 *
 * Its times are of CUDA event pairs after writing over L2, in seconds. Numbers are
 * text in the file, so that 64 bits survive; "inf" and "nan" occur.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "store/exchange/store_foreign.h"

enum { FILE_VERSION = 1, MAX_PATH = 4096 };
static const char purpose[] = "read an NVBench file";
static const double ns_per_s = 1e9;

/* What a state says. NAN: it does not. */
struct state {
    double samples, mean_s, median_s, cpu_mean_s, cpu_only_s;
    double bytes_per_s, sm_hz;
    double batch_samples, batch_s;
    double file_samples;
    char file[MAX_PATH]; /* of the samples; "" none */
};

#define FIGURE(tag, name, member)                                                                  \
    {                                                                                              \
        tag, name, offsetof(struct state, member)                                                  \
    }
static const struct {
    const char *tag, *name;
    size_t offset;
} figures[] = {
    FIGURE("nv/cold/sample_size", "value", samples),
    FIGURE("nv/cold/time/gpu/mean", "value", mean_s),
    FIGURE("nv/cold/time/gpu/median", "value", median_s),
    FIGURE("nv/cold/time/cpu/mean", "value", cpu_mean_s),
    FIGURE("nv/cpu_only/time/cpu/mean", "value", cpu_only_s),
    FIGURE("nv/cold/bw/global/bytes_per_second", "value", bytes_per_s),
    FIGURE("nv/cold/sm_clock_rate/mean", "value", sm_hz),
    FIGURE("nv/batch/sample_size", "value", batch_samples),
    FIGURE("nv/batch/time/gpu/mean", "value", batch_s),
    FIGURE("nv/json/bin:nv/cold/sample_times", "size", file_samples),
};
static const char samples_tag[] = "nv/json/bin:nv/cold/sample_times";

/* ---------------------------------------------------------------- state -- */

/* A number, or text that is one; NAN for anything else, and for infinity. */
static double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return *text && !*end && isfinite(value) ? value : NAN;
}

static void keep_figure(struct state *state, const char *tag, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (strcmp(tag, figures[i].tag) == 0 && strcmp(name, figures[i].name) == 0)
            *(double *)((char *)state + figures[i].offset) = number(value);
    if (strcmp(tag, samples_tag) == 0 && strcmp(name, "filename") == 0)
        snprintf(state->file, sizeof state->file, "%s", value);
}

static int read_summaries(struct store *store, const char *json, struct state *state)
{
    struct query query;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        *(double *)((char *)state + figures[i].offset) = NAN;
    state->file[0] = '\0';
    query_ask(&query, store, purpose,
              "SELECT summary.value ->> '$.tag' AS tag, datum.value ->> '$.name' AS name,"
              " datum.value ->> '$.value' AS value"
              " FROM json_each(:key, '$.summaries') AS summary,"
              " json_each(summary.value, '$.data') AS datum",
              json);
    while (query_step(&query) == 1) {
        char tag[128], name[64], value[MAX_PATH];
        column_text(&query, "tag", tag, sizeof tag);
        column_text(&query, "name", name, sizeof name);
        column_text(&query, "value", value, sizeof value);
        keep_figure(state, tag, name, value);
    }
    return query_close(&query);
}

static int read_shape(struct store *store, const char *json, char shape[RESULT_MAX_SHAPE])
{
    struct query query;
    shape[0] = '\0';
    query_ask(&query, store, purpose,
              "SELECT value ->> '$.name' AS name, value ->> '$.value' AS value"
              " FROM json_each(:key, '$.axis_values')",
              json);
    while (query_step(&query) == 1) {
        char name[RESULT_MAX_SHAPE], value[RESULT_MAX_SHAPE];
        column_text(&query, "name", name, sizeof name);
        column_text(&query, "value", value, sizeof value);
        foreign_shape_add(shape, name, value);
    }
    return query_close(&query);
}

/* ---------------------------------------------------------------- cases -- */

static int set_median(struct case_result *result)
{
    int count = result->samples.count;
    double *values = malloc((size_t)count * sizeof *values);
    if (!values) return assay_error("out of memory for %d samples", count);
    for (int i = 0; i < count; i++)
        values[i] = (double)result->samples.time_ns[i];
    struct interval median = stats_median_interval(values, count, 0.95);
    free(values);
    result->time_ns = median.mid;
    result->lo_ns = median.lo;
    result->hi_ns = median.hi;
    return 0;
}

static void set_note(struct case_result *result, const char *what, double samples)
{
    if (isnan(samples))
        snprintf(result->note, sizeof result->note, "%s", what);
    else
        snprintf(result->note, sizeof result->note, "%s of %.0f", what, samples);
}

static int set_cold(const struct foreign *foreign, const struct state *state,
                    struct case_result *result)
{
    bool on_host = isnan(state->mean_s) && isnan(state->median_s) && !isnan(state->cpu_only_s);
    result->id.place = on_host ? ASSAY_HOST : ASSAY_CUDA;
    result->clock = on_host ? CLOCK_HOST : CLOCK_EVENT;
    result->wall_ns = ns_per_s * (on_host ? state->cpu_only_s : state->cpu_mean_s);
    result->sm_mhz = state->sm_hz / 1e6;
    /* The rate is over the mean. */
    foreign_set_bytes(result, state->bytes_per_s * state->mean_s);
    int found = state->file[0] ? nvbench_samples_read(foreign->name, state->file,
                                                      state->file_samples, &result->samples)
                               : 0;
    if (found < 0) return -1;
    if (found) {
        set_note(result, "median", state->file_samples);
        return set_median(result);
    }
    bool has_median = !isnan(state->median_s);
    result->time_ns = ns_per_s * (on_host      ? state->cpu_only_s
                                  : has_median ? state->median_s
                                               : state->mean_s);
    set_note(result, has_median ? "median" : "mean", state->samples);
    return 0;
}

static void set_batch(const struct state *state, struct case_result *result)
{
    result->id.temperature = ASSAY_HOT;
    result->id.place = ASSAY_CUDA;
    result->clock = CLOCK_EVENT;
    result->time_ns = ns_per_s * state->batch_s;
    foreign_set_bytes(result, state->bytes_per_s * state->mean_s);
    set_note(result, "mean", state->batch_samples);
}

static void set_status(struct case_result *result, bool skipped, const char *reason)
{
    foreign_set_status(result, skipped ? STATUS_SKIPPED : STATUS_OK, reason);
    if (result->status != STATUS_OK) result->clock = -1;
}

static struct case_result *add_case(struct foreign_run *run, struct query *query)
{
    struct case_result *result = foreign_case_add(run);
    char name[1024];
    if (!result) return NULL;
    column_text(query, "benchmark", name, sizeof name);
    foreign_name(result->id.operation, sizeof result->id.operation, name);
    snprintf(result->id.variant, sizeof result->id.variant, "nvbench");
    result->id.kind = ASSAY_KERNEL;
    result->id.temperature = ASSAY_COLD;
    return result;
}

static int add_state(const struct foreign *foreign, struct foreign_run *run, struct query *query)
{
    const char *json =
        (const char *)sqlite3_column_text(query->statement, column_index(query, "state"));
    char reason[ASSAY_MAX_REASON];
    bool skipped = column_integer(query, "is_skipped") != 0;
    struct state *state = malloc(sizeof *state);
    int status = -1;
    column_text(query, "skip_reason", reason, sizeof reason);
    struct case_result *result = state ? add_case(run, query) : NULL;
    if (!state) assay_error("%s: cannot import: out of memory", foreign->name);
    if (result && read_shape(foreign->store, json, result->id.shape) == 0 &&
        read_summaries(foreign->store, json, state) == 0)
        status = set_cold(foreign, state, result);
    if (status == 0) set_status(result, skipped, reason);
    if (status == 0 && !skipped && state->batch_s > 0) {
        struct case_result *batch = add_case(run, query);
        status = batch ? 0 : -1;
        if (batch) {
            memcpy(batch->id.shape, batch[-1].id.shape, sizeof batch->id.shape);
            set_batch(state, batch);
            set_status(batch, false, "");
        }
    }
    free(state);
    return status;
}

static int read_states(struct foreign *foreign, struct foreign_run *run, int64_t device)
{
    struct query query;
    int status = 0;
    query_open(&query, foreign->store, purpose,
               "SELECT benchmark.value ->> '$.name' AS benchmark,"
               " state.value ->> '$.is_skipped' AS is_skipped,"
               " state.value ->> '$.skip_reason' AS skip_reason, state.value AS state"
               " FROM json_each(:text, '$.benchmarks') AS benchmark,"
               " json_each(benchmark.value, '$.states') AS state"
               " WHERE state.value ->> '$.device' = :device");
    query_text(&query, ":text", foreign->text);
    query_integer(&query, ":device", device);
    while (status == 0 && query_step(&query) == 1)
        status = add_state(foreign, run, &query);
    return query_close(&query) == 0 ? status : -1;
}

/* ----------------------------------------------------------------- runs -- */

static void read_device(struct query *query, struct device_info *device)
{
    device->place = ASSAY_CUDA;
    device->clock = CLOCK_EVENT;
    column_text(query, "name", device->name, sizeof device->name);
    snprintf(device->spec, sizeof device->spec, "cuda:%lld",
             (long long)column_integer(query, "id"));
    int64_t sm_version = column_count(query, "sm_version");
    device->compute_capability = sm_version < 0 ? -1 : (int32_t)(sm_version / 10);
    device->multiprocessors = (int32_t)column_count(query, "number_of_sms");
    device->cache_bytes = column_count(query, "l2_cache_size");
    device->memory_bytes = column_count(query, "global_memory_size");
    device->sm_mhz_max = column_real(query, "sm_hz") / 1e6;
    device->memory_mhz_max = column_real(query, "memory_hz") / 1e6;
    device->ecc = (int32_t)column_count(query, "ecc_state");
}

static int read_meta(struct foreign *foreign, struct foreign_run *run)
{
    struct query query;
    char program[1024];
    query_ask(&query, foreign->store, purpose,
              "SELECT :key ->> '$.meta.version.nvbench.string' AS version,"
              " :key ->> '$.meta.argv[0]' AS program,"
              " (SELECT group_concat(value, ' ') FROM json_each(:key, '$.meta.argv')) AS command",
              foreign->text);
    if (query_step(&query) == 1) {
        char version[64];
        column_text(&query, "version", version, sizeof version);
        column_text(&query, "program", program, sizeof program);
        column_text(&query, "command", run->run.command, sizeof run->run.command);
        snprintf(run->program.version, sizeof run->program.version, "nvbench%s%s",
                 version[0] ? " " : "", version);
        foreign_name(run->run.suite, sizeof run->run.suite,
                     program[0] ? foreign_basename(program) : "nvbench");
    }
    return query_close(&query);
}

static int read_runs(struct foreign *foreign)
{
    struct query query;
    int status = 0;
    query_ask(&query, foreign->store, purpose,
              "SELECT value ->> '$.id' AS id, value ->> '$.name' AS name,"
              " value ->> '$.sm_version' AS sm_version,"
              " value ->> '$.number_of_sms' AS number_of_sms,"
              " value ->> '$.l2_cache_size' AS l2_cache_size,"
              " value ->> '$.global_memory_size' AS global_memory_size,"
              " value ->> '$.sm_default_clock_rate' AS sm_hz,"
              " value ->> '$.global_memory_bus_peak_clock_rate' AS memory_hz,"
              " value ->> '$.ecc_state' AS ecc_state FROM json_each(:key, '$.devices')",
              foreign->text);
    while (status == 0 && query_step(&query) == 1) {
        struct foreign_run *run = foreign_run_add(foreign);
        status = run ? read_meta(foreign, run) : -1;
        if (status != 0) break;
        run->launch.device.flush = FLUSH_WRITE; /* NVBench sets L2 to zeros before each sample */
        read_device(&query, &run->launch.device);
        status = read_states(foreign, run, column_integer(&query, "id"));
        if (status == 0 && run->case_count == 0) foreign->run_count--; /* nothing ran there */
    }
    return query_close(&query) == 0 ? status : -1;
}

/* Every state is on a device that the file describes, and has a benchmark. */
static int check_file(struct foreign *foreign)
{
    struct query query;
    char version[32] = "";
    int64_t major = -1, strays = 0, nameless = 0;
    query_ask(&query, foreign->store, purpose,
              "SELECT :key ->> '$.meta.version.json.major' AS major,"
              " :key ->> '$.meta.version.json.string' AS version,"
              " (SELECT count(*) FROM json_each(:key, '$.benchmarks') AS b,"
              "  json_each(b.value, '$.states') AS s WHERE (s.value ->> '$.device') NOT IN"
              "  (SELECT value ->> '$.id' FROM json_each(:key, '$.devices'))"
              "  OR s.value ->> '$.device' IS NULL) AS strays,"
              " (SELECT count(*) FROM json_each(:key, '$.benchmarks')"
              "  WHERE coalesce(value ->> '$.name', '') = '') AS nameless",
              foreign->text);
    if (query_step(&query) == 1) {
        major = column_count(&query, "major");
        strays = column_integer(&query, "strays");
        nameless = column_integer(&query, "nameless");
        column_text(&query, "version", version, sizeof version);
    }
    if (query_close(&query) != 0) return -1;
    if (major < 0)
        return assay_error("%s: not a file of NVBench: meta.version.json is missing",
                           foreign->name);
    if (major != FILE_VERSION)
        return assay_error("%s: NVBench files of version %s are not known, only %d.x",
                           foreign->name, version, FILE_VERSION);
    if (nameless) return assay_error("%s: a benchmark without a name", foreign->name);
    if (strays)
        return assay_error("%s: %lld states are on a device that the file does not describe",
                           foreign->name, (long long)strays);
    return 0;
}

int store_import_nvbench(struct store *store, const char *name, FILE *in, int *rows_added)
{
    return foreign_import(store, name, in, rows_added, check_file, read_runs);
}
