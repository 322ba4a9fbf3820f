/*
 * export.h - the formats of `assay export` and `assay import`: a table of names, endings and
 * functions. A new format is a row.
 */
#pragma once

#include "base/json.h"
#include "show/view.h"

/* For a format that is only written or only read, the other functions are NULL. */
struct exchange_format {
    const char *name;
    const char *ending; /* of written files; "" none */
    /* Writing is one of these: all that is known of a run, its cases (1: the filter matches none),
     * or the rows of show/view.h. */
    int (*export_run)(struct store *store, const char *run_id, FILE *out);
    int (*export_cases)(struct store *store, const char *run_id, const char *filter, FILE *out);
    void (*export_view)(FILE *out, const struct view *view);
    int (*import_file)(struct store *store, const char *name, FILE *in, int *rows_added);
};

enum exchange_direction { EXCHANGE_OUT, EXCHANGE_IN };

/* By name; NULL with assay_error (and a suggestion) when there is none that goes
 * in this direction. */
const struct exchange_format *exchange_format_named(const char *name,
                                                    enum exchange_direction direction);
/* For writing: by the ending of the file name, .zst aside; NULL when it is unknown. */
const struct exchange_format *exchange_format_of(const char *path);
/* For reading: by content, else by ending; NULL with assay_error for one that is only written.
 * The stream must be seekable and is rewound. */
const struct exchange_format *exchange_format_sniff(FILE *in, const char *path);

/* Write the cases of a run that match the filter (NULL: all) in a format, of which one with
 * export_run takes none. 0; 1: none matches; -1 with assay_error. */
int exchange_export(const struct exchange_format *format, struct store *store, const char *run_id,
                    const char *filter, FILE *out);

/* ------------------------------------------- between the formats of other tools -- */

enum { EXPORT_NAME = 2 * ASSAY_MAX_NAME + RESULT_MAX_SHAPE + 32 };

/* Whether the row is to be exported: it is selected, ok, and not measured only for its ceiling. */
bool export_has_time(const struct view_row *row);

/* "int8_quantize/best/n:5000000/input:fp32/cold/cuda", as Google Benchmark names an
 * instance by its arguments. */
void export_name(const struct view_row *row, char name[EXPORT_NAME]);

/* A figure that is not known is left out, as readers expect numbers. */
void export_figure(struct json *json, const char *name, double value);

/* Each writes one document. */
void export_gbench(FILE *out, const struct view *view);
void export_bmf(FILE *out, const struct view *view);
void export_prometheus(FILE *out, const struct view *view);

/* The same of the cards of a fleet that were asked for. -1 with assay_error. */
struct fleet;
int export_fleet(FILE *out, const struct fleet *fleet);
