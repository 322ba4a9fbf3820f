/*
 * terminal.h - what standard output is connected to.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* Whether to colour: a terminal that can, and NO_COLOR is not set. */
bool terminal_colour(void);

/* Columns of the terminal; 100 where there is none. */
int terminal_columns(void);

#endif
