/*
 * plot_data.h - what the queries of the plots share: the .tsv's settings, its
 * texts and units, and which cases are asked for.
 *
 * A .tsv has blocks, parted by two empty lines. The first holds settings (name,
 * value); the head of the kind's script says what the others are.
 */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include "plot/plot.h"

/* The queries of the kinds (plot_KIND.c). */
enum plot_outcome plot_roofline(FILE *out, const struct plot_request *request);
enum plot_outcome plot_sweep(FILE *out, const struct plot_request *request);
enum plot_outcome plot_bars(FILE *out, const struct plot_request *request);
enum plot_outcome plot_speedup(FILE *out, const struct plot_request *request);
enum plot_outcome plot_forest(FILE *out, const struct plot_request *request);
enum plot_outcome plot_dist(FILE *out, const struct plot_request *request);
enum plot_outcome plot_timeline(FILE *out, const struct plot_request *request);
enum plot_outcome plot_history(FILE *out, const struct plot_request *request);
enum plot_outcome plot_pareto(FILE *out, const struct plot_request *request);
enum plot_outcome plot_pipeline(FILE *out, const struct plot_request *request);
enum plot_outcome plot_noise(FILE *out, const struct plot_request *request);

/* One field, safe for gnuplot: no tab, line end or quote ends it, none can begin a
 * comment or break a label. What is not UTF-8 becomes "?". */
void plot_text(FILE *out, const char *text);

void plot_setting(FILE *out, const char *name, const char *text);
void plot_setting_number(FILE *out, const char *name, double value);
void plot_block_end(FILE *out);

/* The first settings: the title, and below it the device, its clock, the run, its
 * date and `note` (NULL or "": none). run may be NULL. */
void plot_head(FILE *out, const struct stored_run *run, const char *title, const char *note);

/* The picture in pixels, and the lines of it in a terminal. */
void plot_size(FILE *out, int wide, int high, int lines);
/* The same for a chart with a line of text for each row, `chars` long at most. */
void plot_size_rows(FILE *out, int rows, int chars);

/* Characters (not bytes) of a text. */
int plot_width(const char *text);

/* A unit, and how many of the base unit it is. */
struct plot_scale {
    double factor;
    const char *name;
};

/* The first unit of which `largest` is at least one. */
const struct plot_scale *plot_byte_rate(double largest); /* B/s */
const struct plot_scale *plot_op_rate(double largest);   /* FLOP/s */
const struct plot_scale *plot_time(double largest);      /* ns */

/* Whether a ceiling of this name is of operations, not bytes. */
bool plot_ceiling_is_ops(const char *name);

/* Whether the request asks for the case. */
bool plot_takes(const struct plot_request *request, const struct case_id *id);

/* PLOT_NOTHING after assay_error: "nothing to draw: WHAT", and what was asked for. */
enum plot_outcome plot_nothing(const struct plot_request *request, const char *what);

/* `otherwise` where the value is NAN: an interval that is not known has no width. */
double plot_or(double value, double otherwise);

#endif
