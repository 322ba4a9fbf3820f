/* export_prometheus.c - a run for Prometheus: the latest values. */
#include <math.h>

#include "export/export.h"
#include "export/prometheus.h"

/* -------------------------------------------------------------- format -- */

/* For text within quotes. */
static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

void prometheus_label(FILE *out, char before, const char *name, const char *value)
{
    fprintf(out, "%c%s=\"", before, name);
    write_escaped(out, value);
    fputc('"', out);
}

void prometheus_help(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

void prometheus_value(FILE *out, double value)
{
    fprintf(out, "} %.9g\n", value);
}

/* ------------------------------------------------------------- metrics -- */

enum { METRICS = 7 };

static const struct {
    const char *name, *help;
} metrics[METRICS] = {
    {"assay_case_ok", "1 if the case was measured and its result is right, else 0."},
    {"assay_time_seconds", "Median time of one launch."},
    {"assay_time_lower_seconds", "Lower end of its confidence interval."},
    {"assay_time_upper_seconds", "Upper end of its confidence interval."},
    {"assay_bytes_per_second", "Bytes read and written per second."},
    {"assay_operations_per_second", "Operations per second."},
    {"assay_speedup_ratio", "Time of the baseline over the time of the case."},
};

/* In the order of `metrics`; NAN: the case has none. */
static double value_of(const struct view_row *row, int metric)
{
    const struct case_result *result = &row->result;
    const double values[METRICS] = {result->status == STATUS_OK,
                                    result->time_ns / 1e9,
                                    result->lo_ns / 1e9,
                                    result->hi_ns / 1e9,
                                    row->rate_is_ops ? NAN : row->rate,
                                    row->rate_is_ops ? row->rate : NAN,
                                    row->speedup.mid};
    return metric == 0 || export_has_time(row) ? values[metric] : NAN;
}

static void write_metric(FILE *out, const struct view *view, int metric)
{
    const char *name = metrics[metric].name;
    bool has_help = false;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        const struct case_id *id = &row->result.id;
        double value = value_of(row, metric);
        if (row->is_ceiling || !isfinite(value)) continue;
        if (!has_help) prometheus_help(out, name, metrics[metric].help);
        has_help = true;
        fputs(name, out);
        prometheus_label(out, '{', "operation", id->operation);
        prometheus_label(out, ',', "variant", id->variant);
        prometheus_label(out, ',', "shape", id->shape);
        prometheus_label(out, ',', "temperature", temperature_name(id->temperature));
        prometheus_label(out, ',', "place", place_name(id->place));
        prometheus_value(out, value);
    }
}

/* The labels that all cases of the run share. */
static void write_run(FILE *out, const struct stored_run *run)
{
    static const char name[] = "assay_run_info";
    prometheus_help(out, name, "The run that the other metrics belong to.");
    fputs(name, out);
    prometheus_label(out, '{', "run", run->run.id);
    prometheus_label(out, ',', "suite", run->run.suite);
    prometheus_label(out, ',', "started_at", run->started_at);
    prometheus_label(out, ',', "version", run->program.version);
    prometheus_label(out, ',', "commit", run->program.commit);
    prometheus_label(out, ',', "device", run->launch_count ? run->launches[0].device.name : "");
    prometheus_label(out, ',', "driver", run->launch_count ? run->launches[0].device.driver : "");
    prometheus_value(out, 1);
}

void export_prometheus(FILE *out, const struct view *view)
{
    write_run(out, view->run);
    for (int metric = 0; metric < METRICS; metric++)
        write_metric(out, view, metric);
}
