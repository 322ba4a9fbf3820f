/*
 * help.h - the help of a command, as `assay help NAME` prints it, and the man page, made from the
 * same text, so that the two cannot differ. A help text is made of blocks with an empty line
 * between them:
 *
 *   usage: assay NAME ...         the synopsis, as it stands
 *     term  what it is            a list: two blanks, the term, two or more blanks;
 *                                 what goes on below it is indented further
 *   example: assay NAME ...       commands, as they stand, one a line
 *   anything else                 prose; `words like this` are literal
 */
#pragma once

#include <stdio.h>

#include "cmd/commands.h"

/* One help text as man macros (man(7)). */
void manual_text(FILE *out, const char *text);

/* A part of the page beside the commands. */
struct manual_section {
    const char *heading, *text;
};

/* What stands behind the commands, ended by a NULL heading. */
extern const struct manual_section program_sections[];

/* The text of one command, or of the program. */
void help_write(FILE *out, const struct command *command);

/* The same on standard output; behind that of the program the commands and program_sections. */
void help_print(const struct command *command);

/* All of assay(1): the program's help, each command's, program_sections. -1 with assay_error. */
int manual_page(FILE *out, const char *version);
