/*
 * markup.h - text inside markup, where it must stay text.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stdio.h>

/* In a cell of a GitHub table: it ends no cell and no line and begins no markup. */
void markup_md(FILE *out, const char *text);

/* In XML or HTML, in an element or a quoted attribute. What XML 1.0 cannot hold (control
 * characters, bytes that are no UTF-8) becomes "?". */
void markup_xml(FILE *out, const char *text);

/* In a GitHub workflow command: `property` also escapes what ends a property. */
void markup_command(FILE *out, const char *text, int property);

#endif
