/*
 * csv.h - reads and writes comma-separated values (RFC 4180): one record per line,
 * fields quoted where they contain a comma, a quote or a line end.
 */
#pragma once

#include <stdio.h>

/* Write one field, quoted if it must be, behind an apostrophe if it is a text that begins as a
 * spreadsheet's formula does, and the character after it (',' or '\n').
 * The caller checks ferror(out). */
void csv_write(FILE *out, const char *field, char after);
