/*
 * plot_rows.h - which rows of a run a plot shows, and short names for them without the words
 * that all share. Pure.
 */
#ifndef PLOT_ROWS_H
#define PLOT_ROWS_H

#include "plot/plot.h"
#include "show/view.h"

enum { PLOT_MAX_NAME = 97, PLOT_MAX_COMMON = 512, PLOT_MAX_ROWS = 60 };

/* Whether a row has a time to draw and the request includes it. */
bool plot_row_taken(const struct plot_request *request, const struct view_row *row);

/* The row of this case; -1: none. */
int plot_row_find(const struct view *view, const struct case_id *id);

/* The group with the most rows to draw that are at most `widest` times as slow as its fastest;
 * among equals the one with the most work; -1: none. */
int plot_row_group(const struct plot_request *request, const struct view *view, double widest);

/* Words (operation, variant, pairs of the shape, temperature) that all cases share. */
struct plot_common {
    const struct case_id *first; /* NULL: of no case */
    bool operation, variant, temperature;
    unsigned pairs; /* bits: pair of the first's shape */
};

/* Add a case. Zero `common` before the first one, which must outlive it. */
void plot_common_add(struct plot_common *common, const struct case_id *id);

/* The shared words: "int8_quantize n=5000000 cold"; "" for none. */
void plot_common_text(const struct plot_common *common, char out[PLOT_MAX_COMMON]);

/* The other words of a case's name: "best input=fp32"; cut with "..." if too long. */
void plot_common_rest(const struct plot_common *common, const struct case_id *id,
                      char out[PLOT_MAX_NAME]);

#endif
