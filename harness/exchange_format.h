/*
 * exchange_format.h - the formats of `assay export` and `assay import`: a table
 * of names, endings and functions. A new format is a row.
 */
#ifndef EXCHANGE_FORMAT_H
#define EXCHANGE_FORMAT_H

#include <stdio.h>

#include "store.h"

struct exchange_format {
    const char *name, *ending;
    int (*export_run)(struct store *store, const char *run_id, FILE *out);
    int (*import_file)(struct store *store, const char *name, FILE *in, int *rows_added);
};

/* By name; NULL with assay_error (and a suggestion) when there is none. */
const struct exchange_format *exchange_format_named(const char *name);
/* By the ending of a file's name; NULL when that says nothing. */
const struct exchange_format *exchange_format_of(const char *path);
/* By the first byte of the content, which is left in the stream. */
const struct exchange_format *exchange_format_sniff(FILE *in);

#endif
