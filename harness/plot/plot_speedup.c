/* plot_speedup.c - the data of plots/speedup.gp: cases against their baselines. */
#include <stdlib.h>
#include <string.h>

#include "plot/plot_data.h"

/* A bar: one case, or the cases of one variant together. */
struct bar {
    const struct view_row *row; /* the first */
    double mid, lo, hi;         /* for several cases: geometric mean, smallest, largest */
    int cases;
};

struct bars {
    struct bar *bar;
    int count;
    bool together;
};

static int order(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;
    int operation = strcmp(x->row->result.id.operation, y->row->result.id.operation);
    if (operation) return operation;
    if (x->mid != y->mid) return x->mid > y->mid ? -1 : 1;
    return strcmp(x->row->result.id.variant, y->row->result.id.variant);
}

static struct bar *bar_of(struct bars *bars, const struct view_row *row)
{
    const struct case_id *id = &row->result.id;
    for (int i = 0; bars->together && i < bars->count; i++) {
        const struct case_id *other = &bars->bar[i].row->result.id;
        if (!strcmp(id->operation, other->operation) && !strcmp(id->variant, other->variant))
            return &bars->bar[i];
    }
    bars->bar[bars->count] = (struct bar){row, 0, INFINITY, 0, 0};
    return &bars->bar[bars->count++];
}

static void bars_make(struct bars *bars, struct plot *plot)
{
    bars->together = plot->count > PLOT_MAX_ROWS;
    for (int i = 0; i < plot->count; i++) {
        struct bar *bar = bar_of(bars, plot->row[i]);
        const struct interval *s = &plot->row[i]->speedup;
        struct interval own = plot_interval(s->mid, s->lo, s->hi);
        plot_common_add(&plot->common, &plot->row[i]->result.id);
        bar->cases++;
        bar->mid += log(s->mid);
        bar->lo = fmin(bar->lo, bars->together ? s->mid : own.lo);
        bar->hi = fmax(bar->hi, bars->together ? s->mid : own.hi);
    }
    for (int i = 0; i < bars->count; i++)
        bars->bar[i].mid = exp(bars->bar[i].mid / bars->bar[i].cases);
    qsort(bars->bar, (size_t)bars->count, sizeof *bars->bar, order);
}

static void bar_name(const struct plot_common *common, const struct bars *bars,
                     const struct bar *bar, char out[PLOT_MAX_NAME])
{
    const struct case_id *id = &bar->row->result.id;
    if (bars->together)
        snprintf(out, PLOT_MAX_NAME, "%s%s%s", common->operation ? "" : id->operation,
                 common->operation ? "" : "/", id->variant);
    else
        plot_common_rest(common, id, out);
}

/* Four digits, since an interval is often too narrow for three. */
static void end_text(char out[UNITS_MAX], double ratio)
{
    snprintf(out, UNITS_MAX, ratio < 1000 ? "%#.4g" : "%.0f", ratio);
}

/* "1.02x  [0.9990, 1.030]", "0.950x  (12 cases, 0.900x to 1.10x)" */
static void bar_figures(const struct bars *bars, const struct bar *bar, char *out, size_t size)
{
    char mid[UNITS_MAX], lo[UNITS_MAX], hi[UNITS_MAX];
    units_ratio(mid, bar->mid);
    if (bars->together && bar->cases > 1) {
        units_ratio(lo, bar->lo);
        units_ratio(hi, bar->hi);
        snprintf(out, size, "%s  (%d cases, %s to %s)", mid, bar->cases, lo, hi);
        return;
    }
    end_text(lo, bar->row->speedup.lo);
    end_text(hi, bar->row->speedup.hi);
    snprintf(out, size, "%s", mid);
    if (!isnan(bar->row->speedup.lo)) text_add(out, size, "  ", "[%s, %s]", lo, hi);
}

/* What all bars are against: its name if there is only one, else what they have. */
static const char *against(const struct bars *bars)
{
    bool has_bound = false, has_other = false, is_one = true;
    for (int i = 0; i < bars->count; i++) {
        const struct view_row *row = bars->bar[i].row;
        *(row->base_kind == ASSAY_BOUND ? &has_bound : &has_other) = true;
        is_one = is_one && !strcmp(row->baseline, bars->bar[0].row->baseline);
    }
    if (is_one) return bars->bar[0].row->baseline;
    if (!has_bound) return "the baseline of its group";
    return has_other ? "the baseline of its group, or its bound" : "the bound of its group";
}

static void write_bars(struct plot *plot, const struct bars *bars, int shown)
{
    char name[PLOT_MAX_NAME], figures[96];
    double least = 1, greatest = 1;
    for (int i = 0; i < shown; i++) {
        const struct bar *bar = &bars->bar[i];
        bar_name(&plot->common, bars, bar, name);
        bar_figures(bars, bar, figures, sizeof figures);
        least = fmin(least, bar->lo);
        greatest = fmax(greatest, bar->hi);
        plot_line(plot, name, NULL, "%s\t%.9g\t%.9g\t%.9g\t%s\t%d",
                  kind_name(bar->row->result.id.kind), bar->mid, bar->lo, bar->hi, figures,
                  bar->cases);
        if (text_width(figures) > plot->right_chars) plot->right_chars = text_width(figures);
    }
    plot_size_rows(plot, shown);
    plot_setting_number(plot, "together", bars->together);
    plot_setting_number(plot, "left", least / 1.1);
    plot_setting_number(plot, "right", greatest * 1.1);
}

enum plot_outcome plot_speedup(struct plot *plot)
{
    struct bars bars = {0};
    int count = 0;
    for (int i = 0; i < plot->count; i++)
        if (!plot->row[i]->result.is_baseline && !isnan(plot->row[i]->speedup.mid))
            plot->row[count++] = plot->row[i];
    plot->count = count;
    if (!count)
        return plot_nothing(plot, "no case with a time has a baseline or a bound in its group");
    bars.bar = plot_alloc(plot, count, sizeof *bars.bar);
    if (!bars.bar) return PLOT_FAILED;
    bars_make(&bars, plot);
    int shown = bars.count < PLOT_MAX_ROWS ? bars.count : PLOT_MAX_ROWS;
    plot_title(plot, "speed against %s", against(&bars));
    if (bars.together)
        plot_note(plot, "",
                  "one bar per variant: geometric mean of its cases, whiskers from "
                  "smallest to largest");
    if (shown < bars.count)
        plot_note(plot, "; ", "%d more are not drawn (--filter, --only choose)",
                  bars.count - shown);
    write_bars(plot, &bars, shown);
    return PLOT_DRAWN;
}
