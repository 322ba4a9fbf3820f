/* plot_sweep.c - the data of plots/sweep.gp: one operation over its sizes. */
#include <string.h>

#include "plot/plot_data.h"
#include "plot/sweep.h"

/* What the vertical axis is. */
enum measure { MEASURE_BYTES, MEASURE_OPS, MEASURE_TIME, MEASURES };

static const char *const measure_names[] = {"bytes", "ops", "time"};
static const char *const measure_titles[] = {"throughput", "throughput", "time"};

static const struct plot_scale *(*const measure_scale[])(double) = {plot_byte_rate, plot_op_rate,
                                                                    plot_time};

struct picture {
    struct sweep sweep;
    enum measure measure;
    const struct plot_scale *scale;
    struct plot_extent extent;
};

/* ---------------------------------------------------------------- measures -- */

static double value(const struct picture *picture, const struct view_row *row, double time_ns)
{
    const struct assay_work *work = &row->result.work;
    if (picture->measure == MEASURE_TIME) return time_ns;
    return (picture->measure == MEASURE_OPS ? view_ops(work) : view_bytes(work)) / time_ns * 1e9;
}

/* -1 with assay_error. */
static int measure_find(const char *name)
{
    for (int i = 0; i < MEASURES; i++)
        if (!strcmp(name, measure_names[i])) return i;
    return assay_error("unknown metric '%s' of a sweep (bytes, ops or time)", name);
}

/* By default rates, in the unit of the sweep; time if it has no rates. */
static void measure_choose(struct picture *picture)
{
    const struct view_row *row = picture->sweep.curve[0].rows[0];
    picture->measure = picture->sweep.is_ops ? MEASURE_OPS : MEASURE_BYTES;
    if (!(value(picture, row, row->result.time_ns) > 0)) picture->measure = MEASURE_TIME;
}

/* ---------------------------------------------------------------- ceilings -- */

/* A ceiling is drawn when it binds a row of the picture. */
static bool binds(const struct sweep *sweep, const char *ceiling)
{
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++)
            if (!strcmp(sweep->curve[c].rows[i]->ceiling, ceiling)) return true;
    return false;
}

/* Only ceilings in the unit of the vertical axis are drawn. */
static bool is_drawn(const struct picture *picture, const struct ceiling *ceiling)
{
    enum measure own = plot_ceiling_is_ops(ceiling->name) ? MEASURE_OPS : MEASURE_BYTES;
    return picture->measure == own && binds(&picture->sweep, ceiling->name);
}

static void extent(struct picture *picture, const struct ceilings *ceilings)
{
    const struct sweep *sweep = &picture->sweep;
    picture->extent = PLOT_NO_EXTENT;
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++) {
            const struct view_row *row = sweep->curve[c].rows[i];
            double lo = plot_or(row->result.lo_ns, row->result.time_ns);
            double hi = plot_or(row->result.hi_ns, row->result.time_ns);
            plot_extend(&picture->extent, sweep_x(sweep, row), value(picture, row, lo));
            plot_extend(&picture->extent, sweep_x(sweep, row), value(picture, row, hi));
        }
    for (int i = 0; i < ceilings->count; i++)
        if (is_drawn(picture, &ceilings->item[i]))
            picture->extent.top = fmax(picture->extent.top, ceilings->item[i].rate);
}

/* ------------------------------------------------------------------- lines -- */

static void memory_line(struct plot *plot, const char *name, double size)
{
    char text[128], bytes[UNITS_MAX];
    if (!(size > 0)) return;
    units_bytes(bytes, size);
    snprintf(text, sizeof text, "%s: %s", name, bytes);
    plot_line(plot, NULL, text, "v\t%.9g", size);
}

/* The sizes of the caches and the memory, for an axis in bytes. */
static void memory_lines(struct plot *plot, const struct device_info *device)
{
    char l1[32];
    bool host = device->place == ASSAY_HOST;
    snprintf(l1, sizeof l1, "L1 x %d", device->multiprocessors);
    memory_line(plot, l1, (double)device->l1_bytes * device->multiprocessors);
    memory_line(plot, host ? "last-level cache" : "L2", (double)device->cache_bytes);
    memory_line(plot, "memory", (double)device->memory_bytes);
}

static void ceiling_lines(struct plot *plot, const struct picture *picture)
{
    const struct ceilings *ceilings = &plot->view.ceilings;
    for (int i = 0; i < ceilings->count; i++) {
        char text[128], rate[UNITS_MAX];
        const struct ceiling *c = &ceilings->item[i];
        if (!is_drawn(picture, c)) continue;
        plot_ceiling_rate(c, rate);
        snprintf(text, sizeof text, "ceiling %s: %s", c->name, rate);
        plot_line(plot, NULL, text, "h\t%.9g", c->rate / picture->scale->factor);
    }
}

/* ------------------------------------------------------------------ blocks -- */

static void head(struct plot *plot, const struct picture *picture)
{
    char text[128];
    const struct sweep *sweep = &picture->sweep;
    const struct plot_extent *e = &picture->extent;
    const char *measure = measure_titles[picture->measure];
    plot_title(plot, "%s: %s against size  (%s)", sweep->operation, measure, sweep->panel);
    plot_size(plot, 1100, 540 + 22 * (sweep->count > 16 ? sweep->count - 16 : 0),
              sweep->count > 24 ? sweep->count + 8 : 32);
    snprintf(text, sizeof text, "%s (%s)", measure, picture->scale->name);
    plot_setting(plot, "ylabel", text);
    snprintf(text, sizeof text, "size: %s", sweep->dim);
    plot_setting(plot, "xlabel",
                 sweep->by_bytes ? "bytes moved (minimum that the operation reads and writes)"
                                 : text);
    plot_setting_number(plot, "by_bytes", sweep->by_bytes);
    /* Times span decades. Rates usually do not; if they do, a linear axis would hide the lower
     * ones. */
    plot_setting_number(plot, "logarithmic",
                        picture->measure == MEASURE_TIME || e->top > 3 * e->low);
    plot_setting_number(plot, "low", e->low / picture->scale->factor);
    plot_setting_number(plot, "top", e->top / picture->scale->factor);
    plot_setting_number(plot, "left", e->left / 1.3);
    plot_setting_number(plot, "right", e->right * 1.3);
}

/* A rate falls as the time rises, so the ends of the interval are swapped. */
static void point(struct plot *plot, const struct picture *picture, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    double lo = plot_or(result->lo_ns, result->time_ns);
    double hi = plot_or(result->hi_ns, result->time_ns);
    double a = value(picture, row, lo), b = value(picture, row, hi);
    double factor = picture->scale->factor;
    double x = sweep_x(&picture->sweep, row), y = value(picture, row, result->time_ns) / factor;
    plot_link_point(plot, row, 0, x, y);
    fprintf(plot->out, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n", x, y, fmin(a, b) / factor,
            fmax(a, b) / factor, result->time_ns, lo, hi);
}

static void write_sweep(struct plot *plot, const struct picture *picture)
{
    const struct sweep *sweep = &picture->sweep;
    const struct stored_run *run = plot->request->run;
    head(plot, picture);
    for (int c = 0; c < sweep->count; c++)
        plot_line(plot, sweep->curve[c].variant, NULL, "%s",
                  kind_name((enum assay_kind)sweep->curve[c].kind));
    plot_block_end(plot);

    plot_line(plot, NULL, "none", "-\t0"); /* gnuplot does not count an empty block */
    if (run->launch_count && sweep->by_bytes) memory_lines(plot, &run->launches[0].device);
    ceiling_lines(plot, picture);
    plot_block_end(plot);

    for (int c = 0; c < sweep->count; c++) {
        for (int i = 0; i < sweep->curve[c].count; i++)
            point(plot, picture, sweep->curve[c].rows[i]);
        plot_block_end(plot);
    }
}

enum plot_outcome plot_sweep(struct plot *plot)
{
    struct picture picture = {0};
    const char *metric = plot->request->metric;
    int measure = metric ? measure_find(metric) : MEASURE_BYTES;
    if (measure < 0) return PLOT_FAILED;
    picture.measure = (enum measure)measure;
    int found = sweep_make(&picture.sweep, &plot->view, plot->request);
    if (found == 0) plot_nothing(plot, "the run has no ok case");
    if (found > 0 && picture.sweep.sizes < 2) {
        plot_nothing(plot, metric ? "no operation with two sizes for a --metric (bars draws "
                                    "the times at one)"
                                  : "no operation with two sizes");
        found = 0;
    }
    if (found > 0) {
        if (!metric) measure_choose(&picture);
        extent(&picture, &plot->view.ceilings);
        picture.scale = measure_scale[picture.measure](picture.extent.top);
        write_sweep(plot, &picture);
    }
    sweep_release(&picture.sweep);
    return found < 0 ? PLOT_FAILED : found ? PLOT_DRAWN : PLOT_NOTHING;
}
