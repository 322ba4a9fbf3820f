/*
 * plot_rows.h - which rows of a run a plot shows, and how it names them when most
 * of their names is the same. Pure.
 */
#ifndef PLOT_ROWS_H
#define PLOT_ROWS_H

#include "plot/plot.h"
#include "show/view.h"

enum { PLOT_MAX_NAME = 97, PLOT_MAX_COMMON = 512, PLOT_MAX_ROWS = 60 };

/* Whether a row has a time to draw and is asked for. */
bool plot_row_taken(const struct plot_request *request, const struct view_row *row);

/* The row of this case; -1: there is none. */
int plot_row_find(const struct view *view, const struct case_id *id);

/* The group with the most such rows that are no more than `widest` times as slow as its
 * fastest, then the one with the most work; -1: there is none. */
int plot_row_group(const struct plot_request *request, const struct view *view, double widest);

/* Words (operation, variant, pairs of the shape, temperature) that all cases share. */
struct plot_common {
    const struct case_id *first; /* NULL: of no case */
    bool operation, variant, temperature;
    unsigned pairs; /* bits: pair of the first's shape */
};

/* Take in one more case. Zero it before the first; the first must outlive it. */
void plot_common_add(struct plot_common *common, const struct case_id *id);

/* What they share: "int8_quantize n=5000000 cold"; "" nothing. */
void plot_common_text(const struct plot_common *common, char out[PLOT_MAX_COMMON]);

/* What is left of a case's name: "best input=fp32"; cut with "..." where it is long. */
void plot_common_rest(const struct plot_common *common, const struct case_id *id,
                      char out[PLOT_MAX_NAME]);

#endif
