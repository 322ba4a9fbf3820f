/*
 * plot_gnuplot.h - runs gnuplot; nothing else does.
 */
#ifndef PLOT_GNUPLOT_H
#define PLOT_GNUPLOT_H

#include "plot/plot.h"

/* -1 with assay_error unless `output` is "-" or names a file of a kind that is
 * drawn, in a folder that can be written. */
int gnuplot_output_check(const char *output);

/* Run plots/`script` on the `size` bytes of a .tsv, for the request's output:
 * a whole file or none. 0, or -1 with assay_error: gnuplot's own words when it
 * failed. */
int gnuplot_draw(const char *script, const char *tsv, size_t size,
                 const struct plot_request *request);

/* "gnuplot 5.4 patchlevel 4"; false where there is none. */
bool gnuplot_version(char *out, size_t size);

#endif
