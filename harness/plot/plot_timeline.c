/* plot_timeline.c - the data of plots/timeline.gp: samples in the order in which they were
 * taken, with the clock, temperature and power of the device. */
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/timings.h"
#include "plot/plot_data.h"

enum {
    MOST_POINTS = 4000, /* more samples are binned */
    BINS = 500,
    MOST_BORDERS = 400, /* changes of operation; the rest is shown as "several" */
};

/* A sample: its round, counted over the whole run, and its time / median of its case. */
struct point {
    double at, ratio;
    bool marked;
};

/* The state of the device during the blocks of one case. */
struct state {
    double from, to;
    double sm_mhz, temperature_c, power_w;
};

struct border {
    double at;
    const char *operation;
};

struct timeline {
    struct point *point;
    struct state *state;
    double *ratio; /* space for the points' */
    struct border border[MOST_BORDERS];
    int points, states, borders;
    double end; /* rounds */
};

static bool is_taken(const struct plot_request *request, const struct stored_case *stored)
{
    const struct case_result *result = &stored->result;
    return result->time_ns > 0 && result->samples.count > 0 && result->samples.time_ns &&
           plot_takes(request, &result->id);
}

static bool is_same_group(const struct stored_case *a, const struct stored_case *b)
{
    return a->launch_number == b->launch_number && a->purpose == b->purpose &&
           case_id_same_group(&a->result.id, &b->result.id);
}

static void case_add(struct timeline *line, const struct stored_case *stored, double from)
{
    const struct case_result *result = &stored->result;
    const struct samples *samples = &result->samples;
    double to = from;
    for (int first = 0, next; first < samples->count; first = next) {
        double round = samples->round ? samples->round[first] : first;
        next = first + 1;
        while (samples->round && next < samples->count &&
               samples->round[next] == samples->round[first])
            next++;
        /* Spread the samples of one round over it. */
        for (int i = first; i < next; i++)
            line->point[line->points++] =
                (struct point){.at = from + round + (double)(i - first) / (next - first),
                               .ratio = samples->time_ns[i] / result->time_ns,
                               .marked = samples->mark && samples->mark[i]};
        to = fmax(to, from + round + 1);
    }
    line->state[line->states++] =
        (struct state){from, to, result->sm_mhz, result->temperature_c, result->power_w};
    line->end = fmax(line->end, to);
}

static void border_add(struct timeline *line, double at, const char *operation)
{
    const struct border *last = line->borders ? &line->border[line->borders - 1] : NULL;
    if (last && !strcmp(last->operation, operation)) return;
    if (line->borders == MOST_BORDERS) {
        line->border[MOST_BORDERS - 1].operation = "several";
        return;
    }
    line->border[line->borders++] = (struct border){at, operation};
}

/* The cases of a group were interleaved, so they share its rounds. -1 with assay_error. */
static int timeline_make(struct timeline *line, struct plot *plot)
{
    const struct stored_run *run = plot->request->run;
    const struct stored_case *last = NULL;
    int samples = 0;
    double from = 0;
    for (int i = 0; i < run->case_count; i++)
        samples += run->cases[i].result.samples.count;
    line->point = plot_alloc(plot, samples, sizeof *line->point);
    line->state = plot_alloc(plot, run->case_count, sizeof *line->state);
    line->ratio = plot_alloc(plot, samples, sizeof *line->ratio);
    if (!line->point || !line->state || !line->ratio) return -1;
    for (int i = 0; i < run->case_count; i++) {
        const struct stored_case *stored = &run->cases[i];
        if (!is_taken(plot->request, stored)) continue;
        if (!last || !is_same_group(last, stored)) from = line->end;
        border_add(line, from, stored->result.id.operation);
        case_add(line, stored, from);
        last = stored;
    }
    return 0;
}

/* -------------------------------------------------------------------- writing -- */

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A bin: position, median, 5 % and 95 % quantiles, number of marked samples. */
static void bin_write(struct plot *plot, const struct point *point, int count, double *ratio)
{
    int marked = 0;
    for (int i = 0; i < count; i++) {
        ratio[i] = point[i].ratio;
        marked += point[i].marked;
    }
    stats_sort(ratio, count);
    fprintf(plot->out, "%.9g\t%.6g\t%.6g\t%.6g\t%d\n", point[count / 2].at,
            stats_quantile_sorted(ratio, count, 0.5), stats_quantile_sorted(ratio, count, 0.05),
            stats_quantile_sorted(ratio, count, 0.95), marked);
}

static void head(struct plot *plot, const struct timeline *line)
{
    int beyond = 0, marked = 0, clocks = 0, temperatures = 0, powers = 0;
    bool binned = line->points > MOST_POINTS;
    for (int i = 0; i < line->points; i++)
        line->ratio[i] = line->point[i].ratio;
    stats_sort(line->ratio, line->points);
    /* The frame contains the middle 98 % of the samples, and at least a change of 2 %. */
    double low = fmin(0.98, stats_quantile_sorted(line->ratio, line->points, 0.01) - 0.005);
    double top = fmax(1.02, stats_quantile_sorted(line->ratio, line->points, 0.99) + 0.005);
    for (int i = 0; i < line->points; i++) {
        beyond += line->point[i].ratio < low || line->point[i].ratio > top;
        marked += line->point[i].marked;
    }
    for (int i = 0; i < line->states; i++) {
        clocks += isfinite(line->state[i].sm_mhz) != 0;
        temperatures += isfinite(line->state[i].temperature_c) != 0;
        powers += isfinite(line->state[i].power_w) != 0;
    }
    plot_title(plot, "%d samples of %d cases in the order taken", line->points, line->states);
    if (binned) plot_note(plot, "", "line: median; band: the middle 90 %%");
    if (beyond) plot_note(plot, "; ", "beyond the frame: %d", beyond);
    if (marked) plot_note(plot, "; ", "marked: %d", marked);
    if (!clocks || !temperatures || !powers)
        plot_note(plot, "; ", "unknown:%s%s%s", clocks ? "" : " clock",
                  temperatures ? "" : " temperature", powers ? "" : " power");
    int panels = 1 + (clocks > 0) + (temperatures > 0) + (powers > 0);
    plot_size(plot, 1100, 320 + 130 * panels, 24 + 8 * panels);
    plot_setting_number(plot, "binned", binned);
    plot_setting_number(plot, "clocks", clocks);
    plot_setting_number(plot, "temperatures", temperatures);
    plot_setting_number(plot, "powers", powers);
    plot_setting_number(plot, "right", line->end);
    plot_setting_number(plot, "low", low);
    plot_setting_number(plot, "top", top);
}

static void write_timeline(struct plot *plot, struct timeline *line)
{
    int each = line->points > MOST_POINTS ? (line->points + BINS - 1) / BINS : 1;
    for (int i = 0; i < line->borders; i++)
        plot_line(plot, NULL, line->border[i].operation, "%.9g\t%.9g", line->border[i].at,
                  i + 1 < line->borders ? line->border[i + 1].at : line->end);
    plot_block_end(plot);
    qsort(line->point, (size_t)line->points, sizeof *line->point, by_place);
    for (int i = 0; i < line->points; i += each)
        bin_write(plot, line->point + i, line->points - i < each ? line->points - i : each,
                  line->ratio);
    plot_block_end(plot);
    for (int i = 0; i < line->states; i++) {
        const struct state *s = &line->state[i];
        fprintf(plot->out, "%.9g\t%.9g\t%.6g\t%.6g\t%.6g\n", s->from, s->to, s->sm_mhz,
                s->temperature_c, s->power_w);
    }
    plot_block_end(plot);
}

enum plot_outcome plot_timeline(struct plot *plot)
{
    struct timeline line = {0};
    if (timeline_make(&line, plot)) return PLOT_FAILED;
    if (line.points == 0) return plot_nothing(plot, "the run kept no samples");
    write_timeline(plot, &line);
    head(plot, &line);
    return PLOT_DRAWN;
}
