/* plot_pareto.c - the data of plots/pareto.gp: a quality metric against time, for the cases of
 * one operation and size, since cases of other sizes cannot be compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot_data.h"
#include "plot/plot_rows.h"
#include "plot/plot_sizes.h"

enum { MOST_VARIANTS = 24, MOST_NAMED = 12 };

/* The metric to draw by default is the first of these that the run has. */
static const char *const preferred[] = {"sqnr_db",   "psnr_db",       "cosine",       "mse",
                                        "mse_ratio", "mismatch_rate", "max_abs_error"};
enum { PREFERRED = sizeof preferred / sizeof preferred[0] };

struct point {
    const struct view_row *row;
    double time_ns, quality;
    bool front;
    int number;     /* on the front, from 1; 0: not labelled */
    char label[16]; /* covers this point and those too near to have their own; "" none */
};

struct pareto {
    const char *metric;
    bool more_is_better;
    struct point *point;
    int count, left_out, others; /* points drawn; without a finite metric; of other sizes */
    const char *variant[MOST_VARIANTS];
    int variants;
};

static bool more_is_better(const char *metric)
{
    size_t length = strlen(metric);
    return (length > 3 && !strcmp(metric + length - 3, "_db")) || !strcmp(metric, "cosine");
}

static double metric_of(const struct case_result *result, const char *name, bool *has)
{
    *has = true;
    if (!strcmp(name, "max_abs_error") && !isnan(result->max_abs_error))
        return result->max_abs_error;
    for (int i = 0; i < result->metric_count; i++)
        if (!strcmp(result->metrics[i].name, name)) return result->metrics[i].value;
    *has = false;
    return NAN;
}

static bool is_taken(const struct plot_request *request, const struct view_row *row,
                     const char *operation, const char *metric)
{
    bool has;
    metric_of(&row->result, metric, &has);
    return has && plot_row_taken(request, row) && row->result.id.kind != ASSAY_BASELINE &&
           (!operation || !strcmp(operation, row->result.id.operation));
}

/* The operation with the most cases that have the metric; NULL: none. */
static const char *operation_choose(const struct plot_request *request, const struct view *view,
                                    const char *metric)
{
    const char *best = NULL;
    int most = 0;
    for (int i = 0; i < view->count; i++) {
        const char *operation = view->rows[i].result.id.operation;
        int count = 0;
        if (best && !strcmp(best, operation)) continue;
        if (i > 0 && !strcmp(operation, view->rows[i - 1].result.id.operation)) continue;
        for (int j = 0; j < view->count; j++)
            count += is_taken(request, &view->rows[j], operation, metric);
        if (count > most) best = operation;
        most = count > most ? count : most;
    }
    return best;
}

static int variant_of(struct pareto *pareto, const char *variant)
{
    for (int i = 0; i < pareto->variants; i++)
        if (!strcmp(pareto->variant[i], variant)) return i;
    if (pareto->variants == MOST_VARIANTS) return MOST_VARIANTS - 1;
    pareto->variant[pareto->variants] = variant;
    return pareto->variants++;
}

static void point_add(struct pareto *pareto, const struct view_row *row)
{
    bool has;
    double quality = metric_of(&row->result, pareto->metric, &has);
    if (!isfinite(quality)) {
        pareto->left_out++;
        return;
    }
    variant_of(pareto, row->result.id.variant);
    pareto->point[pareto->count++] =
        (struct point){.row = row, .time_ns = row->result.time_ns, .quality = quality};
}

static int by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Mark the Pareto front: nothing is both faster and better than a point on it. */
static int front_mark(struct pareto *pareto)
{
    int front = 0;
    double best = pareto->more_is_better ? -INFINITY : INFINITY;
    qsort(pareto->point, (size_t)pareto->count, sizeof *pareto->point, by_time);
    for (int i = 0; i < pareto->count; i++) {
        struct point *p = &pareto->point[i];
        if (pareto->more_is_better ? p->quality <= best : p->quality >= best) continue;
        best = p->quality;
        p->front = true;
        front++;
    }
    return front;
}

/* ------------------------------------------------------------------- writing -- */

/* Errors that span more than a decade get a logarithmic axis. */
static bool is_logarithmic(const struct pareto *pareto)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < pareto->count; i++) {
        least = fmin(least, pareto->point[i].quality);
        most = fmax(most, pareto->point[i].quality);
    }
    return !pareto->more_is_better && least > 0 && most > 10 * least;
}

/* The extents of all points in log(time) and in the metric as on the axis. */
struct extents {
    double least_time, time, least_quality, quality;
    bool logarithmic;
};

static double height(const struct extents *e, double quality)
{
    return e->logarithmic ? log(quality) : quality;
}

static void extents_make(struct extents *e, const struct pareto *pareto)
{
    double most_time = -INFINITY, most = -INFINITY;
    *e = (struct extents){INFINITY, 0, INFINITY, 0, is_logarithmic(pareto)};
    for (int i = 0; i < pareto->count; i++) {
        double time = log(pareto->point[i].time_ns), high = height(e, pareto->point[i].quality);
        e->least_time = fmin(e->least_time, time);
        most_time = fmax(most_time, time);
        e->least_quality = fmin(e->least_quality, high);
        most = fmax(most, high);
    }
    e->time = most_time - e->least_time;
    e->quality = most - e->least_quality;
}

/* Whether two points are so near that their labels would overlap. */
static bool is_near(const struct extents *e, const struct point *a, const struct point *b)
{
    return fabs(log(a->time_ns / b->time_ns)) < 0.035 * e->time &&
           fabs(height(e, a->quality) - height(e, b->quality)) < 0.04 * e->quality;
}

/* Number the points on the front; points too near to each other share one label, "4-6", at the
 * first. */
static void labels_make(struct pareto *pareto)
{
    struct extents extents;
    struct point *first = NULL, *last = NULL;
    int named = 0;
    extents_make(&extents, pareto);
    for (int i = 0; i < pareto->count && named < MOST_NAMED; i++) {
        struct point *p = &pareto->point[i];
        if (!p->front) continue;
        p->number = ++named;
        if (!last || !is_near(&extents, last, p)) first = p;
        last = p;
        if (first == p)
            snprintf(first->label, sizeof first->label, "%d", p->number);
        else
            snprintf(first->label, sizeof first->label, "%d-%d", first->number, p->number);
    }
}

static void head(FILE *out, const struct view *view, const struct pareto *pareto,
                 const struct plot_common *common, int front, int chars,
                 const struct plot_scale *scale)
{
    char title[PLOT_MAX_COMMON + 96], text[PLOT_MAX_COMMON], note[160];
    int used;
    plot_common_text(common, text);
    snprintf(title, sizeof title, "%s against time, %d cases  (%s)", pareto->metric, pareto->count,
             text);
    used = snprintf(note, sizeof note, "line: nothing is both faster and better (%d case%s)", front,
                    front == 1 ? "" : "s");
    if (front > MOST_NAMED)
        used += snprintf(note + used, sizeof note - (size_t)used, ", %d of them are not labelled",
                         front - MOST_NAMED);
    if (pareto->left_out)
        used += snprintf(note + used, sizeof note - (size_t)used, "; without a finite value: %d",
                         pareto->left_out);
    if (pareto->others)
        snprintf(note + used, sizeof note - (size_t)used, "; of other sizes (--only): %d",
                 pareto->others);
    plot_head(out, view->run, title, note);
    int entries = pareto->variants + (front < MOST_NAMED ? front : MOST_NAMED) + 4;
    plot_size(out, 1200 + (chars > 50 ? 7 * (chars - 50) : 0),
              580 + 20 * (entries > 24 ? entries - 24 : 0), 36);
    plot_setting(out, "metric", pareto->metric);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "more_is_better", pareto->more_is_better);
    plot_setting_number(out, "logarithmic", is_logarithmic(pareto));
    plot_setting_number(out, "right_chars", chars);
    plot_block_end(out);
}

static void write_pareto(FILE *out, const struct view *view, struct pareto *pareto,
                         struct plot_places *places)
{
    struct plot_common common = {0};
    char name[PLOT_MAX_NAME];
    int front = front_mark(pareto), chars = 12;
    labels_make(pareto);
    for (int i = 0; i < pareto->count; i++)
        plot_common_add(&common, &pareto->point[i].row->result.id);
    for (int i = 0; i < pareto->count; i++) {
        if (!pareto->point[i].front) continue;
        plot_common_rest(&common, &pareto->point[i].row->result.id, name);
        if (plot_width(name) + 4 > chars) chars = plot_width(name) + 4;
    }
    const struct plot_scale *scale = plot_time(pareto->point[pareto->count / 2].time_ns);
    head(out, view, pareto, &common, front, chars, scale);
    for (int i = 0; i < pareto->variants; i++) {
        plot_text(out, pareto->variant[i]);
        fputc('\n', out);
    }
    plot_block_end(out);
    for (int i = 0; i < pareto->count; i++) {
        const struct point *p = &pareto->point[i];
        plot_common_rest(&common, &p->row->result.id, name);
        plot_place_point(places, (int)(p->row - view->rows), 0, p->time_ns / scale->factor,
                         p->quality);
        fprintf(out, "%d\t%.9g\t%.9g\t%d\t%d\t%s\t",
                variant_of(pareto, p->row->result.id.variant) + 1, p->time_ns / scale->factor,
                p->quality, p->front, p->number, p->label[0] ? p->label : "-");
        plot_text(out, name);
        fputc('\n', out);
    }
}

/* Choose the metric and the operation with the most rows that have it; writes these rows and
 * returns how many. */
static int rows_choose(struct pareto *pareto, const struct plot_request *request,
                       const struct view *view, const struct view_row **rows)
{
    const char *operation = NULL;
    int count = 0;
    if (request->metric) operation = operation_choose(request, view, request->metric);
    for (int i = 0; !request->metric && !operation && i < PREFERRED; i++) {
        pareto->metric = preferred[i];
        operation = operation_choose(request, view, preferred[i]);
    }
    for (int i = 0; operation && i < view->count; i++)
        if (is_taken(request, &view->rows[i], operation, pareto->metric))
            rows[count++] = &view->rows[i];
    return count;
}

static int points_make(struct pareto *pareto, const struct view_row *const *rows, int count)
{
    char size[RESULT_MAX_SHAPE], own[RESULT_MAX_SHAPE];
    if (plot_size_most(rows, count, size)) return -1;
    pareto->more_is_better = more_is_better(pareto->metric);
    for (int i = 0; i < count; i++) {
        plot_size_of(rows[i]->result.id.shape, own);
        if (!strcmp(own, size))
            point_add(pareto, rows[i]);
        else
            pareto->others++;
    }
    return 0;
}

enum plot_outcome plot_pareto(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct pareto pareto = {.metric = request->metric};
    enum plot_outcome outcome = PLOT_FAILED;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    const struct view_row **rows = calloc((size_t)view.count + 1, sizeof *rows);
    pareto.point = calloc((size_t)view.count + 1, sizeof *pareto.point);
    if (!rows || !pareto.point) {
        assay_error("out of memory for %d rows", view.count);
        goto out;
    }
    if (points_make(&pareto, rows, rows_choose(&pareto, request, &view, rows))) goto out;
    outcome = pareto.count ? PLOT_DRAWN
                           : plot_nothing(request, "no ok case has such a metric of quality");
    if (pareto.count) write_pareto(out, &view, &pareto, request->places);
out:
    free(rows);
    free(pareto.point);
    view_release(&view);
    return outcome;
}
