/*
 * compare_fixture.h - two runs made up for comparing: launches of one H200, cases of
 * one operation, with the medians that a test gives them.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "judge/compare.h"

/* Two per cent, whatever the clocks did. */
static inline struct compare_options plain(void)
{
    return (struct compare_options){.threshold = 0.02};
}

static inline void begin(struct timings *timings, const char *id, int launches, int cases)
{
    memset(timings, 0, sizeof *timings);
    strcpy(timings->run.run.id, id);
    strcpy(timings->run.run.suite, "smoke");
    timings->run.launch_count = launches;
    timings->run.launches = calloc((size_t)launches, sizeof *timings->run.launches);
    timings->rows = calloc((size_t)(launches * cases) + 1, sizeof *timings->rows);
    for (int i = 0; i < launches; i++) {
        struct launch_info *launch = &timings->run.launches[i];
        strcpy(launch->device.name, "NVIDIA H200");
        strcpy(launch->device.driver, "580");
        launch->device.clock = CLOCK_CUPTI;
        launch->device.clock_step_ns = NAN;
    }
}

static inline struct timing *add(struct timings *timings, int launch, const char *variant,
                                 double time_ns)
{
    struct timing *row = &timings->rows[timings->count++];
    strcpy(row->id.operation, "copy");
    strcpy(row->id.variant, variant);
    strcpy(row->id.shape, "n=1");
    row->launch = launch;
    row->status = STATUS_OK;
    row->time_ns = time_ns;
    row->lo_ns = time_ns * 0.999;
    row->hi_ns = time_ns * 1.001;
    row->sm_mhz = 1980;
    row->bytes = 8;
    return row;
}

/* One case, `launches` times, each a little different. */
static inline void fill(struct timings *timings, const char *id, int launches, double time_ns)
{
    begin(timings, id, launches, 1);
    for (int i = 0; i < launches; i++)
        add(timings, i, "fast", time_ns * (1 + 1e-4 * i));
}

static inline struct comparison compare(struct timings *base, struct timings *candidate,
                                        const struct compare_options *options)
{
    struct comparison comparison;
    qsort(base->rows, (size_t)base->count, sizeof *base->rows, timing_order);
    qsort(candidate->rows, (size_t)candidate->count, sizeof *candidate->rows, timing_order);
    assert_int_equal(compare_runs(&comparison, base, candidate, options), 0);
    return comparison;
}

static inline const struct comparison_row *row_of(const struct comparison *comparison,
                                                  const char *variant)
{
    for (int i = 0; i < comparison->count; i++)
        if (strcmp(comparison->rows[i].id.variant, variant) == 0) return &comparison->rows[i];
    fail_msg("there is no row %s", variant);
    return NULL;
}

/* One case of six launches a side, as `change` makes it; the row it comes to. */
static inline struct comparison_row judged(void (*change)(struct timings *base,
                                                          struct timings *candidate,
                                                          struct compare_options *options),
                                           double ratio)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 6, 1000);
    fill(&candidate, "b", 6, 1000 * ratio);
    change(&base, &candidate, &options);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 1);
    struct comparison_row row = comparison.rows[0];
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return row;
}

static inline void nothing(struct timings *base, struct timings *candidate,
                           struct compare_options *options)
{
    (void)base, (void)candidate, (void)options;
}
