/*
 * plot_data.h - a picture in the making, and what the queries of the kinds write into it: the
 * settings, lines and blocks of a .tsv.
 *
 * A .tsv consists of blocks separated by two empty lines. The first contains settings (name,
 * value); the head comment of the kind's script describes the others. A query may write the
 * two in any order: settings often depend on what was drawn.
 */
#pragma once

#include <math.h>

#include "base/text.h"
#include "plot/plot.h"
#include "plot/plot_rows.h"

struct plot {
    const struct plot_kind *kind;
    const struct plot_request *request;
    struct view view;            /* of the request's run; empty: none */
    struct view older;           /* of `against`, if the query makes it */
    const struct view_row **row; /* those to draw, as in the view; a query may sort and cut them */
    int count;
    struct plot_common common; /* of the cases drawn */
    char title[2 * PLOT_MAX_COMMON], subtitle[2 * PLOT_MAX_COMMON], note[320];
    FILE *settings, *out;   /* the first block, and the others */
    int chars, right_chars; /* of the longest first and last text of the lines so far */
    struct plot_room *rooms;
    char *text[2]; /* of the two streams */
    size_t size[2];
};

/* The queries of the kinds (plot_KIND.c). */
enum plot_outcome plot_roofline(struct plot *plot);
enum plot_outcome plot_sweep(struct plot *plot);
enum plot_outcome plot_bars(struct plot *plot);
enum plot_outcome plot_speedup(struct plot *plot);
enum plot_outcome plot_forest(struct plot *plot);
enum plot_outcome plot_dist(struct plot *plot);
enum plot_outcome plot_timeline(struct plot *plot);
enum plot_outcome plot_history(struct plot *plot);
enum plot_outcome plot_pareto(struct plot *plot);
enum plot_outcome plot_pipeline(struct plot *plot);
enum plot_outcome plot_noise(struct plot *plot);

/* 0, or -1 with assay_error; plot_close either way. */
int plot_open(struct plot *plot, const struct plot_kind *kind, const struct plot_request *request);
/* Write the whole .tsv, once everything is in. -1 with assay_error. */
int plot_write(FILE *out, struct plot *plot);
void plot_close(struct plot *plot);

/* Zeroed memory until plot_close; NULL with assay_error. */
void *plot_alloc(struct plot *plot, int count, size_t size);

/* PLOT_NOTHING after assay_error: "nothing to draw: WHAT", and what was asked for. */
enum plot_outcome plot_nothing(const struct plot *plot, const char *what);

/* ---------------------------------------------------------------- settings -- */

void plot_setting(struct plot *plot, const char *name, const char *text); /* "": left out */
void plot_setting_number(struct plot *plot, const char *name, double value);

/* The title, with what the cases have in common. Below it stand the device, its clock, the run
 * and its date, then the note. */
void plot_title(struct plot *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add to the note, after `between` unless it is the first. */
#define plot_note(plot, between, ...)                                                              \
    text_add((plot)->note, sizeof(plot)->note, between, __VA_ARGS__)

/* The size of the picture in pixels, and its number of lines in a terminal. */
void plot_size(struct plot *plot, int wide, int high, int lines);
/* The same for a chart with one line of text per row; after its lines. */
void plot_size_rows(struct plot *plot, int rows);

/* ------------------------------------------------------------------- lines -- */

/* Write one field, safe for gnuplot: it cannot contain a tab, line end or quote, start a
 * comment, break a label or be blank. Invalid UTF-8 becomes "?". */
void plot_text(FILE *out, const char *text);

/* One line: a text, formatted fields (separated by tabs), a text; any but one may be NULL. */
void plot_line(struct plot *plot, const char *first, const char *last, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void plot_block_end(struct plot *plot);

/* ---------------------------------------------------------- units and axes -- */

/* A unit and its size in base units. */
struct plot_scale {
    double factor;
    const char *name;
};

/* The unit of a quantity that has its largest value as one or more; the smallest unit below. */
enum plot_quantity { PLOT_BYTE_RATE, PLOT_OP_RATE, PLOT_TIME /* ns */ };
const struct plot_scale *plot_scale(enum plot_quantity quantity, double largest);

/* What the axes must hold. Begin with PLOT_NO_EXTENT. */
struct plot_extent {
    double left, right, low, top;
};
#define PLOT_NO_EXTENT ((struct plot_extent){INFINITY, 0, INFINITY, 0})
void plot_extend(struct plot_extent *extent, double x, double y);

/* `value` if it is known. */
double plot_or(double value, double otherwise);
/* An interval without NAN: one that is unknown has no width. */
struct interval plot_interval(double mid, double lo, double hi);
struct interval plot_time_of(const struct case_result *result); /* ns */

/* ------------------------------------------------- the ceilings of a roofline -- */

/* Where the run measured no ceilings, take those of the newest run of the database that did on a
 * device of this name, and say so in the note; where there is none, say that. -1 with
 * assay_error. */
int roof_find(struct plot *plot);

/* Write the lines' block of roofline.gp and widen the extents of the two panels (operations; bytes
 * alone) so that the lines and the ridge point are visible, with a margin around the cases. */
void roof_write(struct plot *plot, struct plot_extent extent[2]);
