/* plot_timeline.c - the data of plots/timeline.gp: samples in the order in which they were
 * taken, with the clock, temperature and power of the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

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
    struct border border[MOST_BORDERS];
    int points, states, borders, cases;
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
           a->result.id.temperature == b->result.id.temperature &&
           !strcmp(a->result.id.operation, b->result.id.operation) &&
           !strcmp(a->result.id.shape, b->result.id.shape);
}

static void case_add(struct timeline *line, const struct stored_case *stored, double from)
{
    const struct case_result *result = &stored->result;
    const struct samples *samples = &result->samples;
    double to = from;
    for (int i = 0; i < samples->count; i++) {
        struct point *point = &line->point[line->points++];
        /* Spread the samples of one round over it. */
        int in_round = 0, of_round = 1;
        for (int j = i; samples->round && j > 0 && samples->round[j - 1] == samples->round[i]; j--)
            in_round++;
        for (int j = i;
             samples->round && j + 1 < samples->count && samples->round[j + 1] == samples->round[i];
             j++)
            of_round++;
        double round = samples->round ? samples->round[i] : i;
        point->at = from + round + (double)in_round / (in_round + of_round);
        point->ratio = samples->time_ns[i] / result->time_ns;
        point->marked = samples->mark && samples->mark[i];
        to = fmax(to, from + round + 1);
    }
    line->state[line->states++] =
        (struct state){from, to, result->sm_mhz, result->temperature_c, result->power_w};
    line->end = fmax(line->end, to);
    line->cases++;
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

/* The cases of a group were interleaved, so they share its rounds. */
static int timeline_make(struct timeline *line, const struct plot_request *request)
{
    const struct stored_run *run = request->run;
    const struct stored_case *last = NULL;
    size_t samples = 0, cases = 0;
    double from = 0;
    for (int i = 0; i < run->case_count; i++)
        if (is_taken(request, &run->cases[i])) {
            samples += (size_t)run->cases[i].result.samples.count;
            cases++;
        }
    *line = (struct timeline){0};
    line->point = calloc(samples + 1, sizeof *line->point);
    line->state = calloc(cases + 1, sizeof *line->state);
    if (!line->point || !line->state) return assay_error("out of memory for %zu samples", samples);
    for (int i = 0; i < run->case_count; i++) {
        const struct stored_case *stored = &run->cases[i];
        if (!is_taken(request, stored)) continue;
        if (!last || !is_same_group(last, stored)) from = line->end;
        border_add(line, from, stored->result.id.operation);
        case_add(line, stored, from);
        last = stored;
    }
    return 0;
}

static void timeline_release(struct timeline *line)
{
    free(line->point);
    free(line->state);
}

/* -------------------------------------------------------------------- writing -- */

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A bin: position, median, 5 % and 95 % quantiles, number of marked samples. */
static void bin_write(FILE *out, const struct point *point, int count, double *scratch)
{
    int marked = 0;
    for (int i = 0; i < count; i++) {
        scratch[i] = point[i].ratio;
        marked += point[i].marked;
    }
    stats_sort(scratch, count);
    fprintf(out, "%.9g\t%.6g\t%.6g\t%.6g\t%d\n", point[count / 2].at,
            stats_quantile_sorted(scratch, count, 0.5), stats_quantile_sorted(scratch, count, 0.05),
            stats_quantile_sorted(scratch, count, 0.95), marked);
}

static int points_write(FILE *out, struct timeline *line)
{
    int each = line->points > MOST_POINTS ? (line->points + BINS - 1) / BINS : 1;
    double *scratch = calloc((size_t)each, sizeof *scratch);
    if (!scratch) return assay_error("out of memory for a plot");
    for (int i = 0; i < line->points; i += each)
        bin_write(out, line->point + i, line->points - i < each ? line->points - i : each, scratch);
    free(scratch);
    plot_block_end(out);
    return 0;
}

/* The frame contains the middle 98 % of the samples, and at least a change of 2 %. */
static int frame(const struct timeline *line, double *low, double *top)
{
    double *ratio = calloc((size_t)line->points, sizeof *ratio);
    if (!ratio) return assay_error("out of memory for a plot");
    for (int i = 0; i < line->points; i++)
        ratio[i] = line->point[i].ratio;
    stats_sort(ratio, line->points);
    *low = fmin(0.98, stats_quantile_sorted(ratio, line->points, 0.01) - 0.005);
    *top = fmax(1.02, stats_quantile_sorted(ratio, line->points, 0.99) + 0.005);
    free(ratio);
    return 0;
}

static int head(FILE *out, const struct plot_request *request, const struct timeline *line)
{
    double low = 0, top = 0;
    int beyond = 0, marked = 0, clocks = 0, temperatures = 0, powers = 0, used;
    char title[160], note[240];
    if (frame(line, &low, &top)) return -1;
    for (int i = 0; i < line->points; i++) {
        beyond += line->point[i].ratio < low || line->point[i].ratio > top;
        marked += line->point[i].marked;
    }
    for (int i = 0; i < line->states; i++) {
        clocks += isfinite(line->state[i].sm_mhz) != 0;
        temperatures += isfinite(line->state[i].temperature_c) != 0;
        powers += isfinite(line->state[i].power_w) != 0;
    }
    bool binned = line->points > MOST_POINTS;
    snprintf(title, sizeof title, "%d samples of %d cases in the order taken", line->points,
             line->cases);
    used = snprintf(note, sizeof note, "%sbeyond the frame: %d; marked: %d",
                    binned ? "line: median; band: the middle 90 %; " : "", beyond, marked);
    if (!clocks || !temperatures || !powers)
        snprintf(note + used, sizeof note - (size_t)used, "; unknown:%s%s%s",
                 clocks ? "" : " clock", temperatures ? "" : " temperature",
                 powers ? "" : " power");
    plot_head(out, request->run, title, note);
    int panels = 1 + (clocks > 0) + (temperatures > 0) + (powers > 0);
    plot_size(out, 1100, 320 + 130 * panels, 24 + 8 * panels);
    plot_setting_number(out, "binned", binned);
    plot_setting_number(out, "clocks", clocks);
    plot_setting_number(out, "temperatures", temperatures);
    plot_setting_number(out, "powers", powers);
    plot_setting_number(out, "right", line->end);
    plot_setting_number(out, "low", low);
    plot_setting_number(out, "top", top);
    plot_block_end(out);
    return 0;
}

static int write_timeline(FILE *out, const struct plot_request *request, struct timeline *line)
{
    if (head(out, request, line)) return -1;
    for (int i = 0; i < line->borders; i++) {
        double to = i + 1 < line->borders ? line->border[i + 1].at : line->end;
        fprintf(out, "%.9g\t%.9g\t", line->border[i].at, to);
        plot_text(out, line->border[i].operation);
        fputc('\n', out);
    }
    plot_block_end(out);
    qsort(line->point, (size_t)line->points, sizeof *line->point, by_place);
    if (points_write(out, line)) return -1;
    for (int i = 0; i < line->states; i++) {
        const struct state *s = &line->state[i];
        fprintf(out, "%.9g\t%.9g\t%.6g\t%.6g\t%.6g\n", s->from, s->to, s->sm_mhz, s->temperature_c,
                s->power_w);
    }
    plot_block_end(out);
    return 0;
}

enum plot_outcome plot_timeline(FILE *out, const struct plot_request *request)
{
    struct timeline line;
    enum plot_outcome outcome = PLOT_FAILED;
    if (timeline_make(&line, request) == 0) {
        if (line.points == 0)
            outcome = plot_nothing(request, "the run kept no samples");
        else if (write_timeline(out, request, &line) == 0)
            outcome = PLOT_DRAWN;
    }
    timeline_release(&line);
    return outcome;
}
