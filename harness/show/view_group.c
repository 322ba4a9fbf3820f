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

/* Mark each case with the index of the first case of its group. */
static void find_firsts(struct view_groups *groups, const struct stored_run *run)
{
    const struct stored_case *first = NULL;
    for (int i = 0; i < run->case_count; i++)
        groups->item[i] = &run->cases[i];
    if (run->case_count > 0)
        qsort(groups->item, (size_t)run->case_count, sizeof *groups->item, case_order);
    for (int i = 0; i < run->case_count; i++) {
        const struct stored_case *one = groups->item[i];
        if (!first || group_order(first, one) != 0) first = one;
        groups->number[one - run->cases] = (int)(first - run->cases);
    }
}

/* Replace first cases by group numbers: a case that is its own first begins a new group. */
static void number_groups(struct view_groups *groups, const struct stored_run *run)
{
    for (int i = 0; i < run->case_count; i++) {
        bool begins = groups->number[i] == i;
        groups->number[i] = begins ? groups->count++ : groups->number[groups->number[i]];
        groups->begin[groups->number[i] + 1]++;
    }
    for (int g = 0; g < groups->count; g++)
        groups->begin[g + 1] += groups->begin[g];
}

static void collect(struct view_groups *groups, const struct stored_run *run, int *end)
{
    memcpy(end, groups->begin, (size_t)groups->count * sizeof *end);
    for (int i = 0; i < run->case_count; i++)
        groups->item[end[groups->number[i]]++] = &run->cases[i];
}

int view_groups_make(struct view_groups *groups, const struct stored_run *run)
{
    size_t space = (size_t)run->case_count + 2;
    int *end = calloc(space, sizeof *end);
    *groups = (struct view_groups){.item = calloc(space, sizeof *groups->item),
                                   .begin = calloc(space, sizeof *groups->begin),
                                   .number = calloc(space, sizeof *groups->number)};
    bool whole = end && groups->item && groups->begin && groups->number;
    if (whole) {
        find_firsts(groups, run);
        number_groups(groups, run);
        collect(groups, run, end);
    }
    free(end);
    if (whole) return 0;
    view_groups_release(groups);
    return assay_error("out of memory for %d cases", run->case_count);
}

struct view_group view_group_at(const struct view_groups *groups, int number)
{
    int begin = groups->begin[number];
    return (struct view_group){groups->item + begin, groups->begin[number + 1] - begin, number};
}

void view_groups_release(struct view_groups *groups)
{
    free(groups->item);
    free(groups->begin);
    free(groups->number);
    *groups = (struct view_groups){0};
}
