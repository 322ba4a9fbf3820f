/*
 * manual.h - the man page, made from the texts of `assay help`, so that the two
 * cannot differ (help.h). A help text is made of blocks with an empty line between them:
 *
 *   usage: assay NAME ...         the synopsis, as it stands
 *     term  what it is            a list: two blanks, the term, two or more blanks;
 *                                 what goes on below it is indented further
 *   example: assay NAME ...       commands, as they stand, one a line
 *   anything else                 prose; `words like this` are literal
 */
#pragma once

#include <stdio.h>

/* One help text as man macros (man(7)). */
void manual_text(FILE *out, const char *text);

/* A part of the page beside the commands. */
struct manual_section {
    const char *heading, *text;
};

/* The whole page, assay(1): the program's help, each command's, and program_sections. 0, or
 * -1 with assay_error. */
int manual_page(FILE *out, const char *version);
