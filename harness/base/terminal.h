/*
 * terminal.h - what a stream of this process is connected to.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* A terminal on which a line can be drawn over. */
bool terminal_is_live(FILE *out);

/* Whether to colour: such a terminal, and NO_COLOR is not set. */
bool terminal_has_colour(FILE *out);

/* Columns of the terminal; `otherwise` where there is none. */
int terminal_width(FILE *out, int otherwise);

/* The same of standard output, for tables: 100 columns where there is no terminal. */
bool terminal_colour(void);
int terminal_columns(void);

#endif
