/* view_select.c - which rows of a view are shown, and in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/case_name.h"
#include "show/view.h"

/* What a row is sorted by, the least first. */
static double by_time(const struct view_row *row)
{
    return row->result.time_ns;
}

static double by_rate(const struct view_row *row)
{
    return -row->rate;
}

static double by_speedup(const struct view_row *row)
{
    return -row->speedup.mid;
}

static double by_ceiling(const struct view_row *row)
{
    return -row->ceiling_fraction;
}

static const struct {
    const char *name;
    double (*value)(const struct view_row *row); /* NULL: by the name of the variant */
} keys[] = {{"time", by_time},       {"name", NULL},          {"rate", by_rate},
            {"speedup", by_speedup}, {"ceiling", by_ceiling}, {NULL, NULL}};

struct order {
    double (*value)(const struct view_row *row);
    bool across; /* all groups together */
};

/* What has no figure comes last. */
static int number_order(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int compare(const void *a, const void *b, void *context)
{
    const struct view_row *x = a, *y = b;
    const struct order *order = context;
    bool x_fails = !status_has_time(x->result.status), y_fails = !status_has_time(y->result.status);
    int by = order->across ? 0 : x->group - y->group;
    if (by == 0) by = x_fails - y_fails;
    if (by == 0 && order->value) by = number_order(order->value(x), order->value(y));
    if (by == 0 && !order->value) by = strcmp(x->result.id.variant, y->result.id.variant);
    return by ? by : view_row_order(a, b);
}

static int sort(struct view *view, const char *key, bool across)
{
    int k = 0;
    while (keys[k].name && strcmp(keys[k].name, key))
        k++;
    if (!keys[k].name) return assay_error("rows are not sorted by '%s'", key);
    struct order order = {keys[k].value, across};
    qsort_r(view->rows, (size_t)view->count, sizeof *view->rows, compare, &order);
    return 0;
}

/* The fastest kernel that is shown, of a group that has none the fastest row; -1: none is ok. Rows
 * are in the order of view_row_order. */
static int winner(const struct view *view, int begin, int end)
{
    int first = -1;
    for (int i = begin; i < end; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->is_hidden || !status_has_time(row->result.status)) continue;
        if (row->result.id.kind == ASSAY_KERNEL) return i;
        if (first < 0) first = i;
    }
    return first;
}

static void keep_winners(struct view *view)
{
    for (int begin = 0, end; begin < view->count; begin = end) {
        end = begin;
        while (end < view->count && view->rows[end].group == view->rows[begin].group)
            end++;
        int kept = winner(view, begin, end);
        for (int i = begin; i < end; i++)
            view->rows[i].is_hidden |= i != kept;
    }
}

int view_select(struct view *view, const struct view_selection *selection)
{
    int shown = 0;
    for (int i = 0; i < view->count; i++)
        view->rows[i].is_hidden |= !case_matches(selection->filter, &view->rows[i].result.id);
    if (selection->best) keep_winners(view);
    if (selection->sort && sort(view, selection->sort, selection->best)) return -1;
    for (int i = 0; i < view->count; i++)
        shown += !view->rows[i].is_hidden;
    return shown;
}
