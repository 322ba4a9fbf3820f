/*
 * plot.h - pictures of runs. A kind of plot consists of one query, which writes a .tsv,
 * and one gnuplot script (plots/KIND.gp, which loads plots/style.gp). The script is run as
 * `gnuplot -c KIND.gp DATA.tsv OUTPUT` and can be run by hand in the same way.
 * docs/plots.md is the manual; a new kind takes a query, a script and a row of plot_kinds.
 */
#pragma once

#include <stdbool.h>

#include "judge/comparison.h"
#include "store/store.h"

/* What to draw. Everything is borrowed; what a kind does not need may be NULL. */
struct plot_request {
    const struct stored_run *run;     /* with its samples */
    const struct stored_run *against; /* an older run to compare with; NULL: none */
    struct store *store;              /* of the run; open for reading */

    const struct comparison *comparison; /* of the run with an older one; NULL: none */

    const char *operation; /* only this one; NULL: any */
    const char *cases;     /* pattern of cases (case_name.h); NULL: any */
    const char *only;      /* glob on "shape temperature" (sweep: on the fixed part); NULL: any */
    const char *metric;    /* pareto: which metric; sweep: bytes, ops or time; NULL: automatic */

    const char *output; /* ends in .svg, .png or .pdf; "-": the terminal */
    int columns;        /* of the terminal; 0: 100 */
    const char *title;  /* instead of the kind's own; NULL: that */
    int width_px;       /* instead of the kind's own; 0: that */
    const char *theme;  /* "dark"; else light */
    bool keep_script;   /* leave OUTPUT's .tsv and .gp beside it */
};

/* The result of drawing; all but PLOT_DRAWN set assay_error. */
enum plot_outcome { PLOT_DRAWN, PLOT_FAILED, PLOT_NOTHING /* no such rows */ };

/* What a kind needs and what it can use, as bits. */
enum plot_need {
    PLOT_RUN = 1,
    PLOT_AGAINST = 2,
    PLOT_STORE = 4,
    PLOT_TAKES_AGAINST = 8,
    PLOT_TAKES_METRIC = 16,
    PLOT_OF_GATES = 32, /* the newest run may be a launch of a gate, as only its device matters */
};

struct plot;

struct plot_kind {
    const char *name;                              /* of the script, too: plots/NAME.gp */
    unsigned needs;                                /* enum plot_need */
    enum plot_outcome (*query)(struct plot *plot); /* writes the .tsv (plot_data.h) */
    const char *otherwise; /* the kind to draw instead if this one has nothing; NULL: none */
};

extern const struct plot_kind plot_kinds[]; /* ended by a NULL name */

/* The kind with this name; NULL with assay_error, which suggests one. */
const struct plot_kind *plot_find(const char *name);

/* Draw one kind into request->output: a complete new file, or none. The request has what the
 * kind needs. */
enum plot_outcome plot_draw(const struct plot_kind *kind, const struct plot_request *request);
