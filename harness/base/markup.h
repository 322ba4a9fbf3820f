/*
 * markup.h - escapes text for Markdown, XML/HTML and GitHub workflow commands.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stdio.h>

/* For a cell of a GitHub table: the text cannot end the cell or line or start markup. */
void markup_md(FILE *out, const char *text);

/* For an element or a quoted attribute of XML or HTML. What XML 1.0 cannot represent
 * (control characters, invalid UTF-8) becomes "?". */
void markup_xml(FILE *out, const char *text);

/* For a GitHub workflow command; `property` also escapes ':' and ',', which end a property. */
void markup_command(FILE *out, const char *text, int property);

#endif
