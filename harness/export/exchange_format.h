/*
 * exchange_format.h - the formats of `assay export` and `assay import`: a table
 * of names, endings and functions. A new format is a row.
 */
#ifndef EXCHANGE_FORMAT_H
#define EXCHANGE_FORMAT_H

#include <stdio.h>

#include "store/store.h"

/* For a format that is only written or only read, the other function is NULL. */
struct exchange_format {
    const char *name;
    const char *ending; /* of written files; "" none */
    int (*export_run)(struct store *store, const char *run_id, FILE *out);
    int (*import_file)(struct store *store, const char *name, FILE *in, int *rows_added);
};

enum exchange_direction { EXCHANGE_OUT, EXCHANGE_IN };

/* By name; NULL with assay_error (and a suggestion) when there is none that goes
 * in this direction. */
const struct exchange_format *exchange_format_named(const char *name,
                                                    enum exchange_direction direction);
/* For writing: by the ending of the file name; NULL when it is unknown. */
const struct exchange_format *exchange_format_of(const char *path);
/* For reading: by content, else by ending; NULL with assay_error for one that is only written.
 * The stream must be seekable and is rewound. */
const struct exchange_format *exchange_format_sniff(FILE *in, const char *path);

#endif
