/*
 * csv.h - reads and writes comma-separated values (RFC 4180): one record per line,
 * fields quoted where they contain a comma, a quote or a line end.
 */
#ifndef CSV_H
#define CSV_H

#include <stdio.h>

/* Write one field, quoted if it must be, and the character after it (',' or '\n').
 * The caller checks ferror(out). */
void csv_write(FILE *out, const char *field, char after);

/* One record. Zero it before the first csv_read; csv_release frees it. */
struct csv_record {
    long line; /* where it began, 1-based */
    int count;
    char **field; /* into text; as many as count */
    char *text;
    size_t size, capacity; /* of text, in bytes */
    long lines_read;
    int field_capacity;
};

/* Read the next record and remove its quotes; lines end in LF or CR LF; blank lines
 * are skipped. Returns 1 for a record, 0 at the end, -1 with assay_error, which does
 * not name the input (record->line says where). */
int csv_read(FILE *in, struct csv_record *record);
void csv_release(struct csv_record *record);

#endif
