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

/* A label and its value; a NULL name ends a list. */
struct label {
    const char *name, *value;
};

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

static void write_help(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* "assay_gpu_healthy{gpu="GPU-1a2b",host="node07"} 1". */
static void write_value(FILE *out, const char *name, const struct label *labels, double value)
{
    fputs(name, out);
    for (char before = '{'; labels->name; labels++, before = ',') {
        fprintf(out, "%c%s=\"", before, labels->name);
        write_escaped(out, labels->value);
        fputc('"', out);
    }
    fprintf(out, "} %.9g\n", value);
}

struct metric_help {
    const char *name, *help;
};

enum { METRICS = 7 };

static const struct metric_help metrics[METRICS] = {
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
    bool has_help = false;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        const struct case_id *id = &row->result.id;
        const struct label labels[] = {{"operation", id->operation},
                                       {"variant", id->variant},
                                       {"shape", id->shape},
                                       {"temperature", temperature_name(id->temperature)},
                                       {"place", place_name(id->place)},
                                       {0}};
        double value = value_of(row, metric);
        if (row->is_ceiling || !isfinite(value)) continue;
        if (!has_help) write_help(out, metrics[metric].name, metrics[metric].help);
        has_help = true;
        write_value(out, metrics[metric].name, labels, value);
    }
}

void export_prometheus(FILE *out, const struct view *view)
{
    static const char name[] = "assay_run_info";
    const struct stored_run *run = view->run;
    const struct device_info *device = run->launch_count ? &run->launches[0].device : NULL;
    const struct label labels[] = {{"run", run->run.id},
                                   {"suite", run->run.suite},
                                   {"started_at", run->started_at},
                                   {"version", run->program.version},
                                   {"commit", run->program.commit},
                                   {"device", device ? device->name : ""},
                                   {"driver", device ? device->driver : ""},
                                   {0}};
    write_help(out, name, "The run that the other metrics belong to.");
    write_value(out, name, labels, 1);
    for (int metric = 0; metric < METRICS; metric++)
        write_metric(out, view, metric);
}

/* Of a card; `further` may have no name. */
static void write_card(FILE *out, const char *name, const struct fleet *fleet,
                       const struct fleet_card *card, struct label further, double value)
{
    const struct label labels[] = {{"gpu", card->uuid},
                                   {"host", card->host},
                                   {"model", fleet->cohorts[card->cohort].model},
                                   further,
                                   {0}};
    write_value(out, name, labels, value);
}

enum { FIGURES = 4 };

static const struct metric_help figures[FIGURES] = {
    {"assay_gpu_healthy", "1 if nothing was found of the GPU, else 0."},
    {"assay_gpu_judged", "1 if its times could be held against other GPUs, else 0."},
    {"assay_gpu_pcie_lanes", "Lanes of its PCIe link."},
    {"assay_gpu_ecc_uncorrected_errors",
     "Memory errors since the driver was loaded that ECC could not correct."},
};

static void write_figure(FILE *out, const struct fleet *fleet, int figure)
{
    bool has_help = false;
    for (int i = 0; i < fleet->card_count; i++) {
        const struct fleet_card *card = &fleet->cards[i];
        const double values[FIGURES] = {card->findings == 0, fleet_is_judged(card),
                                        fleet_count(card->link_width),
                                        fleet_count(card->ecc_uncorrected)};
        if (!card->is_asked || isnan(values[figure])) continue;
        if (!has_help) write_help(out, figures[figure].name, figures[figure].help);
        has_help = true;
        write_card(out, figures[figure].name, fleet, card, (struct label){0}, values[figure]);
    }
}

/* 0 too, so that an alert sees one end. */
static void write_findings(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_gpu_finding";
    write_help(out, name, "1 if that was found of the GPU, else 0.");
    for (int i = 0; i < fleet->card_count; i++)
        for (int f = 0; fleet->cards[i].is_asked && f < FLEET_FINDINGS; f++)
            write_card(out, name, fleet, &fleet->cards[i],
                       (struct label){"finding", words_name(&fleet_words, f)},
                       fleet->cards[i].findings >> f & 1);
}

static void write_measures(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_gpu_ratio";
    write_help(out, name, "Time, clock or ceiling of the GPU over the median of its model.");
    for (int i = 0; i < fleet->card_count; i++)
        for (int m = 0; fleet->cards[i].is_asked && m < fleet->measures; m++) {
            double away = fleet->cards[i].measure[m].away;
            if (isnan(away)) continue;
            write_card(out, name, fleet, &fleet->cards[i],
                       (struct label){"measure", fleet_measure_name(fleet, m)},
                       exp(m == MEASURE_TIME ? away : -away));
        }
}

int export_fleet(FILE *out, const struct fleet *fleet)
{
    static const char name[] = "assay_fleet_gpus";
    struct fleet_tally tally = fleet_tally(fleet);
    write_help(out, name, "GPUs: all, those whose times were judged, those with a finding.");
    write_value(out, name, (struct label[]){{"state", "all"}, {0}}, tally.cards);
    write_value(out, name, (struct label[]){{"state", "judged"}, {0}}, tally.judged);
    write_value(out, name, (struct label[]){{"state", "found"}, {0}}, tally.found);
    for (int figure = 0; figure < FIGURES; figure++)
        write_figure(out, fleet, figure);
    if (fleet->card_count > 0) write_findings(out, fleet);
    if (fleet->card_count > 0) write_measures(out, fleet);
    return ferror(out) ? assay_error("cannot write the fleet: %s", strerror(errno)) : 0;
}
