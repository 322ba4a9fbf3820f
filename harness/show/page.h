/*
 * page.h - the frame of an HTML page that needs no network: head, style, tables that a small
 * script sorts and filters. Names may come from an untrusted file: texts go through xml_print,
 * and the page's Content-Security-Policy allows only its own script.
 */
#pragma once

#include <stdio.h>

/* From the doctype to the heading, which is `title`; that of the window has `before` it. */
void page_begin(FILE *out, const char *before, const char *title);
void page_end(FILE *out);

/* The head of a table, up to its first row. `attributes` of the table (" id=\"cases\"", or ""),
 * `name` and `caption` are markup; heads end with NULL. */
void page_table(FILE *out, const char *attributes, const char *name, const char *caption,
                const char *const *heads);
void page_table_end(FILE *out);

/* A cell with the number that it is sorted by; NAN: none. */
void page_figure(FILE *out, const char *class, const char *text, double value);
