/* plot_sweep.c - the data of plots/sweep.gp: one operation over its sizes. */
#include <string.h>

#include "plot/plot_data.h"
#include "plot/sweep.h"
#include "show/show.h"

static const char *const quantity_names[] = {"bytes", "ops", "time"};
enum { QUANTITIES = sizeof quantity_names / sizeof quantity_names[0] };

struct picture {
    struct sweep sweep;
    enum plot_quantity quantity;
    const struct plot_scale *scale;
    struct plot_extent extent;
};

static double value(const struct picture *picture, const struct view_row *row, double time_ns)
{
    const struct case_work *work = &row->result.work;
    if (picture->quantity == PLOT_TIME) return time_ns;
    return (picture->quantity == PLOT_OP_RATE ? view_ops(work) : view_bytes(work)) / time_ns * 1e9;
}

static int quantity_find(const char *name)
{
    for (int i = 0; i < QUANTITIES; i++)
        if (!strcmp(name, quantity_names[i])) return i;
    return assay_error("unknown metric '%s' of a sweep (bytes, ops or time)", name);
}

/* By default rates, in the unit of the sweep; time if it has no rates. */
static void quantity_choose(struct picture *picture)
{
    const struct view_row *row = picture->sweep.curve[0].point[0].row;
    picture->quantity = picture->sweep.is_ops ? PLOT_OP_RATE : PLOT_BYTE_RATE;
    if (!(value(picture, row, row->result.time_ns) > 0)) picture->quantity = PLOT_TIME;
}

static bool binds(const struct sweep *sweep, const char *ceiling)
{
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++)
            if (!strcmp(sweep->curve[c].point[i].row->ceiling, ceiling)) return true;
    return false;
}

/* Only ceilings in the unit of the vertical axis are drawn, and whose rate is known. */
static bool is_drawn(const struct picture *picture, const struct ceiling *ceiling)
{
    enum plot_quantity own = view_arithmetic(ceiling->name) >= 0 ? PLOT_OP_RATE : PLOT_BYTE_RATE;
    return !isnan(ceiling->rate) && picture->quantity == own &&
           binds(&picture->sweep, ceiling->name);
}

static void extent(struct picture *picture, const struct ceilings *ceilings)
{
    const struct sweep *sweep = &picture->sweep;
    picture->extent = PLOT_NO_EXTENT;
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++) {
            const struct sweep_point *p = &sweep->curve[c].point[i];
            struct interval time = plot_time_of(&p->row->result);
            plot_extend(&picture->extent, sweep_x(sweep, p), value(picture, p->row, time.lo));
            plot_extend(&picture->extent, sweep_x(sweep, p), value(picture, p->row, time.hi));
        }
    for (int i = 0; i < ceilings->count; i++)
        if (is_drawn(picture, &ceilings->item[i]))
            picture->extent.top = fmax(picture->extent.top, ceilings->item[i].rate);
}

static void memory_line(struct plot *plot, const char *name, double size)
{
    char text[128], bytes[UNITS_MAX];
    if (!(size > 0)) return;
    snprintf(text, sizeof text, "%s: %s", name, units_bytes(bytes, size));
    plot_line(plot, NULL, text, "v\t%.9g", size);
}

/* Whether the sizes of the device's memories say something about the sweep: its axis is in bytes,
 * and they do not cross the link. */
static bool has_memory_lines(const struct sweep *sweep)
{
    const struct view_row *row = sweep->curve[0].point[0].row;
    return sweep->by_bytes && !view_work(&row->result).over_link;
}

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
        show_ceiling_rate(rate, c);
        snprintf(text, sizeof text, "%s %s", c->name, rate);
        plot_line(plot, NULL, text, "h\t%.9g", c->rate / picture->scale->factor);
    }
}

static void head(struct plot *plot, const struct picture *picture)
{
    char text[128];
    const struct sweep *sweep = &picture->sweep;
    const struct plot_extent *e = &picture->extent;
    const char *what = picture->quantity == PLOT_TIME ? "time" : "throughput";
    plot_title(plot, "%s: %s against size  (%s)", sweep->operation, what, sweep->panel);
    plot_size(plot, 1100, 540 + 22 * (sweep->count > 16 ? sweep->count - 16 : 0),
              sweep->count > 24 ? sweep->count + 8 : 32);
    snprintf(text, sizeof text, "%s (%s)", what, picture->scale->name);
    plot_setting(plot, "ylabel", text);
    snprintf(text, sizeof text, "size: %s", sweep->dim);
    plot_setting(plot, "xlabel",
                 sweep->by_bytes ? "bytes moved (minimum that the operation reads and writes)"
                                 : text);
    plot_setting_number(plot, "by_bytes", sweep->by_bytes);
    /* Times span decades. Rates usually do not; if they do, a linear axis would hide the lower
     * ones. */
    plot_setting_number(plot, "logarithmic", picture->quantity == PLOT_TIME || e->top > 3 * e->low);
    plot_setting_number(plot, "low", e->low / picture->scale->factor);
    plot_setting_number(plot, "top", e->top / picture->scale->factor);
    plot_setting_number(plot, "left", e->left / 1.3);
    plot_setting_number(plot, "right", e->right * 1.3);
}

/* A rate falls as the time rises, so the ends of the interval are swapped. */
static void point(struct plot *plot, const struct picture *picture, const struct sweep_point *p)
{
    const struct view_row *row = p->row;
    struct interval time = plot_time_of(&row->result);
    double factor = picture->scale->factor, x = sweep_x(&picture->sweep, p);
    double y = value(picture, row, time.mid) / factor;
    double a = value(picture, row, time.lo) / factor, b = value(picture, row, time.hi) / factor;
    fprintf(plot->out, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n", x, y, fmin(a, b), fmax(a, b),
            time.mid, time.lo, time.hi);
}

static void write_sweep(struct plot *plot, const struct picture *picture)
{
    const struct sweep *sweep = &picture->sweep;
    const struct stored_run *run = plot->request->run;
    head(plot, picture);
    for (int c = 0; c < sweep->count; c++)
        plot_line(plot, sweep->curve[c].variant, NULL, "%s", kind_name(sweep->curve[c].kind));
    plot_block_end(plot);

    plot_line(plot, NULL, "none", "-\t0"); /* gnuplot does not count an empty block */
    if (run->launch_count && has_memory_lines(sweep)) memory_lines(plot, &run->launches[0].device);
    ceiling_lines(plot, picture);
    plot_block_end(plot);

    for (int c = 0; c < sweep->count; c++) {
        for (int i = 0; i < sweep->curve[c].count; i++)
            point(plot, picture, &sweep->curve[c].point[i]);
        plot_block_end(plot);
    }
}

enum plot_outcome plot_sweep(struct plot *plot)
{
    struct picture picture = {0};
    const char *metric = plot->request->metric;
    int quantity = metric ? quantity_find(metric) : PLOT_BYTE_RATE;
    if (quantity < 0) return PLOT_FAILED;
    picture.quantity = quantity;
    int found = sweep_make(&picture.sweep, plot);
    if (found < 0) return PLOT_FAILED;
    if (found == 0) return plot_nothing(plot, "no case has a time");
    if (picture.sweep.sizes < 2)
        return plot_nothing(plot, metric ? "no operation with two sizes for a --metric (bars draws "
                                           "the times at one)"
                                         : "no operation with two sizes");
    if (!metric) quantity_choose(&picture);
    extent(&picture, &plot->view.ceilings);
    picture.scale = plot_scale(picture.quantity, picture.extent.top);
    write_sweep(plot, &picture);
    return PLOT_DRAWN;
}
