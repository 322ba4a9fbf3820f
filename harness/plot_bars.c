/* plot_bars.c - the data of plots/bars.gp: the variants of one group. */
#include <math.h>

#include "plot_data.h"
#include "plot_rows.h"
#include "units.h"

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

static void write_bars(FILE *out, const struct view *view, const struct plot_request *request,
                       int group)
{
    char text[PLOT_MAX_COMMON + 64];
    double longest = 0;
    int chars = 0, rows = 0;
    const struct case_id *id = NULL;
    for (int i = 0; i < view->count; i++) {
        const struct case_result *result = &view->rows[i].result;
        if (view->rows[i].group != group || !plot_row_taken(request, &view->rows[i])) continue;
        id = &result->id;
        longest = fmax(longest, plot_or(result->hi_ns, result->time_ns));
        if (plot_width(id->variant) > chars) chars = plot_width(id->variant);
        rows++;
    }
    const struct plot_scale *scale = plot_time(longest);
    snprintf(text, sizeof text, "%s: time of each variant  (%s %s)", id->operation, id->shape,
             temperature_name((enum assay_temperature)id->temperature));
    plot_head(out, view->run, text, NULL);
    plot_size_rows(out, rows, chars);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "top", 1.2 * longest / scale->factor); /* room for the labels */
    plot_block_end(out);
    rows = 0;
    for (int i = 0; i < view->count; i++) {
        if (view->rows[i].group != group || !plot_row_taken(request, &view->rows[i])) continue;
        plot_place_line(request->places, i, 1, rows++);
        bar(out, &view->rows[i], scale->factor);
    }
}

enum plot_outcome plot_bars(FILE *out, const struct plot_request *request)
{
    struct view view;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    int group = plot_row_group(request, &view);
    if (group >= 0) write_bars(out, &view, request, group);
    view_release(&view);
    return group < 0 ? plot_nothing(request, "the run has no ok case") : PLOT_DRAWN;
}
