/*
 * plot.h - pictures of a run. A plot is one query, one .tsv and one gnuplot
 * script (plots/NAME.gp), which is run as `gnuplot -c NAME.gp DATA.tsv OUTPUT`
 * and can be run so again by hand.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "store.h"

struct plot_options {
    const char *output;    /* ends in .svg, .png or .pdf */
    const char *operation; /* NULL: the one with the most sizes */
    const char *only;      /* glob on the dims that stay and the temperature; NULL: any */
    bool keep_script;      /* leave OUTPUT's .tsv and .gp beside it */
};

/* What a plot came to; all but PLOT_DRAWN after assay_error. */
enum plot_outcome { PLOT_DRAWN, PLOT_FAILED, PLOT_NOTHING /* the run has no such rows */ };

/* Draw one kind. */
struct plot_kind {
    const char *name;
    const char *summary;
    enum plot_outcome (*draw)(const struct stored_run *run, const struct plot_options *options);
};

extern const struct plot_kind plot_kinds[]; /* ended by a NULL name */

enum plot_outcome plot_sweep(const struct stored_run *run, const struct plot_options *options);

/* ----------------------------------------------------------- for the kinds -- */

/* Write the data with `write` (0, or -1 after assay_error) and run plots/`script`
 * on it. 0, or -1 after assay_error: gnuplot's own words when it failed. */
int plot_draw(const char *script, int (*write)(FILE *out, const void *context), const void *context,
              const struct plot_options *options);

/* One field of a .tsv, safe for gnuplot: no tab, line end or quote ends it, and
 * none can begin a comment. */
void plot_text(FILE *out, const char *text);

#endif
