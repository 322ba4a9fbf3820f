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

/* Columns of the terminal; `otherwise` if it is none. */
int terminal_width(FILE *out, int otherwise);

/* Both for standard output, as tables use them: 100 columns where it is no terminal. */
bool terminal_colour(void);
int terminal_columns(void);
