/* plot_pareto.c - the data of plots/pareto.gp: a quality metric against time, for the cases of
 * one operation, size, input and temperature, since other cases cannot be compared. */
#include <stdlib.h>
#include <string.h>

#include "plot/plot_data.h"

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
    int count, left_out, front; /* points drawn; without a finite metric; on the front */
    const char *variant[MOST_VARIANTS];
    int variants;
    struct plot_extent extent; /* ns, metric */
    bool logarithmic;
};

static bool more_is_better(const char *metric)
{
    size_t length = strlen(metric);
    return (length > 3 && !strcmp(metric + length - 3, "_db")) || !strcmp(metric, "cosine");
}

/* The metric of a row; NULL if it has none, or is a baseline or a bound, whose quality is no merit.
 */
static const double *metric_of(const struct view_row *row, const char *name)
{
    const struct case_result *result = &row->result;
    if (result->id.kind == ASSAY_BASELINE || result->id.kind == ASSAY_BOUND) return NULL;
    if (!strcmp(name, "max_abs_error") && !isnan(result->max_abs_error))
        return &result->max_abs_error;
    for (int i = 0; i < result->metric_count; i++)
        if (!strcmp(result->metrics[i].name, name)) return &result->metrics[i].value;
    return NULL;
}

/* The operation with the most cases that have the metric; NULL: none. */
static const char *operation_choose(const struct plot *plot, const char *metric)
{
    const char *best = NULL, *operation = NULL;
    int most = 0;
    for (int i = 0; i < plot->count; i++) {
        int count = 0;
        if (operation && !strcmp(operation, plot->row[i]->result.id.operation)) continue;
        operation = plot->row[i]->result.id.operation;
        for (int j = 0; j < plot->count; j++)
            count += metric_of(plot->row[j], metric) != NULL &&
                     !strcmp(operation, plot->row[j]->result.id.operation);
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
    double quality = *metric_of(row, pareto->metric);
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
static void front_mark(struct pareto *pareto)
{
    double best = pareto->more_is_better ? -INFINITY : INFINITY;
    qsort(pareto->point, (size_t)pareto->count, sizeof *pareto->point, by_time);
    for (int i = 0; i < pareto->count; i++) {
        struct point *p = &pareto->point[i];
        if (pareto->more_is_better ? p->quality <= best : p->quality >= best) continue;
        best = p->quality;
        p->front = true;
        pareto->front++;
    }
}

/* ------------------------------------------------------------------- labels -- */

/* Errors that span more than a decade get a logarithmic axis. */
static void extent_make(struct pareto *pareto)
{
    struct plot_extent *e = &pareto->extent;
    *e = (struct plot_extent){INFINITY, 0, INFINITY, -INFINITY};
    for (int i = 0; i < pareto->count; i++)
        plot_extend(e, pareto->point[i].time_ns, pareto->point[i].quality);
    pareto->logarithmic = !pareto->more_is_better && e->low > 0 && e->top > 10 * e->low;
}

static double height(const struct pareto *pareto, double quality)
{
    return pareto->logarithmic ? log(quality) : quality;
}

/* Whether two points are so near that their labels, of up to five characters, would overlap. */
static bool is_near(const struct pareto *pareto, const struct point *a, const struct point *b)
{
    const struct plot_extent *e = &pareto->extent;
    double time = log(e->right) - log(e->left);
    double quality = height(pareto, e->top) - height(pareto, e->low);
    return fabs(log(a->time_ns / b->time_ns)) < 0.07 * time &&
           fabs(height(pareto, a->quality) - height(pareto, b->quality)) < 0.05 * quality;
}

/* Number the points on the front; points too near to each other share one label, "4-6", at the
 * first. */
static void labels_make(struct pareto *pareto)
{
    struct point *first = NULL, *last = NULL;
    int named = 0;
    for (int i = 0; i < pareto->count && named < MOST_NAMED; i++) {
        struct point *p = &pareto->point[i];
        if (!p->front) continue;
        p->number = ++named;
        if (!last || !is_near(pareto, last, p)) first = p;
        last = p;
        if (first == p)
            snprintf(first->label, sizeof first->label, "%d", p->number);
        else
            snprintf(first->label, sizeof first->label, "%d-%d", first->number, p->number);
    }
}

/* ------------------------------------------------------------------ writing -- */

static void head(struct plot *plot, const struct pareto *pareto, int others)
{
    int front = pareto->front, beyond = front - MOST_NAMED;
    plot_title(plot, "%s against time, %d cases", pareto->metric, pareto->count);
    plot_note(plot, "", "line: nothing is both faster and better (%d case%s)", front,
              front == 1 ? "" : "s");
    if (beyond > 0) plot_note(plot, ", ", "%d of them are not labelled", beyond);
    if (pareto->left_out) plot_note(plot, "; ", "without a finite value: %d", pareto->left_out);
    if (others) plot_note(plot, "; ", "of other sizes or inputs (--only): %d", others);
    int entries = pareto->variants + (beyond > 0 ? MOST_NAMED : front) + 4;
    plot_size(plot, 1200 + (plot->right_chars > 50 ? 7 * (plot->right_chars - 50) : 0),
              580 + 20 * (entries > 24 ? entries - 24 : 0), 36);
    plot_setting(plot, "metric", pareto->metric);
}

static void write_pareto(struct plot *plot, struct pareto *pareto, int others)
{
    char name[PLOT_MAX_NAME];
    int chars = 12;
    const struct plot_scale *scale =
        plot_scale(PLOT_TIME, pareto->point[pareto->count / 2].time_ns);
    for (int i = 0; i < pareto->variants; i++)
        plot_line(plot, pareto->variant[i], NULL, NULL);
    plot_block_end(plot);
    for (int i = 0; i < pareto->count; i++)
        plot_common_add(&plot->common, &pareto->point[i].row->result.id);
    for (int i = 0; i < pareto->count; i++) {
        const struct point *p = &pareto->point[i];
        double time = p->time_ns / scale->factor;
        plot_common_rest(&plot->common, &p->row->result.id, name);
        if (p->front && text_width(name) + 4 > chars) chars = text_width(name) + 4;
        plot_line(plot, NULL, name, "%d\t%.9g\t%.9g\t%d\t%d\t%s",
                  variant_of(pareto, p->row->result.id.variant) + 1, time, p->quality, p->front,
                  p->number, p->label[0] ? p->label : "-");
    }
    plot->right_chars = chars;
    head(plot, pareto, others);
    plot_setting(plot, "unit", scale->name);
    plot_setting_number(plot, "more_is_better", pareto->more_is_better);
    plot_setting_number(plot, "logarithmic", pareto->logarithmic);
    plot_setting_number(plot, "right_chars", chars);
}

/* Choose the metric and the operation with the most rows that have it; keep these rows. */
static void rows_choose(struct plot *plot, struct pareto *pareto)
{
    const char *operation = NULL;
    int count = 0;
    for (int i = 0; !operation && i < (plot->request->metric ? 1 : PREFERRED); i++) {
        pareto->metric = plot->request->metric ? plot->request->metric : preferred[i];
        operation = operation_choose(plot, pareto->metric);
    }
    for (int i = 0; operation && i < plot->count; i++)
        if (metric_of(plot->row[i], pareto->metric) &&
            !strcmp(operation, plot->row[i]->result.id.operation))
            plot->row[count++] = plot->row[i];
    plot->count = count;
}

enum plot_outcome plot_pareto(struct plot *plot)
{
    struct pareto pareto = {0};
    rows_choose(plot, &pareto);
    int kept = plot_keep_task(plot->row, plot->count);
    pareto.point = plot_alloc(plot, plot->count, sizeof *pareto.point);
    if (kept < 0 || !pareto.point) return PLOT_FAILED;
    pareto.more_is_better = more_is_better(pareto.metric);
    for (int i = 0; i < kept; i++)
        point_add(&pareto, plot->row[i]);
    if (!pareto.count)
        return plot_nothing(plot, "no case with a time has such a metric of quality");
    front_mark(&pareto);
    extent_make(&pareto);
    labels_make(&pareto);
    write_pareto(plot, &pareto, plot->count - kept);
    return PLOT_DRAWN;
}
