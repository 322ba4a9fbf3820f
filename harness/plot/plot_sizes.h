/*
 * plot_sizes.h - the sizes in the shapes of cases, and which of them has the most. Pure.
 */
#ifndef PLOT_SIZES_H
#define PLOT_SIZES_H

#include "show/view.h"

/* The pairs of a shape that are sizes, whole numbers: "rows=16 columns=32". */
void plot_size_of(const char *shape, char out[RESULT_MAX_SHAPE]);

/* The size with the most of the rows, the larger of equals, the earlier of those; "" of no
 * rows. -1 with assay_error when memory ends. */
int plot_size_most(const struct view_row *const *rows, int count, char out[RESULT_MAX_SHAPE]);

#endif
