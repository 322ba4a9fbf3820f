#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/timings.h"

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

int lost_case_order(const void *a, const void *b)
{
    const struct lost_case *x = a, *y = b;
    return case_id_order(&x->id, &y->id);
}

static int id_order(const void *id, const void *element)
{
    return case_id_order(id, element);
}

const void *case_first(const struct case_id *id, const void *array, int count, size_t size)
{
    const char *first = count ? bsearch(id, array, (size_t)count, size, id_order) : NULL;
    while (first && first > (const char *)array && id_order(id, first - size) == 0)
        first -= size;
    return first;
}

const struct timing *timings_first(const struct timings *timings, const struct case_id *id)
{
    return case_first(id, timings->rows, timings->count, sizeof *timings->rows);
}

const struct lost_case *timings_first_lost(const struct timings *timings, const struct case_id *id)
{
    return case_first(id, timings->lost, timings->lost_count, sizeof *timings->lost);
}

const struct timing *timing_baseline(const struct timings *timings, const struct timing *row)
{
    const struct timing *end = timings->rows + timings->count, *first = row;
    while (first > timings->rows && case_id_same_group(&first[-1].id, &row->id))
        first--;
    for (const struct timing *t = first; t < end && case_id_same_group(&t->id, &row->id); t++)
        if (t->is_baseline && t->launch == row->launch) return t;
    return NULL;
}

double timing_metric(const struct timings *timings, const struct timing *row,
                     enum metric_kind metric)
{
    if (metric == METRIC_MEDIAN) return row->time_ns;
    if (metric == METRIC_MEAN) return row->steps.mean_ns > 0 ? row->steps.mean_ns : row->time_ns;
    if (metric == METRIC_SHARE) return row->ceiling_ns > 0 ? row->time_ns / row->ceiling_ns : NAN;
    const struct timing *baseline = timing_baseline(timings, row);
    return baseline ? row->time_ns / baseline->time_ns : NAN;
}

int timings_append(struct timings *pool, struct timings *more)
{
    int rounds = stored_run_rounds(&pool->run) + stored_run_rounds(&more->run);
    size_t launches = (size_t)(pool->run.launch_count + more->run.launch_count);
    size_t rows = (size_t)(pool->count + more->count);
    struct launch_info *launch = realloc(pool->run.launches, (launches + 1) * sizeof *launch);
    if (launch) pool->run.launches = launch;
    struct timing *row = realloc(pool->rows, (rows + 1) * sizeof *row);
    if (row) pool->rows = row;
    struct lost_case *lost =
        realloc(pool->lost, (size_t)(pool->lost_count + more->lost_count + 1) * sizeof *lost);
    if (lost) pool->lost = lost;
    if (!launch || !row || !lost) return assay_error("out of memory for the times of a launch");
    if (pool->run.launch_count == 0) { /* the pool describes itself by its first run */
        pool->run.run = more->run.run;
        pool->run.suite_text = more->run.suite_text;
        pool->run.run.suite_text = pool->run.suite_text;
        pool->run.objects = more->run.objects;
        more->run.suite_text = NULL;
        more->run.objects = NULL;
        pool->run.program = more->run.program;
        pool->run.host = more->run.host;
        memcpy(pool->run.started_at, more->run.started_at, sizeof pool->run.started_at);
    }
    for (int i = 0; i < more->count; i++) {
        pool->rows[pool->count + i] = more->rows[i];
        pool->rows[pool->count + i].launch += pool->run.launch_count;
    }
    for (int i = 0; i < more->lost_count; i++) {
        lost[pool->lost_count + i] = more->lost[i];
        lost[pool->lost_count + i].launch += pool->run.launch_count;
    }
    for (int i = 0; i < more->run.launch_count; i++)
        pool->run.launches[pool->run.launch_count + i] = more->run.launches[i];
    pool->count += more->count;
    pool->run.launch_count += more->run.launch_count;
    pool->run.rounds = rounds;
    pool->lost_count += more->lost_count;
    qsort(pool->rows, (size_t)pool->count, sizeof *pool->rows, timing_order);
    qsort(pool->lost, (size_t)pool->lost_count, sizeof *pool->lost, lost_case_order);
    return 0;
}

void timings_release(struct timings *timings)
{
    stored_run_release(&timings->run);
    free(timings->rows);
    free(timings->lost);
    memset(timings, 0, sizeof *timings);
}
