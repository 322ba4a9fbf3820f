/*
 * export_prometheus.c - a run in the text format of Prometheus (0.0.4), for the textfile
 * collector of its node exporter: the latest values, few labels, no timestamps. Base units
 * are seconds and bytes. The file is replaced atomically (out_file.h), as the collector
 * requires.
 */
#include <math.h>

#include "export/export.h"

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

static void write_label(FILE *out, char before, const char *name, const char *value)
{
    fprintf(out, "%c%s=\"", before, name);
    write_escaped(out, value);
    fputc('"', out);
}

static void write_help(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void write_value(FILE *out, double value)
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
        if (!has_help) write_help(out, name, metrics[metric].help);
        has_help = true;
        fputs(name, out);
        write_label(out, '{', "operation", id->operation);
        write_label(out, ',', "variant", id->variant);
        write_label(out, ',', "shape", id->shape);
        write_label(out, ',', "temperature", temperature_name(id->temperature));
        write_label(out, ',', "place", place_name(id->place));
        write_value(out, value);
    }
}

/* The labels that all cases of the run share. */
static void write_run(FILE *out, const struct stored_run *run)
{
    static const char name[] = "assay_run_info";
    write_help(out, name, "The run that the other metrics belong to.");
    fputs(name, out);
    write_label(out, '{', "run", run->run.id);
    write_label(out, ',', "suite", run->run.suite);
    write_label(out, ',', "started_at", run->started_at);
    write_label(out, ',', "version", run->program.version);
    write_label(out, ',', "commit", run->program.commit);
    write_label(out, ',', "device", run->launch_count ? run->launches[0].device.name : "");
    write_label(out, ',', "driver", run->launch_count ? run->launches[0].device.driver : "");
    write_value(out, 1);
}

void export_prometheus(FILE *out, const struct view *view)
{
    write_run(out, view->run);
    for (int metric = 0; metric < METRICS; metric++)
        write_metric(out, view, metric);
}
