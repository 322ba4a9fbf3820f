/* plot_roof.c - the ceilings of a roofline: which of them the cases are held against, and the
 * labels at their lines. */
#include <stdlib.h>
#include <string.h>

#include "plot/plot_data.h"
#include "show/show.h"

/* Lines closer than this, in decades of the axis, share a label: the height of a text. */
static const double LABEL_SHARE = 0.045;

struct finder {
    struct plot *plot;
    const char *device;
    char id[STORE_ID], started_at[32];
    bool found;
};

/* Whether this run has ceilings; if so they become those of the plot. -1: stop looking. */
static int take_from(const struct run_line *line, void *context)
{
    struct finder *finder = context;
    struct stored_run run = {0};
    struct view view = {0};
    if (strcmp(line->device, finder->device) != 0) return 0;
    if (store_read_run(finder->plot->request->store, line->id, false, &run) == 0 &&
        view_make(&view, &run) == 0 && view.ceilings.count > 0) {
        finder->plot->view.ceilings = view.ceilings;
        snprintf(finder->id, sizeof finder->id, "%s", line->id);
        snprintf(finder->started_at, sizeof finder->started_at, "%s", line->started_at);
        finder->found = true;
    }
    view_release(&view);
    stored_run_release(&run);
    return finder->found ? -1 : 0;
}

int roof_find(struct plot *plot)
{
    const struct stored_run *run = plot->request->run;
    struct view *view = &plot->view;
    struct finder finder = {.plot = plot};
    if (view->ceilings.count > 0) return 0;
    if (plot->request->store && run->launch_count) {
        finder.device = run->launches[0].device.name;
        if (store_each_run(plot->request->store, false, take_from, &finder) < 0 && !finder.found)
            return -1;
    }
    if (!finder.found) {
        plot_note(plot, "; ", "ceilings were not measured (assay run ceilings)");
        return 0;
    }
    for (int i = 0; i < view->count; i++)
        view_row_ceiling(&view->rows[i], view);
    plot_note(plot, "; ", "ceilings of run %.8s, %.10s", finder.id, finder.started_at);
    return 0;
}

/* A line: of operations (h), of bytes (d), or of bytes in the second panel alone (m). */
struct line {
    char style;
    const struct ceiling *ceiling;
};

/* A ceiling that no case comes near, as memory for the wait for an allocation, tells nothing. */
static const double FAR_BELOW = 1e-3;

/* A ceiling is drawn if it binds a case or limits an arithmetic that a case uses; 0: not. */
static char style_of(const struct plot *plot, const struct ceiling *ceiling)
{
    char style = 0;
    int arithmetic = view_arithmetic(ceiling->name);
    if (isnan(ceiling->rate)) return 0; /* measured by a noisy case */
    for (int i = 0; i < plot->count; i++) {
        const struct view_row *row = plot->row[i];
        bool binds = !strcmp(row->ceiling, ceiling->name) && !(row->ceiling_fraction < FAR_BELOW);
        if (arithmetic >= 0) {
            if (binds || row->result.work.ops[arithmetic] > 0) return 'h';
        } else if (binds) {
            style = 'm';
            if (view_ops(&row->result.work) > 0) return 'd';
        }
    }
    return style;
}

/* "memory" of "memory_copy": lines of one level share the word. */
static int stem(const char *name)
{
    const char *end = strrchr(name, '_');
    return (int)(end ? end - name : (long)strlen(name));
}

static bool same_stem(const char *a, const char *b)
{
    return stem(a) == stem(b) && !strncmp(a, b, (size_t)stem(a));
}

/* Those of operations first, then memory by memory; the highest first. */
static int line_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if ((x->style == 'h') != (y->style == 'h')) return x->style == 'h' ? -1 : 1;
    if (x->style != 'h' && !same_stem(x->ceiling->name, y->ceiling->name))
        return strcmp(x->ceiling->name, y->ceiling->name);
    double difference = y->ceiling->rate - x->ceiling->rate;
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(x->ceiling->name, y->ceiling->name);
}

/* Lines of one memory do, and those of operations that are close. */
static bool shares_label(const struct line *above, const struct line *line, double decades)
{
    if ((above->style == 'h') != (line->style == 'h')) return false;
    if (line->style != 'h') return same_stem(above->ceiling->name, line->ceiling->name);
    return log10(above->ceiling->rate / line->ceiling->rate) < LABEL_SHARE * decades;
}

/* "memory 4.35 to 4.70 TB/s", "bf16 800 TFLOP/s": the label of the lines that share the first's,
 * which is the highest of them. */
static void label_of(const struct line *line, int count, double decades, char *out, size_t size)
{
    char high[UNITS_MAX], low[UNITS_MAX];
    const struct ceiling *lowest = line[0].ceiling;
    snprintf(out, size, "%.*s", stem(lowest->name), lowest->name);
    for (int i = 1; i < count && shares_label(&line[0], &line[i], decades); i++) {
        const char *name = line[i].ceiling->name;
        lowest = line[i].ceiling;
        if (line[0].style == 'h') text_add(out, size, ", ", "%.*s", stem(name), name);
    }
    show_ceiling_rate(high, line[0].ceiling);
    show_ceiling_rate(low, lowest);
    const char *unit = strchr(low, ' '), *other = strchr(high, ' ');
    bool same = unit && other && !strcmp(unit, other);
    if (strcmp(low, high))
        text_add(out, size, " ", "%.*s to", same ? (int)(unit - low) : UNITS_MAX, low);
    text_add(out, size, " ", "%s", high);
}

static int lines_of(const struct plot *plot, struct line line[CEILING_MAX])
{
    const struct ceilings *ceilings = &plot->view.ceilings;
    int count = 0;
    for (int i = 0; i < ceilings->count; i++) {
        char style = style_of(plot, &ceilings->item[i]);
        if (style) line[count++] = (struct line){style, &ceilings->item[i]};
    }
    qsort(line, (size_t)count, sizeof line[0], line_order);
    return count;
}

static void widen(struct plot_extent extent[2], const struct line *line, int count)
{
    double ops = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        double rate = line[i].ceiling->rate;
        if (line[i].style == 'h') ops = fmax(ops, rate);
        if (line[i].style == 'd') bytes = fmax(bytes, rate);
        if (line[i].style != 'h') extent[1].top = fmax(extent[1].top, rate);
    }
    extent[0].top = fmax(extent[0].top, ops);
    if (ops > 0 && bytes > 0) {
        extent[0].right = fmax(extent[0].right, ops / bytes);
        extent[0].left = fmin(extent[0].left, ops / bytes);
    }
    for (int p = 0; p < 2; p++) {
        extent[p].left /= 3, extent[p].right *= 3;
        extent[p].low /= 2, extent[p].top *= 2;
    }
}

void roof_write(struct plot *plot, struct plot_extent extent[2])
{
    struct line line[CEILING_MAX];
    int count = lines_of(plot, line);
    widen(extent, line, count);
    double decades = log10(extent[0].top / extent[0].low);
    if (!(decades > 0)) decades = log10(extent[1].top / extent[1].low);
    fputs("-\t0\tnone\n", plot->out); /* gnuplot does not count an empty block */
    for (int first = 0, end; first < count; first = end) {
        char label[256];
        end = first + 1;
        while (end < count && shares_label(&line[first], &line[end], decades))
            end++;
        label_of(&line[first], end - first, decades, label, sizeof label);
        int labelled = first; /* a line that both panels have, if there is one */
        while (labelled < end - 1 && line[labelled].style == 'm')
            labelled++;
        if (line[labelled].style == 'm') labelled = first;
        for (int i = first; i < end; i++)
            plot_line(plot, NULL, i == labelled ? label : "-", "%c\t%.9g", line[i].style,
                      line[i].ceiling->rate);
    }
    plot_block_end(plot);
}
