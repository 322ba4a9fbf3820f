/*
 * export_prometheus.c - a run, or the cards of a fleet, in the text format of Prometheus (0.0.4),
 * for the textfile collector of its node exporter: the latest values, few labels, no timestamps,
 * base units (seconds, bytes). A file is replaced atomically (out_file.h), as the collector
 * requires. A line is a name, labels and a value.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "assay.h"
#include "export/export.h"
#include "judge/fleet.h"

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

static void prometheus_label(FILE *out, char before, const char *name, const char *value)
{
    fprintf(out, "%c%s=\"", before, name);
    write_escaped(out, value);
    fputc('"', out);
}

static void prometheus_help(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void prometheus_value(FILE *out, double value)
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

/* ----------------------------------------------------------------- fleet -- */

/* "assay_gpu_healthy{gpu="GPU-1a2b",host="node07",model="NVIDIA H200"", to which labels may be
 * added. */
static void begin_line(FILE *out, const char *name, const struct fleet *fleet,
                       const struct fleet_card *card)
{
    fputs(name, out);
    prometheus_label(out, '{', "gpu", card->uuid);
    prometheus_label(out, ',', "host", card->host);
    prometheus_label(out, ',', "model", fleet->cohorts[card->cohort].model);
}

/* ------------------------------------------------------------- figures -- */

static double is_healthy(const struct fleet_card *card)
{
    return card->findings == 0;
}

static double is_judged(const struct fleet_card *card)
{
    return fleet_is_judged(card);
}

static double lanes(const struct fleet_card *card)
{
    return fleet_count(card->link_width);
}

static double ecc_errors(const struct fleet_card *card)
{
    return fleet_count(card->ecc_uncorrected);
}

static const struct {
    const char *name, *help;
    double (*value)(const struct fleet_card *card); /* NAN: the card has none */
} figures[] = {
    {"assay_gpu_healthy", "1 if nothing was found of the GPU, else 0.", is_healthy},
    {"assay_gpu_judged", "1 if its times could be held against other GPUs, else 0.", is_judged},
    {"assay_gpu_pcie_lanes", "Lanes of its PCIe link.", lanes},
    {"assay_gpu_ecc_uncorrected_errors",
     "Memory errors since the driver was loaded that ECC could not correct.", ecc_errors},
};

static void write_figure(FILE *out, const struct fleet *fleet, size_t figure)
{
    bool has_help = false;
    for (int i = 0; i < fleet->card_count; i++) {
        const struct fleet_card *card = &fleet->cards[i];
        double value = figures[figure].value(card);
        if (!card->is_asked || isnan(value)) continue;
        if (!has_help) prometheus_help(out, figures[figure].name, figures[figure].help);
        has_help = true;
        begin_line(out, figures[figure].name, fleet, card);
        prometheus_value(out, value);
    }
}

/* ------------------------------------------------- findings and measures -- */

/* 0 too, so that an alert sees one end. */
static void write_findings(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_gpu_finding";
    prometheus_help(out, name, "1 if that was found of the GPU, else 0.");
    for (int i = 0; i < fleet->card_count; i++)
        for (int f = 0; fleet->cards[i].is_asked && f < FLEET_FINDINGS; f++) {
            begin_line(out, name, fleet, &fleet->cards[i]);
            prometheus_label(out, ',', "finding", words_name(&fleet_words, f));
            prometheus_value(out, fleet->cards[i].findings >> f & 1);
        }
}

static void write_measures(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_gpu_ratio";
    prometheus_help(out, name, "Time, clock or ceiling of the GPU over the median of its model.");
    for (int i = 0; i < fleet->card_count; i++)
        for (int m = 0; fleet->cards[i].is_asked && m < fleet->measures; m++) {
            double away = fleet->cards[i].measure[m].away;
            if (isnan(away)) continue;
            begin_line(out, name, fleet, &fleet->cards[i]);
            prometheus_label(out, ',', "measure", fleet_measure_name(fleet, m));
            prometheus_value(out, exp(m == MEASURE_TIME ? away : -away));
        }
}

static void write_tally(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_fleet_gpus";
    struct fleet_tally tally = fleet_tally(fleet);
    const struct {
        const char *state;
        int count;
    } lines[] = {{"all", tally.cards}, {"judged", tally.judged}, {"found", tally.found}};
    prometheus_help(out, name, "GPUs: all, those whose times were judged, those with a finding.");
    for (int i = 0; i < 3; i++) {
        fputs(name, out);
        prometheus_label(out, '{', "state", lines[i].state);
        prometheus_value(out, lines[i].count);
    }
}

int export_fleet(FILE *out, const struct fleet *fleet)
{
    write_tally(out, fleet);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        write_figure(out, fleet, i);
    if (fleet->card_count > 0) write_findings(out, fleet);
    if (fleet->card_count > 0) write_measures(out, fleet);
    return ferror(out) ? assay_error("cannot write the fleet: %s", strerror(errno)) : 0;
}
