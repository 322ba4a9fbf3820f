#include "trace/trace_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/units.h"
#include "device/profile.h"
#include "show/show.h"
#include "show/view.h"
#include "trace/trace_cases.h"

enum {
    MOST_LINES = 25,  /* of a table; the rest is added up in its last line */
    MOST_RANGES = 40, /* the same of the tables */
    BELOW = 4,        /* indent of further lines */
    NAME = ASSAY_MAX_NAME + RESULT_MAX_SHAPE + 96,
};

struct item {
    const struct view_row *row;
    const struct profile *profile; /* NULL: none */
    double count, total_ns;        /* of one launch of the program */
    double range_ns;               /* of all rows of its shape */
};

/* ----------------------------------------------------------------- items -- */

static bool is_same(const struct case_id *a, const struct case_id *b)
{
    return strcmp(a->variant, b->variant) == 0 && strcmp(a->shape, b->shape) == 0;
}

static void add_up(struct item *item, const struct stored_run *run)
{
    for (int i = 0; i < run->case_count; i++) {
        const struct case_result *result = &run->cases[i].result;
        if (!is_same(&result->id, &item->row->result.id)) continue;
        item->count += view_metric(result, TRACE_COUNT) / run->launch_count;
        item->total_ns += view_metric(result, TRACE_TOTAL_NS) / run->launch_count;
    }
}

static int most_time_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns < y->total_ns ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static int largest_range_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->range_ns != y->range_ns) return x->range_ns < y->range_ns ? 1 : -1;
    int order = strcmp(x->row->result.id.shape, y->row->result.id.shape);
    return order ? order : most_time_first(a, b);
}

static double sum_of(const struct item *items, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += items[i].total_ns;
    return sum;
}

static void items_make(struct item *items, const struct view *view, struct profile *const *profiles)
{
    const struct stored_run *run = view->run;
    for (int i = 0; i < view->count; i++) {
        items[i] = (struct item){.row = &view->rows[i]};
        items[i].profile = profiles ? profiles[view->rows[i].stored - run->cases] : NULL;
        add_up(&items[i], run);
    }
    for (int i = 0; i < view->count; i++)
        for (int j = 0; j < view->count; j++)
            if (items[i].row->group == items[j].row->group) items[i].range_ns += items[j].total_ns;
}

/* ----------------------------------------------------------------- lines -- */

/* The share of the whole, with digits that can be added up by eye. */
static const char *share_text(char out[UNITS_MAX], double part_ns, double whole_ns)
{
    snprintf(out, UNITS_MAX, "%.1f %%", whole_ns > 0 ? 100 * part_ns / whole_ns : 0);
    return out;
}

/* A name, and behind it range and grid. */
static void name_text(char out[NAME], const struct item *item, bool has_range)
{
    const struct case_id *id = &item->row->result.id;
    char grid[96] = "";
    if (item->profile) show_grid(grid, sizeof grid, &item->profile->kernels[0]);
    snprintf(out, NAME, "%s", id->variant);
    if (has_range) text_part(out, NAME, "  ", "%s", id->shape);
    text_part(out, NAME, "  ", "%s", item->profile && !grid[0] ? "(grids vary)" : grid);
}

static void add_row(struct table *table, const struct item *item, double whole_ns, bool has_range)
{
    const struct case_result *result = &item->row->result;
    char text[UNITS_MAX], name[NAME];
    table_cell(table, item->count == floor(item->count) ? "%.0f" : "%.1f", item->count);
    table_cell(table, "%s", units_time(text, item->total_ns));
    table_cell(table, "%s", share_text(text, item->total_ns, whole_ns));
    table_cell(table, "%s", units_time(text, result->time_ns));
    table_cell(table, "%s",
               units_percent(text, interval_spread(result->time_ns, result->lo_ns, result->hi_ns)));
    name_text(name, item, has_range);
    table_cell(table, "%s", name);
}

static int print_items(FILE *out, const struct item *items, int count, double whole_ns,
                       bool has_range, int width)
{
    static const char *const titles[] = {">count", ">total", ">share", ">median", ">±", "kernel"};
    int shown = count < MOST_LINES ? count : MOST_LINES;
    struct table table;
    table_init(&table, titles, sizeof titles / sizeof *titles);
    table.is_loose = true;
    for (int i = 0; i < shown; i++)
        add_row(&table, &items[i], whole_ns, has_range);
    int status = table_print(&table, out, width);
    if (shown < count) {
        char share[UNITS_MAX];
        fprintf(out, "and %d more, %s of the time\n", count - shown,
                share_text(share, sum_of(items + shown, count - shown), whole_ns));
    }
    return status;
}

/* Behind the last item of the range that begins at `begin`. */
static int range_end(const struct item *items, int begin, int count)
{
    int end = begin;
    while (end < count && items[end].row->group == items[begin].row->group)
        end++;
    return end;
}

static int ranges_print(FILE *out, struct item *items, int count, double whole_ns, int width)
{
    char share[UNITS_MAX], time[UNITS_MAX], text[NAME];
    int begin = 0, status = 0;
    qsort(items, (size_t)count, sizeof *items, largest_range_first);
    for (int shown = 0; shown < MOST_RANGES && begin < count && status == 0; shown++) {
        int end = range_end(items, begin, count);
        const char *shape = items[begin].row->result.id.shape;
        snprintf(text, sizeof text, "%s: %s, %s of the time", shape[0] ? shape : "in no range",
                 units_time(time, items[begin].range_ns),
                 share_text(share, items[begin].range_ns, whole_ns));
        fputc('\n', out);
        text_wrap(out, text, 0, BELOW, width);
        status = print_items(out, items + begin, end - begin, whole_ns, false, width);
        begin = end;
    }
    if (begin < count)
        fprintf(out, "\nand %d more in further ranges, %s of the time\n", count - begin,
                share_text(share, sum_of(items + begin, count - begin), whole_ns));
    return status;
}

/* ------------------------------------------------------------------ whole -- */

static void head_print(FILE *out, const struct stored_run *run, int kernels, double whole_ns,
                       int width)
{
    const struct device_info *device = &run->launches[0].device;
    char time[UNITS_MAX], text[512] = "";
    text_part(text, sizeof text, ", ", "%s", device->name);
    text_part(text, sizeof text, ", ", "driver %s", device->driver);
    text_add(text, sizeof text, ": ", "%d row%s, %s of kernels", kernels, kernels == 1 ? "" : "s",
             units_time(time, whole_ns));
    if (run->launch_count > 1)
        text_add(text, sizeof text, ", ", "per launch; medians over %d launches",
                 run->launch_count);
    text_wrap(out, text, 0, BELOW, width);
}

int trace_table_print(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                      bool by_range, int width)
{
    struct view view;
    if (view_make(&view, run) != 0) return -1;
    struct item *items = calloc((size_t)view.count + 1, sizeof *items);
    int status = items ? 0 : assay_error("out of memory for the table");
    if (status == 0) {
        items_make(items, &view, profiles);
        double whole_ns = sum_of(items, view.count);
        head_print(out, run, view.count, whole_ns, width);
        qsort(items, (size_t)view.count, sizeof *items, most_time_first);
        status = by_range ? ranges_print(out, items, view.count, whole_ns, width)
                          : print_items(out, items, view.count, whole_ns, true, width);
    }
    free(items);
    view_release(&view);
    if (status == 0 && ferror(out))
        status = assay_error("cannot write the table: %s", strerror(errno));
    return status;
}
