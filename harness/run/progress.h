/*
 * progress.h - what a person sees on standard error while a run measures: a
 * bar with the case, the count and the time left on a terminal, a line a group
 * elsewhere. Redraws at most five times a second.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "case/result.h"

enum { PROGRESS_LINE = 512 };

struct progress {
    FILE *out;
    bool terminal, colour;
    int groups, group; /* all, and the one under way (1-based) */
    int cases, done;
    double started_s, drawn_s;
    char text[160];     /* of the group */
    char step[80];      /* of the case, now */
    int seen[STATUSES]; /* cases of this group, by how they ended */
    bool drawn;         /* a bar is on the screen */
};

/* `out` is usually stderr; NO_COLOR and TERM=dumb are honoured. */
void progress_begin(struct progress *progress, FILE *out, int groups, int cases);
/* A group begins: "int8_quantize n=5000000 input=fp32 cold". */
void progress_group(struct progress *progress, const char *heading, int variants);
/* What the worker does now ("rcp4_fma: check"); cheap to call often. */
void progress_step(struct progress *progress, const char *step);
/* A case ended (case_text), with a word for it ("ok", "wrong: ..."): status_name and what
 * follows. One that is not fine is said at once. */
void progress_case(struct progress *progress, const char *name, const char *outcome, bool fine);
/* The group ended after `seconds`; off a terminal this prints its line. */
void progress_group_end(struct progress *progress, double seconds);
void progress_end(struct progress *progress);

/* The bar at `now_s` (as started_s), at most `columns` wide. Pure. The time left
 * is for the cases left at the pace so far, from the end of the first group on. */
void progress_line(const struct progress *progress, double now_s, int columns,
                   char out[PROGRESS_LINE]);

#endif
