/* export_fleet.c - the cards of a fleet for Prometheus: one line per card and metric. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "assay.h"
#include "export/export.h"
#include "export/prometheus.h"
#include "judge/fleet.h"

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

static double of_count(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

static double lanes(const struct fleet_card *card)
{
    return of_count(card->link_width);
}

static double ecc_errors(const struct fleet_card *card)
{
    return of_count(card->ecc_uncorrected);
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
