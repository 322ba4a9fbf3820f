/* plot_speedup.c - the data of plots/speedup.gp: cases against their baselines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

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
    struct plot_common common; /* of all cases */
};

static bool has_speedup(const struct plot_request *request, const struct view_row *row)
{
    return plot_row_taken(request, row) && !row->result.is_baseline && !isnan(row->speedup.mid);
}

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

static void bar_add(struct bars *bars, const struct view_row *row)
{
    struct bar *bar = bar_of(bars, row);
    const struct interval *s = &row->speedup;
    bar->cases++;
    plot_common_add(&bars->common, &row->result.id);
    bar->mid += log(s->mid); /* bars_make turns the sum into the mean */
    bar->lo = fmin(bar->lo, bars->together ? s->mid : plot_or(s->lo, s->mid));
    bar->hi = fmax(bar->hi, bars->together ? s->mid : plot_or(s->hi, s->mid));
}

/* One bar per case, or per variant if there are too many cases. */
static int bars_make(struct bars *bars, const struct plot_request *request, const struct view *view)
{
    int rows = 0;
    for (int i = 0; i < view->count; i++)
        rows += has_speedup(request, &view->rows[i]);
    *bars = (struct bars){.together = rows > PLOT_MAX_ROWS};
    bars->bar = calloc((size_t)rows + 1, sizeof *bars->bar);
    if (!bars->bar) return assay_error("out of memory for %d rows", rows);
    for (int i = 0; i < view->count; i++)
        if (has_speedup(request, &view->rows[i])) bar_add(bars, &view->rows[i]);
    for (int i = 0; i < bars->count; i++)
        bars->bar[i].mid = exp(bars->bar[i].mid / bars->bar[i].cases);
    qsort(bars->bar, (size_t)bars->count, sizeof *bars->bar, order);
    return rows;
}

static void bar_name(const struct bars *bars, const struct bar *bar, char out[PLOT_MAX_NAME])
{
    const struct plot_common *common = &bars->common;
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
    if (isnan(bar->row->speedup.lo))
        snprintf(out, size, "%s", mid);
    else
        snprintf(out, size, "%s  [%s, %s]", mid, lo, hi);
}

/* The baseline of all bars: its name if there is only one. */
static const char *baseline_name(const struct bars *bars)
{
    for (int i = 1; i < bars->count; i++)
        if (strcmp(bars->bar[i].row->baseline, bars->bar[0].row->baseline) != 0)
            return "the baseline of its group";
    return bars->bar[0].row->baseline;
}

static void write_head(FILE *out, const struct view *view, const struct bars *bars, int shown,
                       int chars)
{
    char text[PLOT_MAX_COMMON + 128], what[PLOT_MAX_COMMON], note[160] = "";
    plot_common_text(&bars->common, what);
    snprintf(text, sizeof text, "speed against %s%s%s%s", baseline_name(bars), what[0] ? "  (" : "",
             what, what[0] ? ")" : "");
    if (bars->together)
        snprintf(note, sizeof note,
                 "one bar per variant: geometric mean of its cases, whiskers from "
                 "smallest to largest");
    if (shown < bars->count)
        snprintf(note + strlen(note), sizeof note - strlen(note),
                 "%s%d more are not drawn (--case, --only choose)", note[0] ? "; " : "",
                 bars->count - shown);
    plot_head(out, view->run, text, note);
    plot_size_rows(out, shown, chars);
}

static void write_bars(FILE *out, const struct view *view, const struct bars *bars,
                       struct plot_places *places)
{
    char name[PLOT_MAX_NAME], figures[96];
    int shown = bars->count < PLOT_MAX_ROWS ? bars->count : PLOT_MAX_ROWS;
    int chars = 0, right_chars = 0;
    double least = 1, greatest = 1;
    for (int i = 0; i < shown; i++) {
        bar_name(bars, &bars->bar[i], name);
        bar_figures(bars, &bars->bar[i], figures, sizeof figures);
        if (plot_width(name) > chars) chars = plot_width(name);
        if (plot_width(figures) > right_chars) right_chars = plot_width(figures);
        least = fmin(least, bars->bar[i].lo);
        greatest = fmax(greatest, bars->bar[i].hi);
    }
    write_head(out, view, bars, shown, chars);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "right_chars", right_chars);
    plot_setting_number(out, "together", bars->together);
    plot_setting_number(out, "left", least / 1.1);
    plot_setting_number(out, "right", greatest * 1.1);
    plot_block_end(out);
    for (int i = 0; i < shown; i++) {
        const struct bar *bar = &bars->bar[i];
        bar_name(bars, bar, name);
        bar_figures(bars, bar, figures, sizeof figures);
        plot_place_line(places, (int)(bar->row - view->rows), bar->cases, i);
        plot_text(out, name);
        fprintf(out, "\t%s\t%.9g\t%.9g\t%.9g\t%s\t%d\n",
                kind_name((enum assay_kind)bar->row->result.id.kind), bar->mid, bar->lo, bar->hi,
                figures, bar->cases);
    }
}

enum plot_outcome plot_speedup(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct bars bars = {0};
    enum plot_outcome outcome = PLOT_FAILED;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    int rows = bars_make(&bars, request, &view);
    if (rows == 0) outcome = plot_nothing(request, "no ok case has a baseline in its group");
    if (rows > 0) {
        write_bars(out, &view, &bars, request->places);
        outcome = PLOT_DRAWN;
    }
    free(bars.bar);
    view_release(&view);
    return outcome;
}
