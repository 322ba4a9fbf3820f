/* store_gbench.c - see store_gbench.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "store/exchange/store_gbench.h"

void gbench_release(struct gbench *gbench)
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
    struct gbench_instance *grown = grow_by_one(gbench->list, gbench->count, sizeof *grown);
    if (!grown) {
        assay_error("out of memory for %d benchmarks", gbench->count + 1);
        return NULL;
    }
    gbench->list = grown;
    struct gbench_instance *instance = &grown[gbench->count++];
    *instance = (struct gbench_instance){.median_ns = NAN, .mean_ns = NAN};
    instance->cpu_ns = instance->bytes_per_s = instance->items_per_s = NAN;
    instance->lower_ns = instance->upper_ns = instance->iterations = NAN;
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

static int add_time(struct gbench_instance *instance, double time_ns)
{
    double *grown = grow_by_one(instance->time_ns, instance->count, sizeof *grown);
    if (!grown) return assay_error("out of memory for %d repetitions", instance->count + 1);
    instance->time_ns = grown;
    instance->time_ns[instance->count++] = time_ns;
    return 0;
}

static void add_counters(struct gbench_instance *instance, struct query *query, double unit)
{
    instance->cpu_ns = unit * column_real(query, "cpu_time");
    instance->bytes_per_s = column_real(query, "bytes_per_second");
    instance->items_per_s = column_real(query, "items_per_second");
    instance->lower_ns = unit * column_real(query, "lower_time");
    instance->upper_ns = unit * column_real(query, "upper_time");
    instance->iterations = column_real(query, "iterations");
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
    char name[GBENCH_MAX_NAME], unit_name[16], type[16], aggregate[32];
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
    return add_time(instance, time_ns);
}

/* ->> gives text for text: a number in quotes is none here, so it is not taken. */
int gbench_read(struct gbench *gbench, struct foreign *foreign)
{
    struct query query;
    int status = 0;
    query_open(&query, foreign->store, "read a Google Benchmark file",
               "SELECT key, coalesce(value ->> '$.run_name', value ->> '$.name') AS name,"
               " value ->> '$.run_type' AS run_type,"
               " value ->> '$.aggregate_name' AS aggregate_name,"
               " iif(json_type(value, '$.real_time') IN ('integer', 'real'),"
               "     value ->> '$.real_time', NULL) AS real_time,"
               " value ->> '$.cpu_time' AS cpu_time, value ->> '$.time_unit' AS time_unit,"
               " value ->> '$.iterations' AS iterations,"
               " value ->> '$.bytes_per_second' AS bytes_per_second,"
               " value ->> '$.items_per_second' AS items_per_second,"
               " value ->> '$.lower_time' AS lower_time, value ->> '$.upper_time' AS upper_time,"
               " coalesce(value ->> '$.error_occurred', 0) AS failed,"
               " coalesce(value ->> '$.skipped', 0) AS skipped,"
               " coalesce(value ->> '$.error_message', value ->> '$.skip_message', '') AS reason"
               " FROM json_each(:text, '$.benchmarks')");
    query_text(&query, ":text", foreign->text);
    while (status == 0 && query_step(&query) == 1) {
        long long key = (long long)column_integer(&query, "key");
        char why[1024];
        if (add_entry(gbench, &query) == 0) continue;
        snprintf(why, sizeof why, "%s", assay_last_error());
        status = assay_error("%s: benchmarks[%lld]: %s", foreign->name, key, why);
    }
    return query_close(&query) == 0 ? status : -1;
}
