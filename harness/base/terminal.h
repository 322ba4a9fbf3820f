/*
 * terminal.h - what a stream of this process is connected to.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether it is a terminal on which a line can be overwritten. */
bool terminal_is_live(FILE *out);

/* Whether to use colour: such a terminal, and NO_COLOR is not set. */
bool terminal_has_colour(FILE *out);

/* "[#####...............]": how far something is. */
enum { TERMINAL_BAR = 23 };
void terminal_bar(int done, int all, char out[TERMINAL_BAR]);

/* Columns of the terminal; `otherwise` if it is none. */
int terminal_width(FILE *out, int otherwise);

/* Both for standard output, as tables use them. Its columns are 80 where a terminal does not tell,
 * and without end where it is none: a file or another program gets lines as long as they are. */
enum { TERMINAL_USUAL = 80, TERMINAL_ENDLESS = 1 << 20 };
bool terminal_colour(void);
int terminal_columns(void);

/* What the user asked for, for all streams. */
enum terminal_colours { COLOURS_AUTO, COLOURS_ALWAYS, COLOURS_NEVER };
void terminal_set_colours(enum terminal_colours colours);
void terminal_set_quiet(bool quiet);

/* Whether the user asked for no progress and no hints. */
bool terminal_is_quiet(void);
