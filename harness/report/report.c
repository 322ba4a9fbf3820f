/* report.c - the formats of a report, and the cases without a time, which all of them list. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

int report_write(FILE *out, const struct report *report, const char *format)
{
    if (!strcmp(format, "html")) return report_html(out, report);
    if (!strcmp(format, "md")) return report_md(out, report);
    return assay_error("a report is not written as '%s'", format);
}

static bool is_same(const struct report_problem *problem, const struct case_result *result)
{
    return problem->status == result->status && !strcmp(problem->variant, result->id.variant) &&
           !strcmp(problem->operation, result->id.operation) &&
           !strcmp(problem->reason, result->reason);
}

static void count_case(struct report_problem *list, int *count, const struct view *view, int row)
{
    const struct case_result *result = &view->rows[row].result;
    for (int i = 0; i < *count; i++) {
        if (!is_same(&list[i], result)) continue;
        list[i].cases++;
        return;
    }
    struct report_problem *problem = &list[(*count)++];
    *problem = (struct report_problem){.status = result->status, .cases = 1, .first_row = row};
    memcpy(problem->operation, result->id.operation, sizeof problem->operation);
    memcpy(problem->variant, result->id.variant, sizeof problem->variant);
    memcpy(problem->reason, result->reason, sizeof problem->reason);
}

/* Wrong results first, skipped cases last. For qsort. */
static int by_rank(const void *a, const void *b)
{
    static const int ranks[STATUSES] = {
        [STATUS_WRONG] = 0,    [STATUS_CRASHED] = 1, [STATUS_TIMEOUT] = 2,
        [STATUS_UNSTABLE] = 3, [STATUS_SKIPPED] = 4,
    };
    const struct report_problem *x = a, *y = b;
    int order = ranks[x->status] - ranks[y->status];
    return order ? order : x->first_row - y->first_row;
}

int report_problems(const struct view *view, struct report_problem **list)
{
    int count = 0;
    *list = calloc((size_t)view->count + 1, sizeof **list);
    if (!*list) return assay_error("out of memory for %d cases", view->count);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        bool is_selected = !row->is_hidden || row->is_ceiling;
        if (is_selected && !status_has_time(row->result.status)) count_case(*list, &count, view, i);
    }
    qsort(*list, (size_t)count, sizeof **list, by_rank);
    return count;
}
