/* plot_bars.c - the data of plots/bars.gp: the variants of one group. */
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

/* Bars longer than this multiple of the middle one are drawn broken, so that the others
 * remain visible. */
static const double longest_whole = 20;

static void bar_label(FILE *out, const struct view_row *row)
{
    char time[UNITS_MAX], ratio[UNITS_MAX];
    units_time(time, row->result.time_ns);
    units_ratio(ratio, row->speedup.mid);
    plot_text(out, time);
    if (row->result.is_baseline)
        fputs("  base", out);
    else if (!isnan(row->speedup.mid))
        fprintf(out, "  %s", ratio);
}

static void bar(FILE *out, const struct view_row *row, double factor)
{
    const struct case_result *result = &row->result;
    plot_text(out, result->id.variant);
    fprintf(out, "\t%s\t%.9g\t%.9g\t%.9g\t", kind_name((enum assay_kind)result->id.kind),
            result->time_ns / factor, plot_or(result->lo_ns, result->time_ns) / factor,
            plot_or(result->hi_ns, result->time_ns) / factor);
    bar_label(out, row);
    fputc('\n', out);
}

/* The rows of one group, fastest first. */
struct bars {
    int *row; /* indices in the view */
    int count, chars;
    double longest; /* of the bars that are not broken, ns */
    int broken;
};

static double end_of(const struct view *view, int row)
{
    const struct case_result *result = &view->rows[row].result;
    return plot_or(result->hi_ns, result->time_ns);
}

static int bars_make(struct bars *bars, const struct view *view, const struct plot_request *request,
                     int group)
{
    *bars = (struct bars){.row = calloc((size_t)view->count + 1, sizeof *bars->row)};
    if (!bars->row) return assay_error("out of memory for %d rows", view->count);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->group != group || !plot_row_taken(request, row)) continue;
        int width = plot_width(row->result.id.variant);
        if (width > bars->chars) bars->chars = width;
        bars->row[bars->count++] = i;
    }
    double middle = end_of(view, bars->row[bars->count / 2]);
    for (int i = 0; i < bars->count; i++) {
        double end = end_of(view, bars->row[i]);
        if (end > longest_whole * middle)
            bars->broken++;
        else
            bars->longest = fmax(bars->longest, end);
    }
    return 0;
}

static void write_bars(FILE *out, const struct view *view, const struct plot_request *request,
                       const struct bars *bars)
{
    char text[PLOT_MAX_COMMON + 64], note[64] = "";
    const struct case_id *id = &view->rows[bars->row[0]].result.id;
    const struct plot_scale *scale = plot_time(bars->longest);
    snprintf(text, sizeof text, "%s: time of each variant  (%s %s)", id->operation, id->shape,
             temperature_name((enum assay_temperature)id->temperature));
    if (bars->broken)
        snprintf(note, sizeof note, "bars too long to be drawn whole: %d", bars->broken);
    plot_head(out, view->run, text, note);
    plot_size_rows(out, bars->count, bars->chars);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", bars->chars);
    plot_setting_number(out, "longest", bars->longest / scale->factor);
    plot_block_end(out);
    for (int i = 0; i < bars->count; i++) {
        plot_place_line(request->places, bars->row[i], 1, i);
        bar(out, &view->rows[bars->row[i]], scale->factor);
    }
}

enum plot_outcome plot_bars(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct bars bars = {0};
    enum plot_outcome outcome = PLOT_FAILED;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    int group = plot_row_group(request, &view, INFINITY);
    if (group < 0) {
        outcome = plot_nothing(request, "the run has no ok case");
    } else if (bars_make(&bars, &view, request, group) == 0) {
        write_bars(out, &view, request, &bars);
        outcome = PLOT_DRAWN;
    }
    free(bars.row);
    view_release(&view);
    return outcome;
}
