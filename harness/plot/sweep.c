#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plot/sweep.h"

/* False if there is no such pair, or it is not a size, or 0, which a logarithmic axis does not
 * have. */
static bool point_make(struct sweep_point *point, const struct view_row *row, int swept)
{
    const struct case_id *id = &row->result.id;
    const char *pair;
    int length;
    *point = (struct sweep_point){.row = row, .swept = swept};
    if (swept >= 0) {
        pair = plot_pair(id->shape, swept, &length);
        if (!pair || !plot_pair_is_size(pair, length)) return false;
        int stem = (int)strcspn(pair, "=");
        snprintf(point->dim, sizeof point->dim, "%.*s", stem, pair);
        point->size = strtod(pair + stem + 1, NULL);
        if (point->size == 0) return false;
    }
    for (int i = 0; (pair = plot_pair(id->shape, i, &length)); i++)
        if (i != swept) text_add(point->panel, sizeof point->panel, " ", "%.*s", length, pair);
    text_add(point->panel, sizeof point->panel, " ", "%s", temperature_name(id->temperature));
    return true;
}

static int sweep_order(const struct sweep_point *x, const struct sweep_point *y)
{
    int order = strcmp(x->row->result.id.operation, y->row->result.id.operation);
    if (order == 0) order = strcmp(x->dim, y->dim);
    return order ? order : strcmp(x->panel, y->panel);
}

static int by_sweep(const void *a, const void *b)
{
    const struct sweep_point *x = a, *y = b;
    int order = sweep_order(x, y);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* All sweeps that the rows are points of, one after the other; how many points. */
static int points_make(struct sweep_point *points, const struct plot *plot)
{
    int count = 0;
    struct plot_request any_panel = *plot->request;
    const char *only = any_panel.only;
    any_panel.only = NULL;
    for (int i = 0; i < plot->view.count; i++) {
        const struct view_row *row = &plot->view.rows[i];
        if (!plot_row_taken(&any_panel, row)) continue;
        for (int swept = -1; swept < ASSAY_MAX_DIMS; swept++)
            if (point_make(&points[count], row, swept) &&
                (!only || text_glob(only, points[count].panel)))
                count++;
    }
    qsort(points, (size_t)count, sizeof *points, by_sweep);
    return count;
}

struct span {
    struct sweep_point *first;
    int rows, sizes;
};

static struct span span_from(struct sweep_point *first, const struct sweep_point *end)
{
    struct span span = {first, 1, 1};
    for (struct sweep_point *e = first + 1; e < end && sweep_order(first, e) == 0; e++) {
        span.rows++;
        /* Rows of a group are adjacent, and a group has one size. */
        span.sizes += e->row->group != e[-1].row->group;
    }
    return span;
}

static bool is_better(const struct span *a, const struct span *b)
{
    if (a->sizes != b->sizes) return a->sizes > b->sizes;
    if (a->rows != b->rows) return a->rows > b->rows;
    if (a->first->row != b->first->row) return a->first->row < b->first->row;
    return a->first->swept < b->first->swept;
}

/* The best sweep; without rows if there is none. */
static struct span choose(struct sweep_point *points, int count)
{
    struct span best = {0};
    for (int from = 0; from < count;) {
        struct span own = span_from(&points[from], points + count);
        if (is_better(&own, &best)) best = own;
        from += own.rows;
    }
    return best;
}

/* The number of a row's curve; SWEEP_MAX_CURVES: there are too many. */
static int curve_for(struct sweep *sweep, const struct view_row *row)
{
    const struct case_id *id = &row->result.id;
    for (int i = 0; i < sweep->count; i++)
        if (!strcmp(sweep->curve[i].variant, id->variant)) return i;
    if (sweep->count == SWEEP_MAX_CURVES) return SWEEP_MAX_CURVES;
    sweep->curve[sweep->count] = (struct sweep_curve){.variant = id->variant, .kind = id->kind};
    return sweep->count++;
}

static int by_curve_and_size(const void *a, const void *b)
{
    const struct sweep_point *x = a, *y = b;
    if (x->curve != y->curve) return x->curve - y->curve;
    return x->size < y->size ? -1 : x->size > y->size;
}

static void curves_make(struct sweep *sweep, struct sweep_point *points, int count)
{
    int ops = 0, rows = 0;
    for (int i = 0; i < count; i++)
        points[i].curve = curve_for(sweep, points[i].row);
    qsort(points, (size_t)count, sizeof *points, by_curve_and_size);
    for (; rows < count && points[rows].curve < SWEEP_MAX_CURVES; rows++) {
        struct sweep_curve *curve = &sweep->curve[points[rows].curve];
        if (curve->count++ == 0) curve->point = &points[rows];
        ops += points[rows].row->rate_is_ops;
    }
    sweep->is_ops = 2 * ops > rows;
}

/* Whether bytes can be the axis: they must grow at least with the square root of the size. The
 * bytes of a layer, for example, hardly grow with its tokens, as most are weights. */
static bool bytes_tell_sizes(const struct sweep *sweep)
{
    for (int c = 0; c < sweep->count; c++) {
        const struct sweep_curve *curve = &sweep->curve[c];
        const struct sweep_point *first = curve->point, *last = first + curve->count - 1;
        double least = view_bytes(&first->row->result.work);
        double most = view_bytes(&last->row->result.work);
        if (!(least > 0) || !(most >= least * sqrt(last->size / first->size))) return false;
    }
    return true;
}

static int by_standing(const void *a, const void *b)
{
    const struct sweep_curve *x = a, *y = b;
    bool p = x->kind == ASSAY_BASELINE || x->kind == ASSAY_BOUND;
    bool q = y->kind == ASSAY_BASELINE || y->kind == ASSAY_BOUND;
    if (p != q) return p ? -1 : 1;
    if (x->standing != y->standing) return x->standing > y->standing ? -1 : 1;
    return strcmp(x->variant, y->variant);
}

static double best_time(const struct sweep *sweep, int group)
{
    double best = INFINITY;
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++) {
            const struct view_row *row = sweep->curve[c].point[i].row;
            if (row->group == group) best = fmin(best, row->result.time_ns);
        }
    return best;
}

static void curve_stand(const struct sweep *sweep, struct sweep_curve *curve)
{
    double sum = 0;
    for (int i = 0; i < curve->count; i++) {
        const struct view_row *row = curve->point[i].row;
        sum += log(best_time(sweep, row->group) / row->result.time_ns);
    }
    curve->standing = exp(sum / curve->count);
}

int sweep_make(struct sweep *sweep, struct plot *plot)
{
    struct sweep_point *points =
        plot_alloc(plot, plot->view.count * (ASSAY_MAX_DIMS + 1) + 1, sizeof *points);
    *sweep = (struct sweep){0};
    if (!points) return -1;
    struct span best = choose(points, points_make(points, plot));
    if (!best.rows) return 0;
    sweep->operation = best.first->row->result.id.operation;
    sweep->dim = best.first->dim;
    sweep->panel = best.first->panel;
    sweep->sizes = best.sizes;
    curves_make(sweep, best.first, best.rows);
    for (int c = 0; c < sweep->count; c++)
        curve_stand(sweep, &sweep->curve[c]);
    sweep->by_bytes = bytes_tell_sizes(sweep);
    qsort(sweep->curve, (size_t)sweep->count, sizeof *sweep->curve, by_standing);
    return 1;
}

double sweep_x(const struct sweep *sweep, const struct sweep_point *point)
{
    return sweep->by_bytes ? view_bytes(&point->row->result.work) : point->size;
}
