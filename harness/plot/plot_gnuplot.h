/*
 * plot_gnuplot.h - runs gnuplot; no other file does.
 */
#pragma once

#include "plot/plot_data.h"

/* -1 with assay_error unless `output` is "-" or ends in .svg, .png or .pdf and can be
 * written. */
int gnuplot_output_check(const char *output);

/* Run the kind's script on the plot's .tsv, for the request's output: a complete file or none.
 * 0, or -1 with assay_error, which has gnuplot's message if it failed. */
int gnuplot_draw(struct plot *plot);

/* "gnuplot 5.4 patchlevel 4"; false if there is none. */
bool gnuplot_version(char *out, size_t size);
