/*
 * store_import_gbench.c - the JSON that Google Benchmark writes, read with SQLite's
 * JSON functions. Its repetitions become the samples of a case; where only
 * aggregates were written, the median is taken, else the mean.
 *
 * "BM_Copy/1024/threads:2" is operation BM_Copy with shape "arg0=1024 threads=2";
 * in "Fixture/Method/8" the method is the variant. A last part cold or hot is the
 * temperature, and cuda or host the place, as `assay export --format gbench`
 * writes; without, a benchmark ran hot, on the host.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/stats.h"
#include "base/text.h"
#include "store/exchange/store_foreign.h"

static const char purpose[] = "read a Google Benchmark file";

enum { MAX_NAME = 2048 };

/* One instance of a benchmark, gathered from its entries. Figures that the file does
 * not have are NAN. */
struct gbench_instance {
    char name[MAX_NAME]; /* run_name */
    double *time_ns;     /* of each repetition */
    int count;
    double median_ns, mean_ns; /* as aggregates */
    double bytes_per_s, lower_ns, upper_ns;
    bool failed, skipped;
    char reason[ASSAY_MAX_REASON];
};

struct gbench {
    struct gbench_instance *list;
    int count;
};

static void gbench_release(struct gbench *gbench)
{
    for (int i = 0; i < gbench->count; i++)
        free(gbench->list[i].time_ns);
    free(gbench->list);
}

/* The newest are looked at first: repetitions follow each other mostly. */
static struct gbench_instance *instance_named(struct gbench *gbench, const char *name)
{
    for (int i = gbench->count - 1; i >= 0; i--)
        if (strcmp(gbench->list[i].name, name) == 0) return &gbench->list[i];
    struct gbench_instance *instance =
        grow_add(&gbench->list, &gbench->count, sizeof *instance, "the benchmarks");
    if (!instance) return NULL;
    instance->median_ns = instance->mean_ns = NAN;
    instance->bytes_per_s = instance->lower_ns = instance->upper_ns = NAN;
    snprintf(instance->name, sizeof instance->name, "%s", name);
    return instance;
}

/* -------------------------------------------------------------- entries -- */

/* Nanoseconds in a unit; NAN for one that the format does not have. */
static double unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0) return units[i].ns;
    return NAN;
}

static void add_counters(struct gbench_instance *instance, struct query *query, double unit)
{
    instance->bytes_per_s = column_real(query, "bytes_per_second");
    instance->lower_ns = unit * column_real(query, "lower_time");
    instance->upper_ns = unit * column_real(query, "upper_time");
}

/* stddev, cv, BigO and RMS say nothing that is kept. */
static bool is_kept(const char *type, const char *aggregate)
{
    return strcmp(type, "aggregate") != 0 || strcmp(aggregate, "median") == 0 ||
           strcmp(aggregate, "mean") == 0;
}

static void add_aggregate(struct gbench_instance *instance, struct query *query,
                          const char *aggregate, double time_ns, double unit)
{
    if (strcmp(aggregate, "median") == 0)
        instance->median_ns = time_ns;
    else
        instance->mean_ns = time_ns;
    if (instance->count == 0) add_counters(instance, query, unit);
}

static int add_entry(struct gbench *gbench, struct query *query)
{
    char name[MAX_NAME], unit_name[16], type[16], aggregate[32];
    column_text(query, "name", name, sizeof name);
    column_text(query, "time_unit", unit_name, sizeof unit_name);
    column_text(query, "run_type", type, sizeof type);
    column_text(query, "aggregate_name", aggregate, sizeof aggregate);
    if (!name[0]) return assay_error("the entry has no name");
    if (!is_kept(type, aggregate)) return 0;

    struct gbench_instance *instance = instance_named(gbench, name);
    if (!instance) return -1;
    if (column_integer(query, "failed") || column_integer(query, "skipped")) {
        instance->failed |= column_integer(query, "failed") != 0;
        instance->skipped |= column_integer(query, "skipped") != 0;
        column_text(query, "reason", instance->reason, sizeof instance->reason);
        return 0;
    }
    double unit = unit_ns(unit_name);
    double time_ns = unit * column_real(query, "real_time");
    if (isnan(unit)) return assay_error("'%s' is no unit of time", unit_name);
    if (strcmp(type, "aggregate") == 0) {
        add_aggregate(instance, query, aggregate, time_ns, unit);
        return 0;
    }
    if (!(time_ns > 0) || isinf(time_ns))
        return assay_error("real_time must be a number above zero");
    add_counters(instance, query, unit);
    return grow_keep(&instance->time_ns, &instance->count, &time_ns, sizeof time_ns,
                     "the repetitions");
}

/* ->> gives text for text: a number in quotes is none here, so it is not taken. */
static int gbench_read(struct gbench *gbench, struct foreign *foreign)
{
    struct query query;
    int status = 0;
    query_ask(&query, foreign->store, purpose,
              "SELECT key, coalesce(value ->> '$.run_name', value ->> '$.name') AS name,"
              " value ->> '$.run_type' AS run_type,"
              " value ->> '$.aggregate_name' AS aggregate_name,"
              " iif(json_type(value, '$.real_time') IN ('integer', 'real'),"
              "     value ->> '$.real_time', NULL) AS real_time,"
              " value ->> '$.time_unit' AS time_unit,"
              " value ->> '$.bytes_per_second' AS bytes_per_second,"
              " value ->> '$.lower_time' AS lower_time, value ->> '$.upper_time' AS upper_time,"
              " coalesce(value ->> '$.error_occurred', 0) AS failed,"
              " coalesce(value ->> '$.skipped', 0) AS skipped,"
              " coalesce(value ->> '$.error_message', value ->> '$.skip_message', '') AS reason"
              " FROM json_each(:key, '$.benchmarks')",
              foreign->text);
    while (status == 0 && query_step(&query) == 1) {
        long long key = (long long)column_integer(&query, "key");
        if (add_entry(gbench, &query) != 0)
            status =
                assay_error("%s: benchmarks[%lld]: %s", foreign->name, key, assay_last_error());
    }
    return query_close(&query) == 0 ? status : -1;
}

/* ---------------------------------------------------------------- names -- */

/* How Google Benchmark says what it timed, not which function. */
static bool is_mode(const char *part)
{
    static const char *const modes[] = {"real_time", "process_time", "manual_time"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(part, modes[i]) == 0) return true;
    return false;
}

static bool is_function(const char *part)
{
    return !strchr(part, ':') && (isalpha((unsigned char)part[0]) || part[0] == '_') &&
           !is_mode(part) && temperature_parse(part) < 0 && place_parse(part) < 0;
}

static void add_part(struct case_id *id, char *part, int *unnamed)
{
    int temperature = temperature_parse(part), place = place_parse(part);
    char *value = strchr(part, ':'), name[16];
    if (temperature >= 0) {
        id->temperature = temperature;
    } else if (place >= 0) {
        id->place = place;
    } else if (value) {
        *value = '\0';
        foreign_shape_add(id->shape, part, value + 1);
    } else {
        snprintf(name, sizeof name, "arg%d", (*unnamed)++);
        foreign_shape_add(id->shape, name, part);
    }
}

static void read_name(const char *text, struct case_id *id)
{
    char name[MAX_NAME], *rest = name;
    int unnamed = 0;
    snprintf(name, sizeof name, "%s", text);
    foreign_name(id->operation, sizeof id->operation, strsep(&rest, "/"));
    snprintf(id->variant, sizeof id->variant, "gbench");
    id->kind = ASSAY_KERNEL;
    id->place = ASSAY_HOST;
    id->temperature = ASSAY_HOT;
    bool is_first = true;
    for (char *part; (part = strsep(&rest, "/")); is_first = false) {
        if (is_first && is_function(part))
            foreign_name(id->variant, sizeof id->variant, part);
        else
            add_part(id, part, &unnamed);
    }
}

/* ---------------------------------------------------------------- cases -- */

/* Repetitions are rounds: those of other benchmarks are not their pairs, as
 * they may have run at any time, but nothing of this file is a baseline. */
static int keep_samples(struct case_result *result, const struct gbench_instance *instance)
{
    struct samples *samples = &result->samples;
    if (foreign_samples_alloc(samples, instance->count) != 0) return -1;
    for (int i = 0; i < instance->count; i++) {
        samples->time_ns[i] = (float)instance->time_ns[i];
        samples->round[i] = (uint16_t)(i < 65535 ? i : 65535);
    }
    return 0;
}

static int set_time(struct case_result *result, struct gbench_instance *instance)
{
    const char *what = "median of repetitions";
    struct interval median = {NAN, instance->lower_ns, instance->upper_ns};
    if (instance->count > 1) {
        if (keep_samples(result, instance) != 0) return -1;
        median = stats_median_interval(instance->time_ns, instance->count, 0.95);
    } else if (instance->count == 1) {
        what = "mean of iterations";
        median.mid = instance->time_ns[0];
    } else if (!isnan(instance->median_ns)) {
        median.mid = instance->median_ns;
    } else {
        what = "mean of repetitions";
        median.mid = instance->mean_ns;
    }
    result->time_ns = median.mid;
    result->lo_ns = median.lo;
    result->hi_ns = median.hi;
    snprintf(result->note, sizeof result->note, "%s", what);
    return 0;
}

static int add_case(struct foreign_run *run, struct gbench_instance *instance)
{
    struct case_result *result = foreign_case_add(run);
    if (!result) return -1;
    read_name(instance->name, &result->id);
    if (result->id.place == ASSAY_HOST) result->clock = CLOCK_HOST;
    if (set_time(result, instance) != 0) return -1;
    foreign_set_bytes(result, instance->bytes_per_s * result->time_ns / 1e9);
    foreign_set_status(result,
                       instance->failed    ? STATUS_CRASHED
                       : instance->skipped ? STATUS_SKIPPED
                                           : STATUS_OK,
                       instance->reason);
    return 0;
}

/* -------------------------------------------------------------- context -- */

static int read_caches(struct foreign *foreign, struct device_info *device)
{
    struct query query;
    query_ask(&query, foreign->store, purpose,
              "SELECT (SELECT max(value ->> '$.size') FROM json_each(:key, '$.context.caches')"
              "  WHERE value ->> '$.level' = 1 AND value ->> '$.type' <> 'Instruction') AS l1,"
              " (SELECT value ->> '$.size' FROM json_each(:key, '$.context.caches')"
              "  WHERE value ->> '$.level' > 1"
              "  ORDER BY value ->> '$.level' DESC LIMIT 1) AS last",
              foreign->text);
    if (query_step(&query) == 1) {
        device->l1_bytes = column_count(&query, "l1");
        device->cache_bytes = column_count(&query, "last");
    }
    return query_close(&query);
}

static int read_context(struct foreign *foreign, struct foreign_run *run)
{
    struct device_info *device = &run->launch.device;
    struct query query;
    char text[512];
    query_ask(&query, foreign->store, purpose,
              "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', :key ->> '$.context.date') AS date,"
              " :key ->> '$.context.host_name' AS host,"
              " :key ->> '$.context.executable' AS program,"
              " :key ->> '$.context.num_cpus' AS cpus,"
              " :key ->> '$.context.library_version' AS version",
              foreign->text);
    if (query_step(&query) == 1) {
        column_text(&query, "date", text, sizeof text);
        if (text[0]) text_copy(foreign->started_at, sizeof foreign->started_at, text);
        column_text(&query, "host", run->host.hostname, sizeof run->host.hostname);
        column_text(&query, "program", run->run.command, sizeof run->run.command);
        column_text(&query, "version", text, sizeof text);
        snprintf(run->program.version, sizeof run->program.version, "gbench%s%.64s",
                 text[0] ? " " : "", text);
        run->host.cores = device->multiprocessors = (int32_t)column_count(&query, "cpus");
    }
    if (query_close(&query) != 0) return -1;
    foreign_name(run->run.suite, sizeof run->run.suite,
                 run->run.command[0] ? foreign_basename(run->run.command) : "gbench");
    device->place = ASSAY_HOST;
    device->clock = CLOCK_HOST;
    device->compute_capability = 0;
    snprintf(device->spec, sizeof device->spec, "host");
    snprintf(device->name, sizeof device->name, "%s",
             run->host.hostname[0] ? run->host.hostname : "unknown host");
    return read_caches(foreign, device);
}

static int check_file(struct foreign *foreign)
{
    int64_t fits = 0;
    if (store_integer(foreign->store, purpose,
                      "SELECT json_type(:key, '$.context') = 'object'"
                      " AND json_type(:key, '$.benchmarks') = 'array'",
                      foreign->text, &fits) != 0)
        return -1;
    if (fits) return 0;
    return assay_error("%s: not a file of Google Benchmark: it needs an object context and an"
                       " array benchmarks",
                       foreign->name);
}

static int read_run(struct foreign *foreign)
{
    struct gbench instances = {0};
    int status = gbench_read(&instances, foreign);
    if (status == 0 && instances.count > 0) {
        struct foreign_run *run = foreign_run_add(foreign);
        status = run ? read_context(foreign, run) : -1;
        for (int i = 0; status == 0 && i < instances.count; i++)
            status = add_case(run, &instances.list[i]);
    }
    gbench_release(&instances);
    return status;
}

int store_import_gbench(struct store *store, const char *name, FILE *in, int *rows_added)
{
    return foreign_import(store, name, in, rows_added, check_file, read_run);
}
