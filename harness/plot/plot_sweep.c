/* plot_sweep.c - the data of plots/sweep.gp: one operation over its sizes. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "plot/plot_data.h"
#include "plot/sweep.h"

/* What the vertical axis is. */
enum measure { MEASURE_BYTES, MEASURE_OPS, MEASURE_TIME, MEASURES };

static const char *const measure_names[] = {"bytes", "ops", "time"};
static const char *const measure_titles[] = {"throughput", "throughput", "time"};

static const struct plot_scale *(*const measure_scale[])(double) = {plot_byte_rate, plot_op_rate,
                                                                    plot_time};

struct picture {
    const struct view *view;
    struct sweep sweep;
    enum measure measure;
    const struct plot_scale *scale;
    double left, right, low, top; /* extents of the axes */
    struct plot_places *places;   /* NULL: not wanted */
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

static void extent_add(struct picture *picture, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    double x = sweep_x(&picture->sweep, row);
    double a = value(picture, row, plot_or(result->lo_ns, result->time_ns));
    double b = value(picture, row, plot_or(result->hi_ns, result->time_ns));
    picture->left = fmin(picture->left, x);
    picture->right = fmax(picture->right, x);
    picture->low = fmin(picture->low, fmin(a, b));
    picture->top = fmax(picture->top, fmax(a, b));
}

static void extent(struct picture *picture)
{
    const struct sweep *sweep = &picture->sweep;
    const struct ceilings *ceilings = &picture->view->ceilings;
    picture->left = picture->low = INFINITY;
    picture->right = picture->top = 0;
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++)
            extent_add(picture, sweep->curve[c].rows[i]);
    for (int i = 0; i < ceilings->count; i++)
        if (is_drawn(picture, &ceilings->item[i]))
            picture->top = fmax(picture->top, ceilings->item[i].rate);
}

/* ------------------------------------------------------------------- lines -- */

static void line(FILE *out, char direction, double at, const char *label)
{
    fprintf(out, "%c\t%.9g\t", direction, at);
    plot_text(out, label);
    fputc('\n', out);
}

/* The sizes of the caches and the memory, for an axis in bytes. */
static void memory_lines(FILE *out, const struct device_info *device)
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
    if (device->memory_bytes > 0) {
        units_bytes(bytes, (double)device->memory_bytes);
        snprintf(text, sizeof text, "memory: %s", bytes);
        line(out, 'v', (double)device->memory_bytes, text);
    }
}

static void ceiling_lines(FILE *out, const struct picture *picture)
{
    const struct ceilings *ceilings = &picture->view->ceilings;
    for (int i = 0; i < ceilings->count; i++) {
        char text[128], rate[UNITS_MAX];
        const struct ceiling *c = &ceilings->item[i];
        if (!is_drawn(picture, c)) continue;
        if (picture->measure == MEASURE_OPS)
            units_ops(rate, c->rate, !strcmp(c->name, "int8"));
        else
            units_rate(rate, c->rate);
        snprintf(text, sizeof text, "ceiling %s: %s", c->name, rate);
        line(out, 'h', c->rate / picture->scale->factor, text);
    }
}

/* Times span decades. Rates usually do not; if they do, a linear axis would hide the lower
 * ones. */
static bool is_logarithmic(const struct picture *picture)
{
    return picture->measure == MEASURE_TIME || picture->top > 3 * picture->low;
}

/* ------------------------------------------------------------------ blocks -- */

static void head(FILE *out, const struct picture *picture)
{
    char text[512];
    const struct sweep *sweep = &picture->sweep;
    const char *unit = picture->scale->name;
    snprintf(text, sizeof text, "%s: %s against size  (%s)", sweep->operation,
             measure_titles[picture->measure], sweep->panel);
    plot_head(out, picture->view->run, text, NULL);
    plot_size(out, 1100, 540 + 22 * (sweep->count > 16 ? sweep->count - 16 : 0),
              sweep->count > 24 ? sweep->count + 8 : 32);
    snprintf(text, sizeof text, "%s (%s)", measure_titles[picture->measure], unit);
    plot_setting(out, "ylabel", text);
    snprintf(text, sizeof text, "size: %s", sweep->dim);
    plot_setting(out, "xlabel",
                 sweep->by_bytes ? "bytes moved (minimum that the operation reads and writes)"
                                 : text);
    plot_setting_number(out, "by_bytes", sweep->by_bytes);
    plot_setting_number(out, "logarithmic", is_logarithmic(picture));
    plot_setting_number(out, "low", picture->low / picture->scale->factor);
    plot_setting_number(out, "top", picture->top / picture->scale->factor);
    plot_setting_number(out, "left", picture->left / 1.3);
    plot_setting_number(out, "right", picture->right * 1.3);
    plot_block_end(out);
}

/* A rate falls as the time rises, so the ends of the interval are swapped. */
static void point(FILE *out, const struct picture *picture, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    double lo = plot_or(result->lo_ns, result->time_ns);
    double hi = plot_or(result->hi_ns, result->time_ns);
    double a = value(picture, row, lo), b = value(picture, row, hi);
    double factor = picture->scale->factor;
    double x = sweep_x(&picture->sweep, row), y = value(picture, row, result->time_ns) / factor;
    plot_place_point(picture->places, (int)(row - picture->view->rows), 0, x, y);
    fprintf(out, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n", x, y, fmin(a, b) / factor,
            fmax(a, b) / factor, result->time_ns, lo, hi);
}

static void write_sweep(FILE *out, const struct picture *picture)
{
    const struct sweep *sweep = &picture->sweep;
    const struct stored_run *run = picture->view->run;
    head(out, picture);
    for (int c = 0; c < sweep->count; c++) {
        plot_text(out, sweep->curve[c].variant);
        fprintf(out, "\t%s\n", kind_name((enum assay_kind)sweep->curve[c].kind));
    }
    plot_block_end(out);

    line(out, '-', 0, "none"); /* gnuplot does not count an empty block */
    if (run->launch_count && sweep->by_bytes) memory_lines(out, &run->launches[0].device);
    ceiling_lines(out, picture);
    plot_block_end(out);

    for (int c = 0; c < sweep->count; c++) {
        for (int i = 0; i < sweep->curve[c].count; i++)
            point(out, picture, sweep->curve[c].rows[i]);
        plot_block_end(out);
    }
}

static enum plot_outcome draw(FILE *out, struct picture *picture,
                              const struct plot_request *request)
{
    if (picture->sweep.sizes < 2)
        return plot_nothing(request, request->metric
                                         ? "no operation with two sizes for a --metric (bars draws "
                                           "the times at one)"
                                         : "no operation with two sizes");
    if (!request->metric) measure_choose(picture);
    extent(picture);
    picture->scale = measure_scale[picture->measure](picture->top);
    write_sweep(out, picture);
    return PLOT_DRAWN;
}

enum plot_outcome plot_sweep(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct picture picture = {.view = &view, .places = request->places};
    int measure = request->metric ? measure_find(request->metric) : MEASURE_BYTES;
    if (measure < 0 || view_make(&view, request->run)) return PLOT_FAILED;
    picture.measure = (enum measure)measure;
    enum plot_outcome outcome = PLOT_FAILED;
    struct sweep_filter filter = {request->operation, request->cases, request->only};
    int found = sweep_make(&picture.sweep, &view, &filter);
    if (found == 0) outcome = plot_nothing(request, "the run has no ok case");
    if (found > 0) {
        outcome = draw(out, &picture, request);
        sweep_release(&picture.sweep);
    }
    view_release(&view);
    return outcome;
}
