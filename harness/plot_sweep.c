/* plot_sweep.c - the data of plots/sweep.gp and, for one size, plots/bars.gp. */
#include <math.h>
#include <string.h>

#include "plot.h"
#include "sweep.h"
#include "units.h"

struct picture {
    const struct view *view;
    struct sweep sweep;
};

/* A unit and how many of the base unit it is. */
struct scale {
    double factor;
    const char *name;
};

static const struct scale byte_rates[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1, "B/s"}};
static const struct scale op_rates[] = {
    {1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1, "FLOP/s"}};
static const struct scale times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};

enum { SCALES = 4 };

/* The first unit of which `largest` is at least one. */
static const struct scale *scale_for(const struct scale *scales, double largest)
{
    for (int i = 0; i < SCALES - 1; i++)
        if (largest >= scales[i].factor) return &scales[i];
    return &scales[SCALES - 1];
}

/* ---------------------------------------------------------------- settings -- */

static void setting(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s\t", name);
    plot_text(out, value);
    fputc('\n', out);
}

static void setting_number(FILE *out, const char *name, double value)
{
    fprintf(out, "%s\t%.9g\n", name, value);
}

/* "NVIDIA H200, driver 580.159.04, clock cupti; run 3f2a91c0, 2026-01-02" */
static void subtitle(FILE *out, const struct stored_run *run)
{
    char text[512];
    const struct device_info *device = run->launch_count ? &run->launches[0].device : NULL;
    int used = 0;
    if (device)
        used = snprintf(text, sizeof text, "%s%s, %s %s, clock %s; ",
                        device->simulated ? "SIMULATED " : "", device->name,
                        device->place == ASSAY_HOST ? "kernel" : "driver", device->driver,
                        clock_name((enum clock_source)device->clock));
    snprintf(text + used, sizeof text - (size_t)used, "run %.8s, %.10s", run->run.id,
             run->started_at);
    setting(out, "subtitle", text);
}

static void title(FILE *out, const struct sweep *sweep, const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%s: %s  (%s)", sweep->operation, what, sweep->panel);
    setting(out, "title", text);
}

static void block_end(FILE *out)
{
    fputs("\n\n", out);
}

/* ------------------------------------------------------------------- sweep -- */

/* A ceiling is drawn when it binds a row of the picture. */
static bool binds(const struct sweep *sweep, const char *ceiling)
{
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++)
            if (!strcmp(sweep->curve[c].rows[i]->ceiling, ceiling)) return true;
    return false;
}

static bool ceiling_is_ops(const char *name)
{
    for (int a = 0; a < ASSAY_ARITHMETICS; a++)
        if (!strcmp(name, arithmetic_name((enum assay_arithmetic)a))) return true;
    return false;
}

/* Ceilings of the sweep's own unit only: the others have no place on its axis. */
static bool is_drawn(const struct sweep *sweep, const struct ceiling *ceiling)
{
    return binds(sweep, ceiling->name) && ceiling_is_ops(ceiling->name) == sweep->is_ops;
}

struct extent {
    double left, right, top;
};

static void extent_add(struct extent *extent, const struct sweep *sweep, const struct view_row *row)
{
    double bytes = view_bytes(&row->result.work);
    double lo = row->result.lo_ns;
    extent->left = fmin(extent->left, bytes);
    extent->right = fmax(extent->right, bytes);
    extent->top = fmax(extent->top, sweep_rate(sweep, row, isnan(lo) ? row->result.time_ns : lo));
}

static struct extent extent_of(const struct picture *picture)
{
    const struct sweep *sweep = &picture->sweep;
    const struct ceilings *ceilings = &picture->view->ceilings;
    struct extent extent = {INFINITY, 0, 0};
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++)
            extent_add(&extent, sweep, sweep->curve[c].rows[i]);
    for (int i = 0; i < ceilings->count; i++)
        if (is_drawn(sweep, &ceilings->item[i]))
            extent.top = fmax(extent.top, ceilings->item[i].rate);
    return extent;
}

static void line(FILE *out, char way, double at, const char *label)
{
    fprintf(out, "%c\t%.9g\t", way, at);
    plot_text(out, label);
    fputc('\n', out);
}

static void cache_lines(FILE *out, const struct device_info *device)
{
    char text[128], bytes[UNITS_MAX];
    bool host = device->place == ASSAY_HOST;
    double l1 = (double)device->l1_bytes * device->multiprocessors;
    if (device->l1_bytes > 0 && device->multiprocessors > 0) {
        units_bytes(bytes, l1);
        snprintf(text, sizeof text, "L1 x %d: %s", device->multiprocessors, bytes);
        line(out, 'v', l1, text);
    }
    if (device->cache_bytes > 0) {
        units_bytes(bytes, (double)device->cache_bytes);
        snprintf(text, sizeof text, "%s: %s", host ? "last-level cache" : "L2", bytes);
        line(out, 'v', (double)device->cache_bytes, text);
    }
}

static void ceiling_lines(FILE *out, const struct picture *picture, const struct scale *scale)
{
    const struct ceilings *ceilings = &picture->view->ceilings;
    for (int i = 0; i < ceilings->count; i++) {
        char text[128];
        const struct ceiling *c = &ceilings->item[i];
        if (!is_drawn(&picture->sweep, c)) continue;
        snprintf(text, sizeof text, "ceiling %s: %.3g %s", c->name, c->rate / scale->factor,
                 scale->name);
        line(out, 'h', c->rate / scale->factor, text);
    }
}

/* A rate falls as a time rises, so the interval's ends change places. */
static void point(FILE *out, const struct sweep *sweep, const struct view_row *row,
                  const struct scale *scale)
{
    const struct case_result *result = &row->result;
    double lo = isnan(result->lo_ns) ? result->time_ns : result->lo_ns;
    double hi = isnan(result->hi_ns) ? result->time_ns : result->hi_ns;
    fprintf(out, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n", view_bytes(&result->work),
            sweep_rate(sweep, row, result->time_ns) / scale->factor,
            sweep_rate(sweep, row, hi) / scale->factor, sweep_rate(sweep, row, lo) / scale->factor,
            result->time_ns, lo, hi);
}

static int write_sweep(FILE *out, const void *context)
{
    const struct picture *picture = context;
    const struct sweep *sweep = &picture->sweep;
    const struct stored_run *run = picture->view->run;
    struct extent extent = extent_of(picture);
    const struct scale *scale = scale_for(sweep->is_ops ? op_rates : byte_rates, extent.top);

    title(out, sweep, "throughput against size");
    subtitle(out, run);
    setting(out, "unit", scale->name);
    setting_number(out, "top", 1.05 * extent.top / scale->factor);
    setting_number(out, "left", extent.left / 1.3);
    setting_number(out, "right", extent.right * 1.3);
    block_end(out);

    for (int c = 0; c < sweep->count; c++) {
        plot_text(out, sweep->curve[c].variant);
        fprintf(out, "\t%s\n", kind_name((enum assay_kind)sweep->curve[c].kind));
    }
    block_end(out);

    line(out, '-', 0, "none"); /* gnuplot counts no block that is empty */
    if (run->launch_count) cache_lines(out, &run->launches[0].device);
    ceiling_lines(out, picture, scale);
    block_end(out);

    for (int c = 0; c < sweep->count; c++) {
        fprintf(out, "# %s\n", sweep->curve[c].variant);
        for (int i = 0; i < sweep->curve[c].count; i++)
            point(out, sweep, sweep->curve[c].rows[i], scale);
        block_end(out);
    }
    return 0;
}

/* -------------------------------------------------------------------- bars -- */

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

static int write_bars(FILE *out, const void *context)
{
    const struct picture *picture = context;
    const struct sweep *sweep = &picture->sweep;
    const struct view *view = picture->view;
    double longest = 0;
    for (int c = 0; c < sweep->count; c++)
        longest = fmax(longest, fmax(sweep->curve[c].rows[0]->result.time_ns,
                                     sweep->curve[c].rows[0]->result.hi_ns));
    const struct scale *scale = scale_for(times, longest);

    title(out, sweep, "time of each variant");
    subtitle(out, view->run);
    setting(out, "unit", scale->name);
    setting_number(out, "top", 1.2 * longest / scale->factor); /* room for the labels */
    block_end(out);

    /* The view's order is by time; the sweep's is not. */
    for (int i = 0; i < view->count; i++)
        for (int c = 0; c < sweep->count; c++) {
            const struct view_row *row = sweep->curve[c].rows[0];
            const struct case_result *result = &row->result;
            if (row != &view->rows[i]) continue;
            plot_text(out, result->id.variant);
            fprintf(out, "\t%s\t%.9g\t%.9g\t%.9g\t", kind_name((enum assay_kind)result->id.kind),
                    result->time_ns / scale->factor,
                    (isnan(result->lo_ns) ? result->time_ns : result->lo_ns) / scale->factor,
                    (isnan(result->hi_ns) ? result->time_ns : result->hi_ns) / scale->factor);
            bar_label(out, row);
            fputc('\n', out);
        }
    return 0;
}

/* ------------------------------------------------------------------- either -- */

static enum plot_outcome nothing(const struct plot_options *options)
{
    assay_error("nothing to draw: the run has no ok case%s%s%s%s",
                options->operation ? " of operation " : "",
                options->operation ? options->operation : "", options->only ? " with " : "",
                options->only ? options->only : "");
    return PLOT_NOTHING;
}

enum plot_outcome plot_sweep(const struct stored_run *run, const struct plot_options *options)
{
    struct view view;
    struct picture picture = {.view = &view};
    if (view_make(&view, run)) return PLOT_FAILED;
    enum plot_outcome outcome = PLOT_FAILED;
    int found = sweep_make(&picture.sweep, &view, options->operation, options->only);
    if (found == 0) outcome = nothing(options);
    if (found > 0) {
        bool curves = picture.sweep.sizes > 1;
        int failed = plot_draw(curves ? "sweep.gp" : "bars.gp", curves ? write_sweep : write_bars,
                               &picture, options);
        outcome = failed ? PLOT_FAILED : PLOT_DRAWN;
        sweep_release(&picture.sweep);
    }
    view_release(&view);
    return outcome;
}
