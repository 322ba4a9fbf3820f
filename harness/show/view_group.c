#include <stdlib.h>
#include <string.h>

#include "show/view_group.h"

static int group_order(const struct stored_case *a, const struct stored_case *b)
{
    const struct case_id *x = &a->result.id, *y = &b->result.id;
    int order = strcmp(x->shape, y->shape);
    if (order == 0) order = strcmp(x->operation, y->operation);
    if (order == 0) order = strcmp(a->group_label, b->group_label);
    if (order == 0) order = (x->temperature > y->temperature) - (x->temperature < y->temperature);
    return order ? order : (a->purpose > b->purpose) - (a->purpose < b->purpose);
}

/* Cases of a run are in one array, so their addresses give their order. For qsort. */
static int case_order(const void *a, const void *b)
{
    const struct stored_case *x = *(const struct stored_case *const *)a;
    const struct stored_case *y = *(const struct stored_case *const *)b;
    int order = group_order(x, y);
    return order ? order : (x > y) - (x < y);
}

static int first_case_order(const void *a, const void *b)
{
    const struct view_group *x = a, *y = b;
    return (x->item[0] > y->item[0]) - (x->item[0] < y->item[0]);
}

int view_groups_make(struct view_groups *groups, const struct stored_run *run)
{
    size_t count = (size_t)run->case_count;
    *groups = (struct view_groups){.item = calloc(count + 1, sizeof *groups->item),
                                   .group = calloc(count + 1, sizeof *groups->group)};
    if (!groups->item || !groups->group) {
        view_groups_release(groups);
        return assay_error("out of memory for %d cases", run->case_count);
    }
    for (size_t i = 0; i < count; i++)
        groups->item[i] = &run->cases[i];
    qsort(groups->item, count, sizeof *groups->item, case_order);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || group_order(groups->item[i - 1], groups->item[i]) != 0)
            groups->group[groups->count++].item = &groups->item[i];
        groups->group[groups->count - 1].count++;
    }
    qsort(groups->group, (size_t)groups->count, sizeof *groups->group, first_case_order);
    return 0;
}

void view_groups_release(struct view_groups *groups)
{
    free(groups->item);
    free(groups->group);
    *groups = (struct view_groups){0};
}
