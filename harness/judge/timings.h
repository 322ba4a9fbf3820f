/*
 * timings.h - a run as comparing needs it: the median of each case in each launch, and of short
 * cases what their samples say of the clock, so that ten thousand cases are read quickly.
 */
#pragma once

#include "case/run_record.h"
#include "judge/clock_steps.h"

struct timing {
    struct case_id id;
    int launch; /* index into timings.run.launches */
    int status; /* enum case_status */
    char reason[ASSAY_MAX_REASON];
    double threshold; /* the suite's smallest change that counts, a fraction; NAN none */
    bool is_baseline;
    double time_ns, lo_ns, hi_ns; /* NAN unless ok */
    double ceiling_ns; /* what it would take at the ceiling that binds it; 0 or NAN: not known */
    struct clock_steps steps; /* of a short case */
    double sm_mhz;
    double bytes, ops; /* minimum work */
    uint64_t clock_reasons;
    char code_hash[RESULT_MAX_HASH];
    /* If the note begins with "input ", the next word, which identifies input data that the
     * user supplied; "" if the operation generated the input. */
    char input[16];
};

/* A case that the plan of a launch named, and that left no row there. */
struct lost_case {
    struct case_id id;
    int launch; /* index into timings.run.launches */
};

struct timings {
    struct stored_run run; /* without cases */
    struct timing *rows;   /* in the order of timing_order */
    int count;
    struct lost_case *lost; /* in the order of case_id_order */
    int lost_count;
};

void timings_release(struct timings *timings);

/* Append the launches of `more` to those of `pool`, as if all were of one run. */
int timings_append(struct timings *pool, struct timings *more);

/* The first row of a case; the rows of its other launches follow. NULL: none. */
const struct timing *timings_first(const struct timings *timings, const struct case_id *id);

/* The same of its losses. */
const struct lost_case *timings_first_lost(const struct timings *timings, const struct case_id *id);

/* The baseline of the row's group in the same launch; NULL: none. `row` is one of timings->rows. */
const struct timing *timing_baseline(const struct timings *timings, const struct timing *row);

/* NAN if there is none. `row` likewise. */
double timing_metric(const struct timings *timings, const struct timing *row,
                     enum metric_kind metric);

/* Order by operation, shape, temperature, variant, place, so that the cases of a group are
 * adjacent. 0: the same case. */
int case_id_order(const struct case_id *a, const struct case_id *b);
/* The first element of a case in an array that is in this order and whose elements begin with
 * their case_id; the others of the case follow. NULL: none. */
const void *case_first(const struct case_id *id, const void *array, int count, size_t size);
/* The same, then by launch; for qsort. */
int timing_order(const void *a, const void *b);
/* Order of losses, by case; for qsort. */
int lost_case_order(const void *a, const void *b);
/* Whether two cases belong to the same group. */
bool case_id_same_group(const struct case_id *a, const struct case_id *b);
