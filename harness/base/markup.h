/*
 * markup.h - writes Markdown, XML/HTML, GitHub workflow commands and CSV with every text escaped.
 */
#pragma once

#include <stdio.h>

/* As fprintf, with the texts (%s) escaped and the format written as it is. It knows %s, %d, %c,
 * %f and %g with flags, width and precision, and %lld; a %s with a precision is at most 63 bytes.
 * Markdown is for a cell of a GitHub table: a text cannot end the cell or line or start markup.
 * XML is for an element or a quoted attribute of XML or HTML: what XML 1.0 cannot represent
 * (control characters, invalid UTF-8) becomes "?". */
void md_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xml_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As code, in backticks, in which nothing is markup; a backtick becomes an apostrophe. */
void md_code(FILE *out, const char *text);

/* For a GitHub workflow command; `property` also escapes ':' and ',', which end a property. */
void markup_command(FILE *out, const char *text, int property);

/* A JSON document for an element <script>: without '<', so that nothing in it ends the element. */
void markup_script(FILE *out, const char *json);

/* One field of a line of comma-separated values (RFC 4180), quoted if it must be, behind an
 * apostrophe if it is a text that begins as a spreadsheet's formula does, and the character after
 * it (',' or '\n'). The caller checks ferror(out). */
void csv_write(FILE *out, const char *field, char after);
