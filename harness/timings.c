/* timings.c - see timings.h. */
#include <stdlib.h>
#include <string.h>

#include "timings.h"

static int group_order(const struct case_id *a, const struct case_id *b)
{
    int order = strcmp(a->operation, b->operation);
    if (order == 0) order = strcmp(a->shape, b->shape);
    return order ? order : (a->temperature > b->temperature) - (a->temperature < b->temperature);
}

int case_id_order(const struct case_id *a, const struct case_id *b)
{
    int order = group_order(a, b);
    if (order == 0) order = strcmp(a->variant, b->variant);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

bool case_id_same_group(const struct case_id *a, const struct case_id *b)
{
    return group_order(a, b) == 0;
}

int timing_order(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    int order = case_id_order(&x->id, &y->id);
    return order ? order : (x->launch > y->launch) - (x->launch < y->launch);
}

void timings_release(struct timings *timings)
{
    stored_run_release(&timings->run);
    free(timings->rows);
    memset(timings, 0, sizeof *timings);
}
