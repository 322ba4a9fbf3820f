/*
 * plot_rows.h - which rows of a run a plot shows, and short names for them without the words
 * that all share. Pure.
 */
#pragma once

#include "plot/plot.h"
#include "show/view.h"

enum { PLOT_MAX_NAME = 129, PLOT_MAX_COMMON = 512, PLOT_MAX_ROWS = 60 };

/* Whether the request includes the case. */
bool plot_takes(const struct plot_request *request, const struct case_id *id);

/* Whether a row has a time to draw and the request includes it. */
bool plot_row_taken(const struct plot_request *request, const struct view_row *row);

/* Keep the rows of one group: that with the most rows that are at most `widest` times as slow
 * as its fastest; among equals the one with the most work. Returns their number. */
int plot_keep_group(const struct view_row **row, int count, double widest);

/* Keep the rows of the task (equal sizes, data that goes in, and temperature) that most of them
 * have; among equals the larger, then the earlier.
 * Returns their number; -1 with assay_error when out of memory. */
int plot_keep_task(const struct view_row **row, int count);

/* Pair `index` of a shape ("n=5000000"), its length in *length; NULL after the last. */
const char *plot_pair(const char *shape, int index, int *length);
/* Whether the value of a pair is an integer. */
bool plot_pair_is_size(const char *pair, int length);
/* The pairs of a shape that say what is to be done, sizes and the data that goes in
 * (assay_operation.data_dims): "rows=16 columns=32 data=gaussian". */
void plot_task_of(const struct case_id *id, char out[RESULT_MAX_SHAPE]);

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
