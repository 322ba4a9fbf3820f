/*
 * csv.h - RFC 4180: comma-separated values, a record a line, fields quoted
 * where they hold a comma, a quote or a line end. Pure but for the stream.
 */
#ifndef CSV_H
#define CSV_H

#include <stdio.h>

/* Write one field, quoted if it must be, and what follows it (',' or '\n'). A
 * failure of the stream stays in ferror(out). */
void csv_write(FILE *out, const char *field, char after);

/* One record as read. Zero it before the first csv_read; csv_release frees. */
struct csv_record {
    long line; /* where it began, 1-based */
    int count;
    char **field; /* into text; as many as count */
    char *text;
    size_t size, capacity; /* of text, in bytes */
    long lines_read;
    int field_capacity;
};

/* The next record, quotes taken off; lines end in LF or CR LF; blank lines are
 * passed over. 1: a record, 0: the end, -1: assay_error without the name of
 * the input (record->line says where). */
int csv_read(FILE *in, struct csv_record *record);
void csv_release(struct csv_record *record);

#endif
