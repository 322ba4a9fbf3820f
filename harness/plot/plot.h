/*
 * plot.h - pictures of runs. A kind of plot is one query, which writes one .tsv,
 * and one gnuplot script (plots/KIND.gp over plots/style.gp), which is run as
 * `gnuplot -c KIND.gp DATA.tsv OUTPUT` and can be run so again by hand.
 * docs/plots.md is the manual; a new kind is a query, a script and a row of
 * plot_kinds.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "judge/comparison.h"
#include "plot/plot_place.h"
#include "store/store.h"

/* What to draw of what. Everything is borrowed; what a kind does not need may be NULL. */
struct plot_request {
    const struct stored_run *run;     /* with its samples */
    const struct stored_run *against; /* an older run to compare with; NULL: none */
    struct store *store;              /* of the run; open for reading */

    const struct comparison *comparison; /* of the run with an older one; NULL: none */

    const char *operation; /* only this one; NULL: any */
    const char *cases;     /* pattern of cases (case_name.h); NULL: any */
    const char *only;      /* glob on "shape temperature" (sweep: on what stays); NULL: any */
    const char *metric;    /* pareto: which metric; sweep: bytes, ops or time; NULL: fits best */

    const char *output; /* ends in .svg, .png or .pdf; "-": the terminal */
    int columns;        /* of the terminal; 0: 100 */
    bool keep_script;   /* leave OUTPUT's .tsv and .gp beside it */

    /* Filled with where the cases lie in an SVG, none for a kind that does not say;
     * the caller's to release. Not with keep_script. NULL: nobody asks. */
    struct plot_places *places;
};

/* What a plot came to; all but PLOT_DRAWN after assay_error. */
enum plot_outcome { PLOT_DRAWN, PLOT_FAILED, PLOT_NOTHING /* no such rows */ };

/* What a kind cannot do without, and what it knows to use, bits. */
enum plot_need {
    PLOT_RUN = 1,
    PLOT_AGAINST = 2,
    PLOT_STORE = 4,
    PLOT_TAKES_AGAINST = 8,
    PLOT_TAKES_METRIC = 16,
    PLOT_OF_GATES = 32, /* the newest run may be a launch of a gate: its device is what counts */
};

struct plot_kind {
    const char *name;
    const char *summary;
    const char *script; /* in plots/ */
    unsigned needs;     /* enum plot_need */
    /* Write the .tsv: PLOT_DRAWN, or what it came to after assay_error. */
    enum plot_outcome (*query)(FILE *out, const struct plot_request *request);
    const char *otherwise; /* the kind to draw where this one has nothing; NULL: none */
};

extern const struct plot_kind plot_kinds[]; /* ended by a NULL name */

/* The kind of this name; NULL after assay_error, which suggests one. */
const struct plot_kind *plot_find(const char *name);

/* Draw one kind into request->output: a whole new file, or none. For reports:
 *   struct plot_request request = {.run = run, .output = "x.svg"};
 *   plot_draw(plot_find("roofline"), &request);
 * An SVG of `plot_draw` has a white card of its own, and may stand in HTML inline. */
enum plot_outcome plot_draw(const struct plot_kind *kind, const struct plot_request *request);

#endif
