/*
 * history_formats.h - a history as text and as JSON. 0, or -1 with assay_error.
 */
#ifndef HISTORY_FORMATS_H
#define HISTORY_FORMATS_H

#include <stdio.h>

#include "judge/history.h"

/* `width`: cells of the sparkline; `utf8`: whether it may use block characters. */
int history_print(FILE *out, const struct history *history, int width, bool utf8);
int history_print_json(FILE *out, const struct history *history);

#endif
