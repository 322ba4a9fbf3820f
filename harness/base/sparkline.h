/*
 * sparkline.h - a series as one line of text. Pure.
 *
 * Eight heights span the smallest to the largest value, or the smallest plus 8 % where
 * that is more, so that noise below one per cent stays flat.
 */
#pragma once

#include <stdbool.h>

enum { SPARKLINE_MAX = 200, SPARKLINE_SIZE = 3 * SPARKLINE_MAX + 1 };

/* At most `width` cells; a cell of several values shows their median. Block
 * characters where `utf8`, else . : - = + * % #. Values are above zero. */
void sparkline(char out[SPARKLINE_SIZE], const double *values, int count, int width, bool utf8);
