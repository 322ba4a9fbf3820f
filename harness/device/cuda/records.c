#include "device/cuda/records.h"

#include "base/grow.h"

int records_add(struct record_list *list, const struct cupti_record *record)
{
    bool is_timed = record->start_ns != 0 && record->end_ns >= record->start_ns;
    void *items = is_timed ? grow_by_one(list->items, list->count, sizeof *record) : NULL;
    if (!items) return -1;
    list->items = items;
    list->items[list->count++] = *record;
    return 0;
}

static int by_start(const void *left, const void *right)
{
    const struct cupti_record *a = left, *b = right;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* The records of one stream arrive in order, so usually there is nothing to sort. */
void records_sort(struct record_list *list)
{
    int i = 1;
    while (i < list->count && by_start(&list->items[i - 1], &list->items[i]) <= 0)
        i++;
    if (i < list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_start);
}

void records_release(struct record_list *list)
{
    free(list->items);
    *list = (struct record_list){0};
}
