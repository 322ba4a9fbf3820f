/*
 * page.h - the frame of an HTML page that needs no network: head, style, scripts, documents.
 * The files in page/ draw charts and tables from JSON documents in the page, which are those that
 * `--format json` prints; what has no script reads what is written as elements. Names may come from
 * an untrusted file: texts go through xml_print, documents through page_document, and the page's
 * Content-Security-Policy allows only its own scripts and style.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* From the doctype to the heading, which is `title`. */
void page_begin(FILE *out, const char *title);

/* Where the scripts put what they make of a document: charts, unless they are not wanted, and
 * tables. Says so where there can be none. `command` prints the same. */
void page_place(FILE *out, const char *id, bool charts, const char *command);

/* `charts`: with the library, if there is one; without it there are only tables. */
void page_end(FILE *out, bool charts);

/* A JSON document for the scripts, under an id. `write` writes it. -1 with assay_error. */
int page_document(FILE *out, const char *id, int (*write)(FILE *out, const void *what),
                  const void *what);

/* The head of a table, up to its first row. `name` and `caption` are markup; heads end with NULL.
 */
void page_table(FILE *out, const char *name, const char *caption, const char *const *heads);
void page_table_end(FILE *out);

/* A cell with the number that it is sorted by; NAN: none. */
void page_figure(FILE *out, const char *text, double value);
