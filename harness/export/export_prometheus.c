/*
 * export_prometheus.c - a run in the text format of Prometheus (0.0.4), for the textfile
 * collector of its node exporter: the latest values, few labels, no timestamps. Base units
 * are seconds and bytes. The file is replaced atomically (out_file.h), as the collector
 * requires.
 */
#include <math.h>
#include <stdlib.h>

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

static double second(const struct view_row *row, double ns)
{
    return export_has_time(row) ? ns / 1e9 : NAN;
}

static double time_seconds(const struct view_row *row)
{
    return second(row, row->result.time_ns);
}

static double lower_seconds(const struct view_row *row)
{
    return second(row, row->result.lo_ns);
}

static double upper_seconds(const struct view_row *row)
{
    return second(row, row->result.hi_ns);
}

static double bytes_per_second(const struct view_row *row)
{
    return export_has_time(row) && !row->rate_is_ops ? row->rate : NAN;
}

static double operations_per_second(const struct view_row *row)
{
    return export_has_time(row) && row->rate_is_ops ? row->rate : NAN;
}

static double speedup(const struct view_row *row)
{
    return export_has_time(row) ? row->speedup.mid : NAN;
}

static double case_ok(const struct view_row *row)
{
    return row->result.status == STATUS_OK;
}

/* NAN: the case has none. */
static const struct {
    const char *name, *help;
    double (*value)(const struct view_row *row);
} metrics[] = {
    {"assay_case_ok", "1 if the case was measured and its result is right, else 0.", case_ok},
    {"assay_time_seconds", "Median time of one launch.", time_seconds},
    {"assay_time_lower_seconds", "Lower end of its confidence interval.", lower_seconds},
    {"assay_time_upper_seconds", "Upper end of its confidence interval.", upper_seconds},
    {"assay_bytes_per_second", "Bytes read and written per second.", bytes_per_second},
    {"assay_operations_per_second", "Operations per second.", operations_per_second},
    {"assay_speedup_ratio", "Time of the baseline over the time of the case.", speedup},
};

static void write_metric(FILE *out, const struct view *view, const char *name, const char *help,
                         double (*value)(const struct view_row *row))
{
    bool has_help = false;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        const struct case_id *id = &row->result.id;
        if (row->is_ceiling || !isfinite(value(row))) continue;
        if (!has_help) write_help(out, name, help);
        has_help = true;
        fputs(name, out);
        write_label(out, '{', "operation", id->operation);
        write_label(out, ',', "variant", id->variant);
        write_label(out, ',', "shape", id->shape);
        write_label(out, ',', "temperature",
                    temperature_name((enum assay_temperature)id->temperature));
        write_label(out, ',', "place", place_name((enum assay_place)id->place));
        write_value(out, value(row));
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

int export_prometheus(struct store *store, const char *run_id, FILE *out)
{
    struct export_run exported;
    if (export_read(&exported, store, run_id) != 0) return -1;
    write_run(out, &exported.run);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        write_metric(out, &exported.view, metrics[i].name, metrics[i].help, metrics[i].value);
    export_release(&exported);
    return export_finish(out);
}
