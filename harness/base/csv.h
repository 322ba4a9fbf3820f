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

#endif
