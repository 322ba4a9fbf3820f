/* plot_bars.c - the data of plots/bars.gp: the variants of one group, fastest first. */
#include "plot/plot_data.h"

/* Bars longer than this multiple of the middle one are drawn broken, so that the others
 * remain visible. */
static const double longest_whole = 20;

static void bar(struct plot *plot, const struct view_row *row, double factor)
{
    char time[UNITS_MAX], ratio[UNITS_MAX], label[2 * UNITS_MAX + 8];
    const struct case_result *result = &row->result;
    struct interval at = plot_time_of(result);
    snprintf(label, sizeof label, "%s", units_time(time, result->time_ns));
    if (result->is_baseline)
        text_add(label, sizeof label, "  ", result->id.kind == ASSAY_BOUND ? "bound" : "base");
    else if (!isnan(row->speedup.mid))
        text_add(label, sizeof label, "  ", "%s", units_ratio(ratio, row->speedup.mid));
    plot_line(plot, result->id.variant, label, "%s\t%.9g\t%.9g\t%.9g", kind_name(result->id.kind),
              at.mid / factor, at.lo / factor, at.hi / factor);
}

enum plot_outcome plot_bars(struct plot *plot)
{
    double longest = 0; /* of the bars that are not broken, ns */
    int broken = 0;
    plot->count = plot_keep_group(plot->row, plot->count, INFINITY);
    if (!plot->count) return plot_nothing(plot, "no case has a time");
    const struct case_id *id = &plot->row[0]->result.id;
    double most = longest_whole * plot_time_of(&plot->row[plot->count / 2]->result).hi;
    for (int i = 0; i < plot->count; i++) {
        double end = plot_time_of(&plot->row[i]->result).hi;
        if (end > most)
            broken++;
        else
            longest = fmax(longest, end);
    }
    const struct plot_scale *scale = plot_scale(PLOT_TIME, longest);
    for (int i = 0; i < plot->count; i++)
        bar(plot, plot->row[i], scale->factor);
    plot_title(plot, "%s: time of each variant  (%s %s)", id->operation, id->shape,
               temperature_name(id->temperature));
    if (broken) plot_note(plot, "", "bars too long to be drawn whole: %d", broken);
    plot_size_rows(plot, plot->count);
    plot_setting(plot, "unit", scale->name);
    plot_setting_number(plot, "longest", longest / scale->factor);
    return PLOT_DRAWN;
}
