/* plot_bars.c - the data of plots/bars.gp: the variants of one size. */
#include <math.h>

#include "plot_data.h"
#include "sweep.h"
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

static void write_bars(FILE *out, const struct view *view, const struct sweep *sweep)
{
    char text[512];
    double longest = 0;
    int chars = 0;
    for (int c = 0; c < sweep->count; c++) {
        const struct case_result *result = &sweep->curve[c].rows[0]->result;
        longest = fmax(longest, plot_or(result->hi_ns, result->time_ns));
        if (plot_width(result->id.variant) > chars) chars = plot_width(result->id.variant);
    }
    const struct plot_scale *scale = plot_time(longest);
    snprintf(text, sizeof text, "%s: time of each variant  (%s)", sweep->operation, sweep->panel);
    plot_head(out, view->run, text, NULL);
    plot_size_rows(out, sweep->count);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "top", 1.2 * longest / scale->factor); /* room for the labels */
    plot_block_end(out);

    /* The view's order is by time; the sweep's is not. */
    for (int i = 0; i < view->count; i++)
        for (int c = 0; c < sweep->count; c++)
            if (sweep->curve[c].rows[0] == &view->rows[i]) bar(out, &view->rows[i], scale->factor);
}

enum plot_outcome plot_bars(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct sweep sweep;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    enum plot_outcome outcome = PLOT_FAILED;
    int found = sweep_make(&sweep, &view, request->operation, request->only);
    if (found == 0) outcome = plot_nothing(request, "the run has no ok case");
    if (found > 0) {
        write_bars(out, &view, &sweep);
        sweep_release(&sweep);
        outcome = PLOT_DRAWN;
    }
    view_release(&view);
    return outcome;
}
