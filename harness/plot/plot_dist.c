/* plot_dist.c - the data of plots/dist.gp: the distributions of the times of one group's
 * cases, as cumulative distributions and as densities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

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
};

struct dist {
    const struct stored_run *run;
    struct curve curve[MOST_CURVES];
    int count, slower; /* drawn, and left out */
    bool launches;
};

/* -------------------------------------------------------------------- values -- */

static bool is_case(const struct stored_case *stored, const struct view_row *row)
{
    const struct case_id *a = &stored->result.id, *b = &row->result.id;
    return stored->result.status == STATUS_OK && stored->purpose == row->stored->purpose &&
           a->temperature == b->temperature && a->place == b->place &&
           !strcmp(a->operation, b->operation) && !strcmp(a->variant, b->variant) &&
           !strcmp(a->shape, b->shape);
}

static int values_of(const struct stored_case *stored, bool launches, double *out)
{
    const struct samples *samples = &stored->result.samples;
    int count = 0;
    if (launches) {
        if (out) out[0] = stored->result.time_ns;
        return 1;
    }
    for (int i = 0; i < samples->count; i++) {
        if (samples->mark && samples->mark[i]) continue;
        if (out) out[count] = samples->time_ns[i];
        count++;
    }
    return count;
}

/* The curve's values over all launches; -1 with assay_error. */
static int curve_make(struct dist *dist, struct curve *curve, const struct view_row *row)
{
    int count = 0;
    for (int i = 0; i < dist->run->case_count; i++)
        if (is_case(&dist->run->cases[i], row))
            count += values_of(&dist->run->cases[i], dist->launches, NULL);
    *curve = (struct curve){.row = row, .value = calloc((size_t)count + 1, sizeof(double))};
    if (!curve->value) return assay_error("out of memory for %d samples", count);
    for (int i = 0; i < dist->run->case_count; i++)
        if (is_case(&dist->run->cases[i], row))
            curve->count +=
                values_of(&dist->run->cases[i], dist->launches, curve->value + curve->count);
    stats_sort(curve->value, curve->count);
    return 0;
}

/* Take the fastest variants of the group; its rows are sorted by time. */
static int dist_make(struct dist *dist, const struct plot_request *request, const struct view *view,
                     int group)
{
    double fastest = NAN;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->group != group || !plot_row_taken(request, row)) continue;
        if (isnan(fastest)) {
            fastest = row->result.time_ns;
            dist->launches = row->launches >= ENOUGH_LAUNCHES;
        }
        if (dist->count == MOST_CURVES || row->result.time_ns > widest * fastest) {
            dist->slower++;
            continue;
        }
        struct curve *curve = &dist->curve[dist->count];
        if (curve_make(dist, curve, row)) return -1;
        if (curve->count)
            dist->count++;
        else
            free(curve->value);
    }
    return 0;
}

static void dist_release(struct dist *dist)
{
    for (int i = 0; i < dist->count; i++)
        free(dist->curve[i].value);
}

/* ------------------------------------------------------------------- density -- */

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

static double density(const struct curve *curve, double at, double h)
{
    double sum = 0;
    for (int i = 0; i < curve->count; i++) {
        double z = (at - curve->value[i]) / h;
        if (fabs(z) < 5) sum += exp(-0.5 * z * z);
    }
    return sum / curve->count / h;
}

/* Each density is scaled to a maximum of one. */
static void density_write(FILE *out, const struct curve *curve, double left, double right,
                          double step_ns, double factor)
{
    double value[GRID + 1], most = 0, h = bandwidth(curve, step_ns);
    for (int i = 0; i <= GRID; i++) {
        value[i] = density(curve, left + (right - left) * i / GRID, h);
        most = fmax(most, value[i]);
    }
    for (int i = 0; i <= GRID; i++)
        fprintf(out, "%.9g\t%.4g\n", (left + (right - left) * i / GRID) / factor,
                most > 0 ? value[i] / most : 0);
    plot_block_end(out);
}

static void shares_write(FILE *out, const struct curve *curve, double factor)
{
    int step = curve->count > STEPS ? curve->count / STEPS : 1;
    fprintf(out, "%.9g\t0\n", curve->value[0] / factor);
    for (int i = 0; i < curve->count; i += step)
        fprintf(out, "%.9g\t%.6g\n", curve->value[i] / factor, (i + 1.0) / curve->count);
    fprintf(out, "%.9g\t1\n", curve->value[curve->count - 1] / factor);
    plot_block_end(out);
}

/* ------------------------------------------------------------------- writing -- */

/* The axis leaves out the outermost half per cent, so that one outlier does not set it. */
static void axis(const struct dist *dist, double *left, double *right)
{
    *left = INFINITY, *right = 0;
    for (int i = 0; i < dist->count; i++) {
        const struct curve *c = &dist->curve[i];
        *left = fmin(*left, stats_quantile_sorted(c->value, c->count, 0.005));
        *right = fmax(*right, stats_quantile_sorted(c->value, c->count, 0.995));
    }
    double margin = fmax(0.04 * (*right - *left), 0.002 * *right);
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

static void head(FILE *out, const struct dist *dist, double left, double right,
                 const struct plot_scale *scale)
{
    char text[PLOT_MAX_COMMON], note[200];
    const struct case_id *id = &dist->curve[0].row->result.id;
    int chars = 0, used;
    for (int i = 0; i < dist->count; i++) {
        int width = plot_width(dist->curve[i].row->result.id.variant);
        if (width > chars) chars = width;
    }
    snprintf(text, sizeof text, "%s: distribution of %s  (%s %s)", id->operation,
             dist->launches ? "the medians of launches" : "samples", id->shape,
             temperature_name((enum assay_temperature)id->temperature));
    used = snprintf(note, sizeof note, "beyond the frame: %d", beyond(dist, left, right));
    if (dist->slower)
        snprintf(note + used, sizeof note - (size_t)used, "; slower variants left out: %d",
                 dist->slower);
    plot_head(out, dist->run, text, note);
    plot_size(out, 1100, 480 + 44 * dist->count, 34 + dist->count);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "left", left / scale->factor);
    plot_setting_number(out, "right", right / scale->factor);
    plot_block_end(out);
}

static void write_dist(FILE *out, const struct dist *dist)
{
    double left, right, step = NAN;
    axis(dist, &left, &right);
    const struct plot_scale *scale = plot_time(right);
    if (dist->run->launch_count) step = dist->run->launches[0].device.clock_step_ns;
    head(out, dist, left, right, scale);
    for (int i = 0; i < dist->count; i++) {
        const struct curve *c = &dist->curve[i];
        plot_text(out, c->row->result.id.variant);
        fprintf(out, "\t%s\t%d\t%.9g\n", kind_name((enum assay_kind)c->row->result.id.kind),
                c->count, stats_quantile_sorted(c->value, c->count, 0.5) / scale->factor);
    }
    plot_block_end(out);
    for (int i = 0; i < dist->count; i++)
        shares_write(out, &dist->curve[i], scale->factor);
    for (int i = 0; i < dist->count; i++)
        density_write(out, &dist->curve[i], left, right, step, scale->factor);
}

enum plot_outcome plot_dist(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct dist dist = {.run = request->run};
    enum plot_outcome outcome = PLOT_FAILED;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    int group = plot_row_group(request, &view, widest);
    if (group < 0) {
        outcome = plot_nothing(request, "the run has no ok case");
    } else if (dist_make(&dist, request, &view, group) == 0) {
        outcome = dist.count ? PLOT_DRAWN : plot_nothing(request, "the case kept no samples");
        if (dist.count) write_dist(out, &dist);
    }
    dist_release(&dist);
    view_release(&view);
    return outcome;
}
