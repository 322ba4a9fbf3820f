/*
 * export.h - shared by the exports to other tools: the rows of a run (show/view.h) that
 * are ok and belong to the suite, and their names.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include "base/json.h"
#include "show/view.h"

enum { EXPORT_NAME = 2 * ASSAY_MAX_NAME + RESULT_MAX_SHAPE + 32 };

/* A run and its derived figures. */
struct export_run {
    struct stored_run run;
    struct view view;
};

/* -1 with assay_error; export_release only after 0. */
int export_read(struct export_run *exported, struct store *store, const char *run_id);
void export_release(struct export_run *exported);

/* Whether the row has a time to export: it is ok and not measured only for its ceiling. */
bool export_has_time(const struct view_row *row);

/* "int8_quantize/best/n:5000000/input:fp32/cold/cuda", as Google Benchmark names an
 * instance by its arguments. */
void export_name(const struct view_row *row, char name[EXPORT_NAME]);

/* Flush; 0, or -1 with assay_error when writing failed. */
int export_finish(FILE *out);

/* Each writes one document to `out`. */
int export_gbench(struct store *store, const char *run_id, FILE *out);
int export_bmf(struct store *store, const char *run_id, FILE *out);
int export_prometheus(struct store *store, const char *run_id, FILE *out);

#endif
