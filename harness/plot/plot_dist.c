/* plot_dist.c - the data of plots/dist.gp: the distributions of the times of one group's
 * cases, as cumulative distributions and as densities. */
#include "base/stats.h"
#include "judge/timings.h"
#include "plot/plot_data.h"

enum {
    MOST_CURVES = 8,
    STEPS = 300,         /* points of a cumulative distribution */
    GRID = 160,          /* points of a density */
    ENOUGH_LAUNCHES = 6, /* from this many on, the values are medians of launches, not samples */
};

/* Variants slower than this multiple of the fastest are left out, so that its curve is wide
 * enough to see. */
static const double widest = 1.6;

struct curve {
    const struct view_row *row;
    double *value; /* ns, sorted */
    int count;
    double bandwidth_ns; /* of its density */
};

struct dist {
    struct curve curve[MOST_CURVES];
    int count, slower; /* drawn, and left out */
    bool launches;
};

/* -------------------------------------------------------------------- values -- */

static bool is_case(const struct stored_case *stored, const struct view_row *row)
{
    return status_has_time(stored->result.status) && stored->purpose == row->stored->purpose &&
           case_id_order(&stored->result.id, &row->result.id) == 0;
}

static void values_add(struct curve *curve, const struct case_result *result, bool launches)
{
    const struct samples *samples = &result->samples;
    if (launches) curve->value[curve->count++] = result->time_ns;
    for (int i = 0; i < samples->count && !launches; i++)
        if (!samples->mark || !samples->mark[i]) curve->value[curve->count++] = samples->time_ns[i];
}

/* Silverman's rule (Density Estimation, 1986, section 3.4.2) in its robust form, but not
 * below the resolution of the clock. */
static double bandwidth(const struct curve *curve, double step_ns)
{
    double sum = 0, squares = 0, n = curve->count;
    for (int i = 0; i < curve->count; i++)
        sum += curve->value[i];
    for (int i = 0; i < curve->count; i++)
        squares += pow(curve->value[i] - sum / n, 2);
    double sigma = sqrt(squares / n);
    double quartiles = stats_quantile_sorted(curve->value, curve->count, 0.75) -
                       stats_quantile_sorted(curve->value, curve->count, 0.25);
    if (quartiles > 0) sigma = fmin(sigma, quartiles / 1.34);
    double least = fmax(plot_or(step_ns, 0) / 2, 0.0005 * sum / n);
    return fmax(0.9 * sigma * pow(n, -0.2), least);
}

static int curve_make(struct plot *plot, struct curve *curve, const struct view_row *row,
                      bool launches)
{
    const struct stored_run *run = plot->request->run;
    int most = 0;
    for (int i = 0; i < run->case_count; i++)
        if (is_case(&run->cases[i], row)) most += 1 + run->cases[i].result.samples.count;
    *curve = (struct curve){.row = row, .value = plot_alloc(plot, most, sizeof(double))};
    if (!curve->value) return -1;
    for (int i = 0; i < run->case_count; i++)
        if (is_case(&run->cases[i], row)) values_add(curve, &run->cases[i].result, launches);
    stats_sort(curve->value, curve->count);
    double step_ns = run->launch_count ? run->launches[0].device.clock_step_ns : NAN;
    if (curve->count) curve->bandwidth_ns = bandwidth(curve, step_ns);
    return 0;
}

/* Take the fastest variants of the group that is kept; its rows are sorted by time. */
static int dist_make(struct dist *dist, struct plot *plot)
{
    dist->launches = plot->row[0]->launches >= ENOUGH_LAUNCHES;
    for (int i = 0; i < plot->count; i++) {
        const struct view_row *row = plot->row[i];
        if (dist->count == MOST_CURVES ||
            row->result.time_ns > widest * plot->row[0]->result.time_ns) {
            dist->slower++;
            continue;
        }
        struct curve *curve = &dist->curve[dist->count];
        if (curve_make(plot, curve, row, dist->launches)) return -1;
        dist->count += curve->count > 0;
    }
    return 0;
}

/* ------------------------------------------------------------------- density -- */

static double density(const struct curve *curve, double at, double h)
{
    double sum = 0;
    for (int i = 0; i < curve->count; i++) {
        double z = (at - curve->value[i]) / h;
        if (fabs(z) < 5) sum += exp(-0.5 * z * z);
    }
    return sum / curve->count / h;
}

static void density_write(struct plot *plot, const struct curve *curve, double left, double right,
                          double factor)
{
    double value[GRID + 1], most = 0;
    for (int i = 0; i <= GRID; i++) {
        value[i] = density(curve, left + (right - left) * i / GRID, curve->bandwidth_ns);
        most = fmax(most, value[i]);
    }
    for (int i = 0; i <= GRID; i++)
        fprintf(plot->out, "%.9g\t%.4g\n", (left + (right - left) * i / GRID) / factor,
                most > 0 ? value[i] / most : 0);
    plot_block_end(plot);
}

static void shares_write(struct plot *plot, const struct curve *curve, double factor)
{
    int step = curve->count > STEPS ? curve->count / STEPS : 1;
    fprintf(plot->out, "%.9g\t0\n", curve->value[0] / factor);
    for (int i = 0; i < curve->count; i += step)
        fprintf(plot->out, "%.9g\t%.6g\n", curve->value[i] / factor, (i + 1.0) / curve->count);
    fprintf(plot->out, "%.9g\t1\n", curve->value[curve->count - 1] / factor);
    plot_block_end(plot);
}

/* ------------------------------------------------------------------- writing -- */

/* The axis leaves out the outermost half per cent, so that one outlier does not set it, and has
 * space for the tails of the densities, which reach three bandwidths beyond the values. */
static void axis(const struct dist *dist, double *left, double *right)
{
    *left = INFINITY, *right = 0;
    for (int i = 0; i < dist->count; i++) {
        const struct curve *c = &dist->curve[i];
        double tail = 3 * c->bandwidth_ns;
        int outermost = c->count / 200;
        *left = fmin(*left, c->value[outermost] - tail);
        *right = fmax(*right, c->value[c->count - 1 - outermost] + tail);
    }
    double margin = fmax(0.02 * (*right - *left), 0.002 * *right);
    *left -= margin;
    *right += margin;
}

static int beyond(const struct dist *dist, double left, double right)
{
    int count = 0;
    for (int c = 0; c < dist->count; c++)
        for (int i = 0; i < dist->curve[c].count; i++)
            count += dist->curve[c].value[i] < left || dist->curve[c].value[i] > right;
    return count;
}

static void write_dist(struct plot *plot, const struct dist *dist)
{
    double left, right;
    const struct case_id *id = &plot->row[0]->result.id;
    axis(dist, &left, &right);
    const struct plot_scale *scale = plot_scale(PLOT_TIME, right);
    for (int i = 0; i < dist->count; i++) {
        const struct curve *c = &dist->curve[i];
        plot_line(plot, c->row->result.id.variant, NULL, "%s\t%d\t%.9g",
                  kind_name(c->row->result.id.kind), c->count,
                  stats_quantile_sorted(c->value, c->count, 0.5) / scale->factor);
    }
    plot_block_end(plot);
    for (int i = 0; i < dist->count; i++)
        shares_write(plot, &dist->curve[i], scale->factor);
    for (int i = 0; i < dist->count; i++)
        density_write(plot, &dist->curve[i], left, right, scale->factor);
    plot_title(plot, "%s: distribution of %s  (%s %s)", id->operation,
               dist->launches ? "the medians of launches" : "samples", id->shape,
               temperature_name(id->temperature));
    int outside = beyond(dist, left, right);
    if (outside) plot_note(plot, "", "beyond the frame: %d", outside);
    if (dist->slower) plot_note(plot, "; ", "slower variants left out: %d", dist->slower);
    plot_size(plot, 1100, 480 + 44 * dist->count, 34 + dist->count);
    plot_setting(plot, "unit", scale->name);
    plot_setting_number(plot, "chars", plot->chars);
    plot_setting_number(plot, "left", left / scale->factor);
    plot_setting_number(plot, "right", right / scale->factor);
}

enum plot_outcome plot_dist(struct plot *plot)
{
    struct dist dist = {0};
    plot->count = plot_keep_group(plot->row, plot->count, widest);
    if (!plot->count) return plot_nothing(plot, "no case has a time");
    if (dist_make(&dist, plot)) return PLOT_FAILED;
    if (!dist.count) return plot_nothing(plot, "the case kept no samples");
    write_dist(plot, &dist);
    return PLOT_DRAWN;
}
