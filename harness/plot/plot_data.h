/*
 * plot_data.h - shared by the queries of the plots: the settings, texts and units of a .tsv,
 * and the selection of cases.
 *
 * A .tsv consists of blocks separated by two empty lines. The first contains settings (name,
 * value); the head comment of the kind's script describes the others.
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

/* Write one field, safe for gnuplot: it cannot contain a tab, line end or quote, start a
 * comment or break a label. Invalid UTF-8 becomes "?". */
void plot_text(FILE *out, const char *text);

void plot_setting(FILE *out, const char *name, const char *text);
void plot_setting_number(FILE *out, const char *name, double value);
void plot_block_end(FILE *out);

/* The first settings: the title, and below it the device, its clock, the run, its
 * date and `note` (NULL or "": none). run may be NULL. */
void plot_head(FILE *out, const struct stored_run *run, const char *title, const char *note);

/* The size of the picture in pixels, and its number of lines in a terminal. */
void plot_size(FILE *out, int wide, int high, int lines);
/* The same for a chart with one line of text per row, at most `chars` long. */
void plot_size_rows(FILE *out, int rows, int chars);

/* Characters (not bytes) of a text. */
int plot_width(const char *text);

/* A unit and its size in base units. */
struct plot_scale {
    double factor;
    const char *name;
};

/* The first unit of which `largest` is at least one. */
const struct plot_scale *plot_byte_rate(double largest); /* B/s */
const struct plot_scale *plot_op_rate(double largest);   /* FLOP/s */
const struct plot_scale *plot_time(double largest);      /* ns */

/* Whether a ceiling with this name limits operations rather than bytes. */
bool plot_ceiling_is_ops(const char *name);

/* Whether the request includes the case. */
bool plot_takes(const struct plot_request *request, const struct case_id *id);

/* PLOT_NOTHING after assay_error: "nothing to draw: WHAT", and what was asked for. */
enum plot_outcome plot_nothing(const struct plot_request *request, const char *what);

/* `otherwise` if the value is NAN, so that an unknown interval has no width. */
double plot_or(double value, double otherwise);

#endif
