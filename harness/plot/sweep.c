#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "plot/sweep.h"

/* Identifies a sweep that a row is a point of. */
struct key {
    char dim[ASSAY_MAX_NAME];
    char panel[SWEEP_MAX_PANEL];
};

/* Pair `index` of "n=5000000 input=fp32", and what comes after it; false after the last. */
static bool shape_pair(const char *shape, int index, const char **pair, int *length)
{
    for (;; index--) {
        *length = (int)strcspn(shape, " ");
        *pair = shape;
        if (*length == 0) return false;
        if (index == 0) return true;
        shape += *length;
        shape += strspn(shape, " ");
    }
}

/* Whether "n=5000000" is a size: an integer other than 0, which a logarithmic axis does not
 * have. */
static bool is_size(const char *pair, int length)
{
    bool positive = false;
    const char *value = memchr(pair, '=', (size_t)length);
    if (!value) return false;
    for (value++; value < pair + length; value++) {
        if (!isdigit((unsigned char)*value)) return false;
        positive |= *value != '0';
    }
    return positive;
}

/* The row's key if pair `swept` of its shape varies (-1: none); false if it has no such pair
 * or the pair is not a size. */
static bool key_make(struct key *key, const struct view_row *row, int swept)
{
    const struct case_id *id = &row->result.id;
    const char *pair;
    int length;
    size_t used = 0;
    key->dim[0] = '\0';
    if (swept >= 0) {
        if (!shape_pair(id->shape, swept, &pair, &length) || !is_size(pair, length)) return false;
        snprintf(key->dim, sizeof key->dim, "%.*s", (int)strcspn(pair, "="), pair);
    }
    for (int i = 0; shape_pair(id->shape, i, &pair, &length); i++)
        if (i != swept)
            used += (size_t)snprintf(key->panel + used, sizeof key->panel - used, "%.*s ", length,
                                     pair);
    snprintf(key->panel + used, sizeof key->panel - used, "%s",
             temperature_name((enum assay_temperature)id->temperature));
    return true;
}

/* Whether a row has a time to draw and the filter includes it. */
static bool can_be_drawn(const struct view_row *row, const struct sweep_filter *filter)
{
    const struct case_id *id = &row->result.id;
    if (row->result.status != STATUS_OK || row->is_ceiling || !(row->result.time_ns > 0))
        return false;
    if (filter->operation && strcmp(id->operation, filter->operation) != 0) return false;
    return !filter->cases || case_matches(filter->cases, id);
}

static bool in_panel(const struct view_row *row, const struct sweep_filter *filter, int swept,
                     const struct key *key)
{
    struct key other;
    return can_be_drawn(row, filter) && key_make(&other, row, swept) &&
           !strcmp(other.dim, key->dim) && !strcmp(other.panel, key->panel);
}

struct choice {
    const char *operation;
    struct key key;
    int swept, rows, sizes;
};

/* A row as a point of a sweep; entries of the same sweep have the same hash. */
struct entry {
    uint64_t hash;
    int row, swept;
};

/* FNV-1a (Fowler, Noll, Vo), 64 bits, of a text including its end. */
static uint64_t hash_add(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

static int by_sweep(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->row - y->row;
}

/* All sweeps that a row is a point of. */
static int entries_add(struct entry *entries, const struct view *view, int row, const char *only)
{
    int count = 0;
    struct key key;
    for (int swept = -1; swept < ASSAY_MAX_DIMS; swept++) {
        if (!key_make(&key, &view->rows[row], swept)) continue;
        if (only && !text_glob(only, key.panel)) continue;
        uint64_t hash = hash_add(0xcbf29ce484222325u, view->rows[row].result.id.operation);
        hash = hash_add(hash_add(hash, key.dim), key.panel);
        entries[count++] = (struct entry){hash, row, swept};
    }
    return count;
}

/* Rows of a group are adjacent, so sizes are counted where the group changes. */
static void best_find(struct choice *best, const struct view *view, const struct entry *entries,
                      int count)
{
    int best_first = 0;
    for (int from = 0, to; from < count; from = to) {
        int sizes = 0, group = -1;
        for (to = from; to < count && entries[to].hash == entries[from].hash; to++) {
            sizes += view->rows[entries[to].row].group != group;
            group = view->rows[entries[to].row].group;
        }
        int rows = to - from;
        int first = entries[from].row;
        if (sizes < best->sizes) continue;
        if (sizes == best->sizes && rows < best->rows) continue;
        if (sizes == best->sizes && rows == best->rows && first >= best_first) continue;
        best_first = first;
        best->swept = entries[from].swept;
        best->rows = rows;
        best->sizes = sizes;
        best->operation = view->rows[first].result.id.operation;
        key_make(&best->key, &view->rows[first], best->swept);
    }
}

/* 1: chosen, 0: there is none, -1 with assay_error. */
static int choose(struct choice *best, const struct view *view, const struct sweep_filter *filter)
{
    int count = 0;
    struct entry *entries = calloc((size_t)view->count * (ASSAY_MAX_DIMS + 1) + 1, sizeof *entries);
    *best = (struct choice){0};
    if (!entries) return assay_error("out of memory for %d rows", view->count);
    for (int i = 0; i < view->count; i++)
        if (can_be_drawn(&view->rows[i], filter))
            count += entries_add(entries + count, view, i, filter->only);
    qsort(entries, (size_t)count, sizeof *entries, by_sweep);
    best_find(best, view, entries, count);
    free(entries);
    return best->rows > 0;
}

/* ----------------------------------------------------------------- curves -- */

static struct sweep_curve *curve_for(struct sweep *sweep, const struct view_row *row)
{
    const struct case_id *id = &row->result.id;
    for (int i = 0; i < sweep->count; i++)
        if (!strcmp(sweep->curve[i].variant, id->variant)) return &sweep->curve[i];
    if (sweep->count == SWEEP_MAX_CURVES) return NULL;
    struct sweep_curve *curve = &sweep->curve[sweep->count++];
    *curve = (struct sweep_curve){.variant = id->variant, .kind = id->kind};
    return curve;
}

/* The value of dim `name` of a shape; 0 without it. */
static double dim_value(const char *shape, const char *name)
{
    const char *pair;
    int length;
    for (int i = 0; shape_pair(shape, i, &pair, &length); i++) {
        size_t stem = strcspn(pair, "=");
        if (stem == strlen(name) && !strncmp(pair, name, stem))
            return strtod(pair + stem + 1, NULL);
    }
    return 0;
}

struct point {
    const struct view_row *row;
    double size;
};

static int by_size(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* A curve's rows by their size; -1 with assay_error. */
static int curve_sort(const struct sweep *sweep, struct sweep_curve *curve)
{
    struct point *points = calloc((size_t)curve->count, sizeof *points);
    if (!points) return assay_error("out of memory for %d rows", curve->count);
    for (int i = 0; i < curve->count; i++)
        points[i] =
            (struct point){curve->rows[i], dim_value(curve->rows[i]->result.id.shape, sweep->dim)};
    qsort(points, (size_t)curve->count, sizeof *points, by_size);
    for (int i = 0; i < curve->count; i++)
        curve->rows[i] = points[i].row;
    free(points);
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

int sweep_make(struct sweep *sweep, const struct view *view, const struct sweep_filter *filter)
{
    struct choice choice;
    int ops = 0, rows = 0;
    *sweep = (struct sweep){0};
    struct sweep_filter own = *filter;
    int found = choose(&choice, view, filter);
    if (found <= 0) return found;
    own.operation = choice.operation;
    sweep->operation = choice.operation;
    sweep->sizes = choice.sizes;
    memcpy(sweep->dim, choice.key.dim, sizeof sweep->dim);
    memcpy(sweep->panel, choice.key.panel, sizeof sweep->panel);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (!in_panel(row, &own, choice.swept, &choice.key)) continue;
        struct sweep_curve *curve = curve_for(sweep, row);
        if (!curve) continue;
        if (!curve->rows) curve->rows = calloc((size_t)choice.rows, sizeof *curve->rows);
        if (!curve->rows) {
            sweep_release(sweep);
            return assay_error("out of memory for %d rows", choice.rows);
        }
        curve->rows[curve->count++] = row;
        ops += row->rate_is_ops;
        rows++;
    }
    sweep->is_ops = 2 * ops > rows;
    for (int c = 0; c < sweep->count; c++) {
        struct sweep_curve *curve = &sweep->curve[c];
        if (curve_sort(sweep, curve)) {
            sweep_release(sweep);
            return -1;
        }
        curve_stand(sweep, curve);
    }
    sweep->by_bytes = bytes_tell_sizes(sweep);
    qsort(sweep->curve, (size_t)sweep->count, sizeof *sweep->curve, by_standing);
    return 1;
}

void sweep_release(struct sweep *sweep)
{
    for (int c = 0; c < sweep->count; c++)
        free(sweep->curve[c].rows);
    sweep->count = 0;
}

double sweep_x(const struct sweep *sweep, const struct view_row *row)
{
    return sweep->by_bytes ? view_bytes(&row->result.work)
                           : dim_value(row->result.id.shape, sweep->dim);
}
