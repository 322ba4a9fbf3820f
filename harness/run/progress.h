/*
 * progress.h - progress on standard error while a run measures: on a terminal a bar with
 * the case, the count and the time left, redrawn at most five times per second; elsewhere
 * one line per group.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "case/result.h"

enum { PROGRESS_LINE = 512 };

struct progress {
    FILE *out;
    bool terminal, colour;
    bool quiet;        /* failures alone are told */
    const char *where; /* the device, where several report; NULL: there is one */
    int groups, group; /* total, and the current one (1-based) */
    int cases, done;
    double started_s, drawn_s;
    char text[160];     /* the current group */
    char step[80];      /* the current step of the current case */
    int seen[STATUSES]; /* cases of this group by status */
    bool drawn;         /* a bar is on the screen */
};

/* `out` is usually stderr; NO_COLOR and TERM=dumb are honoured. */
void progress_begin(struct progress *progress, FILE *out, int groups, int cases);
/* A group begins: "int8_quantize n=5000000 input=fp32 cold". */
void progress_group(struct progress *progress, const char *heading);
/* What the worker does now ("rcp4_fma: check"); cheap to call often. */
void progress_step(struct progress *progress, const char *step);
/* A case ended; `name` is its case_text, `status` an enum case_status (-1: missing). If it is
 * neither ok nor skipped, it is printed at once. */
void progress_case(struct progress *progress, const char *name, int status, const char *reason);
/* The group ended after `seconds`; prints its line unless on a terminal, with `instead` where no
 * case of it ended ("measured before"). */
void progress_group_end(struct progress *progress, const char *instead, double seconds);
void progress_end(struct progress *progress);

/* The bar at time `now_s` (by the clock of started_s), at most `columns` wide. Pure. The time
 * left is extrapolated from the cases done, after the first group. */
void progress_line(const struct progress *progress, double now_s, int columns,
                   char out[PROGRESS_LINE]);
