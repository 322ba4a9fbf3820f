/*
 * export_bmf.c - a run in Bencher Metric Format: one object per case, with one object per
 * measure and the ends of its interval. The measures are Bencher's: latency in nanoseconds,
 * and throughput in bytes or operations per second, whichever limits the case.
 */
#include <math.h>

#include "base/json.h"
#include "export/export.h"

static void measure(struct json *json, const char *name, double value, double lower, double upper)
{
    if (!isfinite(value)) return;
    json_object_member(json, name);
    json_number_member(json, "value", value);
    export_figure(json, "lower_value", lower);
    export_figure(json, "upper_value", upper);
    json_end(json);
}

/* The longest time makes the lowest rate. */
static void case_member(struct json *json, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    double work = row->rate * result->time_ns;
    char name[EXPORT_NAME];
    export_name(row, name);
    json_object_member(json, name);
    measure(json, "latency", result->time_ns, result->lo_ns, result->hi_ns);
    measure(json, "throughput", row->rate, work / result->hi_ns, work / result->lo_ns);
    json_end(json);
}

void export_bmf(FILE *out, const struct view *view)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    for (int i = 0; i < view->count; i++)
        if (export_has_time(&view->rows[i])) case_member(&json, &view->rows[i]);
    json_finish(&json);
}
