#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plot/plot_rows.h"
#include "plot/sweep.h"

/* A row as a point of a sweep: entries with equal operation, dim and panel are one sweep. */
struct entry {
    const struct view_row *row;
    int swept;                   /* pair of its shape that varies; -1: none */
    double size;                 /* value of that pair */
    char dim[ASSAY_MAX_NAME];    /* name of that pair; "" */
    char panel[SWEEP_MAX_PANEL]; /* the other pairs and the temperature */
    int curve;
};

/* False if there is no such pair, or it is not a size, or 0, which a logarithmic axis does not
 * have. */
static bool entry_make(struct entry *entry, const struct view_row *row, int swept)
{
    const struct case_id *id = &row->result.id;
    const char *pair;
    int length;
    size_t used = 0;
    *entry = (struct entry){.row = row, .swept = swept};
    if (swept >= 0) {
        pair = plot_pair(id->shape, swept, &length);
        if (!pair || !plot_pair_is_size(pair, length)) return false;
        int stem = (int)strcspn(pair, "=");
        snprintf(entry->dim, sizeof entry->dim, "%.*s", stem, pair);
        entry->size = strtod(pair + stem + 1, NULL);
        if (entry->size == 0) return false;
    }
    for (int i = 0; (pair = plot_pair(id->shape, i, &length)); i++)
        if (i != swept)
            used += (size_t)snprintf(entry->panel + used, sizeof entry->panel - used, "%.*s ",
                                     length, pair);
    snprintf(entry->panel + used, sizeof entry->panel - used, "%s",
             temperature_name((enum assay_temperature)id->temperature));
    return true;
}

static int sweep_order(const struct entry *x, const struct entry *y)
{
    int order = strcmp(x->row->result.id.operation, y->row->result.id.operation);
    if (order == 0) order = strcmp(x->dim, y->dim);
    return order ? order : strcmp(x->panel, y->panel);
}

static int by_sweep(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = sweep_order(x, y);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* All sweeps that the rows are points of, one after the other; how many points. */
static int entries_make(struct entry *entries, const struct view *view,
                        const struct plot_request *request)
{
    int count = 0;
    struct plot_request any_panel = *request;
    any_panel.only = NULL;
    for (int i = 0; i < view->count; i++) {
        if (!plot_row_taken(&any_panel, &view->rows[i])) continue;
        for (int swept = -1; swept < ASSAY_MAX_DIMS; swept++)
            if (entry_make(&entries[count], &view->rows[i], swept) &&
                (!request->only || text_glob(request->only, entries[count].panel)))
                count++;
    }
    qsort(entries, (size_t)count, sizeof *entries, by_sweep);
    return count;
}

/* Entries of one sweep. */
struct span {
    struct entry *first;
    int rows, sizes;
};

static struct span span_from(struct entry *first, const struct entry *end)
{
    struct span span = {first, 1, 1};
    for (struct entry *e = first + 1; e < end && sweep_order(first, e) == 0; e++) {
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
static struct span choose(struct entry *entries, int count)
{
    struct span best = {0};
    for (int from = 0; from < count;) {
        struct span own = span_from(&entries[from], entries + count);
        if (is_better(&own, &best)) best = own;
        from += own.rows;
    }
    return best;
}

/* ----------------------------------------------------------------- curves -- */

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
    const struct entry *x = a, *y = b;
    if (x->curve != y->curve) return x->curve - y->curve;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* Part the entries into curves. */
static void curves_make(struct sweep *sweep, struct entry *entries, int count)
{
    int ops = 0, rows = 0;
    for (int i = 0; i < count; i++)
        entries[i].curve = curve_for(sweep, entries[i].row);
    qsort(entries, (size_t)count, sizeof *entries, by_curve_and_size);
    for (; rows < count && entries[rows].curve < SWEEP_MAX_CURVES; rows++) {
        struct sweep_curve *curve = &sweep->curve[entries[rows].curve];
        if (curve->count++ == 0) curve->rows = &sweep->rows[rows];
        sweep->rows[rows] = entries[rows].row;
        ops += entries[rows].row->rate_is_ops;
    }
    sweep->is_ops = 2 * ops > rows;
}

/* The value of dim `name` of a shape; 0 without it. */
static double dim_value(const char *shape, const char *name)
{
    const char *pair;
    int length;
    for (int i = 0; (pair = plot_pair(shape, i, &length)); i++) {
        size_t stem = strcspn(pair, "=");
        if (stem == strlen(name) && !strncmp(pair, name, stem))
            return strtod(pair + stem + 1, NULL);
    }
    return 0;
}

/* Whether bytes can be the axis: they must grow at least with the square root of the size. The
 * bytes of a layer, for example, hardly grow with its tokens, as most are weights. */
static bool bytes_tell_sizes(const struct sweep *sweep)
{
    for (int c = 0; c < sweep->count; c++) {
        const struct sweep_curve *curve = &sweep->curve[c];
        const struct view_row *first = curve->rows[0], *last = curve->rows[curve->count - 1];
        double from = dim_value(first->result.id.shape, sweep->dim);
        double to = dim_value(last->result.id.shape, sweep->dim);
        double least = view_bytes(&first->result.work), most = view_bytes(&last->result.work);
        if (!(least > 0) || !(most >= least * sqrt(to / from))) return false;
    }
    return true;
}

static int by_standing(const void *a, const void *b)
{
    const struct sweep_curve *x = a, *y = b;
    bool p = x->kind == ASSAY_BASELINE, q = y->kind == ASSAY_BASELINE;
    if (p != q) return p ? -1 : 1;
    if (x->standing != y->standing) return x->standing > y->standing ? -1 : 1;
    return strcmp(x->variant, y->variant);
}

/* The shortest time that any of the sweep's variants has in the row's group. */
static double best_time(const struct sweep *sweep, int group)
{
    double best = INFINITY;
    for (int c = 0; c < sweep->count; c++)
        for (int i = 0; i < sweep->curve[c].count; i++) {
            const struct view_row *row = sweep->curve[c].rows[i];
            if (row->group == group) best = fmin(best, row->result.time_ns);
        }
    return best;
}

static void curve_stand(const struct sweep *sweep, struct sweep_curve *curve)
{
    double sum = 0;
    for (int i = 0; i < curve->count; i++)
        sum += log(best_time(sweep, curve->rows[i]->group) / curve->rows[i]->result.time_ns);
    curve->standing = exp(sum / curve->count);
}

int sweep_make(struct sweep *sweep, const struct view *view, const struct plot_request *request)
{
    struct entry *entries = calloc((size_t)view->count * (ASSAY_MAX_DIMS + 1) + 1, sizeof *entries);
    *sweep = (struct sweep){0};
    if (!entries) return assay_error("out of memory for %d rows", view->count);
    struct span best = choose(entries, entries_make(entries, view, request));
    sweep->rows = calloc((size_t)best.rows + 1, sizeof *sweep->rows);
    if (best.rows && sweep->rows) {
        sweep->operation = best.first->row->result.id.operation;
        sweep->sizes = best.sizes;
        memcpy(sweep->dim, best.first->dim, sizeof sweep->dim);
        memcpy(sweep->panel, best.first->panel, sizeof sweep->panel);
        curves_make(sweep, best.first, best.rows);
        for (int c = 0; c < sweep->count; c++)
            curve_stand(sweep, &sweep->curve[c]);
        sweep->by_bytes = bytes_tell_sizes(sweep);
        qsort(sweep->curve, (size_t)sweep->count, sizeof *sweep->curve, by_standing);
    }
    free(entries);
    return sweep->rows ? best.rows > 0 : assay_error("out of memory for %d rows", view->count);
}

void sweep_release(struct sweep *sweep)
{
    free(sweep->rows);
    *sweep = (struct sweep){0};
}

double sweep_x(const struct sweep *sweep, const struct view_row *row)
{
    return sweep->by_bytes ? view_bytes(&row->result.work)
                           : dim_value(row->result.id.shape, sweep->dim);
}
