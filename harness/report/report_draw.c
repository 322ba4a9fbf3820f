/* report_draw.c - draws the plots of a report into temporary files and reads them back. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "plot/plot.h"
#include "report/report.h"
#include "report/svg.h"

/* Limits the time it takes to draw a page. */
enum { MOST_SWEEPS = 6 };

static char *read_whole(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    ssize_t length = in ? getdelim(&text, &size, '\0', in) : -1;
    if (in) fclose(in);
    if (length >= 0) return text;
    free(text);
    assay_error("cannot read %s: %s", path, strerror(errno));
    return NULL;
}

/* The kinds of plots in their order, with the text alternative, and whether that mentions the
 * highest rate or ratio. */
struct content {
    const char *kind, *text;
    enum message { NO_FIGURE, HIGHEST_RATE, GREATEST_RATIO } message;
};

enum { FOREST, ROOFLINE, SPEEDUP, PARETO, PIPELINE, SWEEP };

static const struct content contents[] = {
    [FOREST] = {"forest", "what changed since the other run, worst first", NO_FIGURE},
    [ROOFLINE] = {"roofline", "the rate of every case under the measured ceilings", HIGHEST_RATE},
    [SPEEDUP] = {"speedup", "how many times as fast as the baseline of its group", GREATEST_RATIO},
    [PARETO] = {"pareto", "quality against time, with the Pareto front", NO_FIGURE},
    [PIPELINE] = {"pipeline", "when the stages of a batch ran, and what overlapped", NO_FIGURE},
    [SWEEP] = {"sweep",
               "rate against size, one curve per variant; the time of each if there is one size",
               HIGHEST_RATE},
};

static double figure(enum message message, const struct view_row *row)
{
    if (message == GREATEST_RATIO) return row->result.is_baseline ? NAN : row->speedup.mid;
    return message == HIGHEST_RATE && !row->rate_is_ops ? row->rate : NAN;
}

/* "...; of 173 cases with a time, the highest rate is 5.92 TB/s, of memory/best. ..." */
static void describe(const struct view *view, const struct content *content, const char *operation,
                     char out[ASSAY_MAX_REASON])
{
    const struct view_row *best = NULL;
    bool is_rate = content->message == HIGHEST_RATE;
    char value[UNITS_MAX];
    int cases = 0;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->result.status != STATUS_OK || row->is_ceiling) continue;
        if (operation && strcmp(row->result.id.operation, operation)) continue;
        cases++;
        if (isnan(figure(content->message, row))) continue;
        if (!best || figure(content->message, row) > figure(content->message, best)) best = row;
    }
    snprintf(out, ASSAY_MAX_REASON, "%s", content->text);
    if (best) {
        (is_rate ? units_rate : units_ratio)(value, figure(content->message, best));
        text_add(out, ASSAY_MAX_REASON, "; ", "of %d cases with a time, the %s is %s, of %s/%s",
                 cases, is_rate ? "highest rate" : "greatest ratio", value,
                 best->result.id.operation, best->result.id.variant);
    }
    text_add(out, ASSAY_MAX_REASON, ". ", "Every figure is in the table of cases.");
}

/* Report the first plot that fails; without gnuplot all fail. */
static void lost(struct report *report, const char *kind)
{
    if (report->plots_lost[0]) return;
    snprintf(report->plots_lost, sizeof report->plots_lost,
             "Plots could not be drawn, first %s: %s. The tables have every figure.", kind,
             assay_last_error());
}

/* `operation`: the only one that it shows; NULL: all. */
static void add_plot(struct report *report, const char *folder, const struct content *content,
                     const char *operation)
{
    char path[PATH_MAX], prefix[16];
    struct report_plot *plot = &report->plots[report->plot_count];
    if (report->plot_count == REPORT_PLOTS) return;
    snprintf(path, sizeof path, "%s/plot.svg", folder);
    *plot = (struct report_plot){0};
    const struct plot_request request = {.run = report->view->run,
                                         .against = report->base,
                                         .comparison = report->comparison,
                                         .operation = operation,
                                         .output = path,
                                         .places = &plot->places};
    enum plot_outcome outcome = plot_draw(plot_find(content->kind), &request);
    char *text = outcome == PLOT_DRAWN ? read_whole(path) : NULL;
    unlink(path);
    snprintf(prefix, sizeof prefix, "p%d-", report->plot_count);
    plot->svg = text ? svg_inline(text, prefix) : NULL;
    free(text);
    if (!plot->svg) {
        plot_places_release(&plot->places);
        if (outcome != PLOT_NOTHING) lost(report, content->kind);
        return;
    }
    snprintf(plot->title, sizeof plot->title, operation ? "%s of %s" : "%s", content->kind,
             operation);
    snprintf(plot->operation, sizeof plot->operation, "%s", operation ? operation : "");
    describe(report->view, content, operation, plot->text);
    report->plot_count++;
}

/* ------------------------------------------------------------------- which -- */

struct chosen {
    const char *operation;
    int cases;
};

static int by_cases(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return y->cases != x->cases ? y->cases - x->cases : strcmp(x->operation, y->operation);
}

/* Operations with times, the ones with the most cases first. */
static int operations_of(const struct view *view, struct chosen *list)
{
    int count = 0;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        int at = 0;
        if (row->result.status != STATUS_OK || row->is_ceiling) continue;
        while (at < count && strcmp(list[at].operation, row->result.id.operation))
            at++;
        if (at == count) list[count++] = (struct chosen){row->result.id.operation, 0};
        list[at].cases++;
    }
    qsort(list, (size_t)count, sizeof *list, by_cases);
    return count;
}

static void draw_all(struct report *report, const char *folder, struct chosen *operations)
{
    int count = operations_of(report->view, operations);
    for (int kind = report->comparison ? FOREST : ROOFLINE; kind < SWEEP; kind++)
        add_plot(report, folder, &contents[kind], NULL);
    for (int i = 0; i < count && i < MOST_SWEEPS; i++)
        add_plot(report, folder, &contents[SWEEP], operations[i].operation);
    if (count > MOST_SWEEPS && !report->plots_lost[0])
        snprintf(report->plots_lost, sizeof report->plots_lost,
                 "The sweeps of the %d operations with the most cases, of %d.", MOST_SWEEPS, count);
}

void report_draw(struct report *report)
{
    struct temp_folder folder;
    struct chosen *operations = calloc((size_t)report->view->count + 1, sizeof *operations);
    if (operations && temp_folder_make(&folder, "report") == 0) {
        draw_all(report, folder.path, operations);
        temp_folder_remove(&folder);
    } else {
        lost(report, "all");
    }
    free(operations);
    assay_clear_error();
}

void report_release(struct report *report)
{
    for (int i = 0; i < report->plot_count; i++) {
        free(report->plots[i].svg);
        plot_places_release(&report->plots[i].places);
    }
    report->plot_count = 0;
}
