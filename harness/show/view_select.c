/* view_select.c - which rows of a view are shown, and in which order. */
#define _GNU_SOURCE /* qsort_r */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/case_name.h"
#include "show/view.h"

struct order {
    const char *name;
    size_t at;   /* of the figure in struct view_row */
    int sign;    /* 1: the least first, -1: the largest; 0: by the name of the variant */
    bool across; /* all groups together */
};
static const struct order orders[] = {
    {"time", offsetof(struct view_row, result.time_ns), 1, false},
    {"name", 0, 0, false},
    {"rate", offsetof(struct view_row, rate), -1, false},
    {"speedup", offsetof(struct view_row, speedup.mid), -1, false},
    {"ceiling", offsetof(struct view_row, ceiling_fraction), -1, false},
    {0},
};

/* What has no figure comes last. */
static int number_order(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static double figure(const struct order *order, const struct view_row *row)
{
    return order->sign * *(const double *)((const char *)row + order->at);
}

static int compare(const void *a, const void *b, void *context)
{
    const struct view_row *x = a, *y = b;
    const struct order *order = context;
    bool x_fails = !status_has_time(x->result.status), y_fails = !status_has_time(y->result.status);
    int by = order->across ? 0 : x->group - y->group;
    if (by == 0) by = x_fails - y_fails;
    if (by == 0 && order->sign) by = number_order(figure(order, x), figure(order, y));
    if (by == 0 && !order->sign) by = strcmp(x->result.id.variant, y->result.id.variant);
    return by ? by : view_row_order(a, b);
}

static int sort(struct view *view, const char *key, bool across)
{
    const struct order *found = orders;
    while (found->name && strcmp(found->name, key))
        found++;
    if (!found->name) return assay_error("rows are not sorted by '%s'", key);
    struct order order = *found;
    order.across = across;
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
