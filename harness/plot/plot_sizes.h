/*
 * plot_sizes.h - the sizes in the shapes of cases, and the most frequent size. Pure.
 */
#ifndef PLOT_SIZES_H
#define PLOT_SIZES_H

#include "show/view.h"

/* The pairs of a shape whose values are integers: "rows=16 columns=32". */
void plot_size_of(const char *shape, char out[RESULT_MAX_SHAPE]);

/* The size that most rows have; among equals the larger, then the earlier. "" without rows. -1
 * with assay_error when out of memory. */
int plot_size_most(const struct view_row *const *rows, int count, char out[RESULT_MAX_SHAPE]);

#endif
