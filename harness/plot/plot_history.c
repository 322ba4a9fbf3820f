/* plot_history.c - the data of plots/history.gp: cases over runs, a panel each. */
#include <stdlib.h>

#include "judge/history.h"
#include "plot/plot_data.h"
#include "store/store_gate.h"

enum { MOST_PANELS = 8 };

/* The runs that the panels show: the same place is the same run in all of them. */
struct axis {
    const struct history *history;
    int *place; /* of each run of the history, from 0, oldest first */
    int count;
};

struct panel {
    const struct history_series *series;
    double change; /* largest, as a log ratio */
};

static double largest_change(const struct history_series *series)
{
    double most = 0;
    for (int i = 0; i < series->change_count; i++) {
        const struct history_change *c = &series->changes[i];
        if (!c->causes) most = fmax(most, fabs(log(c->after_ns / c->before_ns)));
    }
    return most;
}

static int by_change(const void *a, const void *b)
{
    const struct panel *x = a, *y = b;
    if (x->change != y->change) return x->change > y->change ? -1 : 1;
    if (x->series->point_count != y->series->point_count)
        return y->series->point_count - x->series->point_count;
    return x->series < y->series ? -1 : x->series > y->series;
}

/* Series that are included and have a point, in the order of drawing; how many. */
static int panels_choose(struct panel *panels, const struct plot *plot,
                         const struct history *history)
{
    int count = 0;
    for (int i = 0; i < history->series_count; i++) {
        const struct history_series *s = &history->series[i];
        if (s->point_count == 0 || !plot_takes(plot->request, &s->id)) continue;
        panels[count++] = (struct panel){s, largest_change(s)};
    }
    qsort(panels, (size_t)count, sizeof *panels, by_change);
    return count;
}

/* "+10.0 %" of a change; "driver 570 -> 580" of a border. */
static void change_label(const struct history *history, const struct history_series *series,
                         const struct history_change *change, char *out, size_t size)
{
    if (change->causes)
        history_border_text(history, series, change, out, size);
    else
        snprintf(out, size, "%+.1f %%", 100 * (change->after_ns / change->before_ns - 1));
}

static int axis_make(struct axis *axis, struct plot *plot, const struct history *history,
                     const struct panel *panels, int count)
{
    int *place = plot_alloc(plot, history->run_count, sizeof *place);
    if (!place) return -1;
    *axis = (struct axis){history, place, 0};
    for (int i = 0; i < count; i++)
        for (int j = 0; j < panels[i].series->point_count; j++)
            place[panels[i].series->points[j].run] = 1;
    for (int i = 0; i < history->run_count; i++)
        place[i] = place[i] ? axis->count++ : -1;
    return 0;
}

static int place_of(const struct axis *axis, const struct history_series *series, int point)
{
    return axis->place[series->points[point].run];
}

/* The runs, by their commits or, where these are not known, their ids. */
static void axis_write(struct plot *plot, const struct axis *axis)
{
    for (int i = 0; i < axis->history->run_count; i++) {
        const struct history_run *run = &axis->history->runs[i];
        const char *name = run->commit[0] ? run->commit : run->id;
        if (axis->place[i] >= 0)
            plot_line(plot, NULL, name, "%d\t%.10s", axis->place[i], run->started_at);
    }
    plot_block_end(plot);
}

static void changes_write(struct plot *plot, const struct axis *axis,
                          const struct history_series *series)
{
    char label[256];
    plot_line(plot, NULL, "none", "0\t-1"); /* gnuplot does not count an empty block */
    for (int i = 0; i < series->change_count; i++) {
        const struct history_change *c = &series->changes[i];
        if (c->at < 1) continue;
        change_label(axis->history, series, c, label, sizeof label);
        plot_line(plot, NULL, label, "%d\t%.1f", c->causes != 0,
                  place_of(axis, series, c->at) - 0.5);
    }
    plot_block_end(plot);
}

static double level_at(const struct history_series *series, int point)
{
    double level = NAN;
    for (int i = 0; i < series->change_count; i++) {
        const struct history_change *c = &series->changes[i];
        if (point < c->at) return isnan(level) ? c->before_ns : level;
        level = c->after_ns;
    }
    return level;
}

static void points_write(struct plot *plot, const struct axis *axis,
                         const struct history_series *series, double factor)
{
    for (int i = 0; i < series->point_count; i++)
        plot_line(plot, NULL, NULL, "%d\t%.9g\t%.9g", place_of(axis, series, i),
                  series->points[i].time_ns / factor, level_at(series, i) / factor);
    plot_block_end(plot);
}

static void panel_write(struct plot *plot, const struct axis *axis,
                        const struct history_series *series)
{
    char name[PLOT_MAX_NAME];
    double longest = 0;
    for (int i = 0; i < series->point_count; i++)
        longest = fmax(longest, series->points[i].time_ns);
    const struct plot_scale *scale = plot_scale(PLOT_TIME, longest);
    plot_common_rest(&plot->common, &series->id, name);
    plot_line(plot, name, scale->name, NULL);
    plot_block_end(plot);
    changes_write(plot, axis, series);
    points_write(plot, axis, series, scale->factor);
}

static void write_history(struct plot *plot, const struct axis *axis, const struct panel *panels,
                          int shown, int more)
{
    const struct history *history = axis->history;
    const struct history_series *first = panels[0].series;
    const struct device_info *facts =
        &history->settings[first->points[first->point_count - 1].setting].facts;
    for (int i = 0; i < shown; i++)
        plot_common_add(&plot->common, &panels[i].series->id);
    axis_write(plot, axis);
    for (int i = 0; i < shown; i++)
        panel_write(plot, axis, panels[i].series);
    plot_title(plot, "time over runs");
    snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%s%s; %d runs, %.10s to %.10s",
             facts->simulated ? "SIMULATED " : "", facts->name, facts->driver[0] ? ", driver " : "",
             facts->driver, history->run_count, history->runs[0].started_at,
             history->runs[history->run_count - 1].started_at);
    if (more)
        plot_note(plot, "", "the most changed cases first, and %d more (--filter, --only)", more);
    plot_size(plot, 1100, 166 + (shown == 1 ? 380 : 170 * shown),
              12 + (shown == 1 ? 22 : 11 * shown));
    plot_setting_number(plot, "panels", shown);
    plot_setting_number(plot, "runs", axis->count);
}

static enum plot_outcome draw(struct plot *plot, const struct history *history)
{
    struct axis axis;
    struct panel *panels = plot_alloc(plot, history->series_count, sizeof *panels);
    if (!panels) return PLOT_FAILED;
    int count = panels_choose(panels, plot, history);
    if (count == 0) return plot_nothing(plot, "no run has such a case");
    int shown = count < MOST_PANELS ? count : MOST_PANELS;
    if (axis_make(&axis, plot, history, panels, shown)) return PLOT_FAILED;
    write_history(plot, &axis, panels, shown, count - shown);
    return PLOT_DRAWN;
}

enum plot_outcome plot_history(struct plot *plot)
{
    struct history history;
    const struct plot_request *request = plot->request;
    if (history_read(&history, request->store, request->cases ? request->cases : "*") != 0)
        return PLOT_FAILED;
    enum plot_outcome outcome =
        history_analyse(&history, 0) == 0 ? draw(plot, &history) : PLOT_FAILED;
    history_release(&history);
    return outcome;
}
