#include "base/sparkline.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"

enum { HEIGHTS = 8, MAX_CELL = 256 };

static const char *const blocks[HEIGHTS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const marks[HEIGHTS] = {".", ":", "-", "=", "+", "*", "%", "#"};

/* The median of a cell's values, or of MAX_CELL of them, evenly spaced. */
static double cell_value(const double *values, int count)
{
    double picked[MAX_CELL];
    int taken = count < MAX_CELL ? count : MAX_CELL;
    for (int i = 0; i < taken; i++)
        picked[i] = values[(long long)i * count / taken];
    return stats_median(picked, taken);
}

void sparkline(char out[SPARKLINE_SIZE], const double *values, int count, int width, bool utf8)
{
    double cell[SPARKLINE_MAX], lowest = INFINITY, highest = 0;
    if (width > SPARKLINE_MAX) width = SPARKLINE_MAX;
    int cells = count < width ? count : width;
    out[0] = '\0';
    for (int i = 0; i < cells; i++) {
        int from = (int)((long long)i * count / cells), to = (int)((i + 1LL) * count / cells);
        cell[i] = cell_value(values + from, to - from);
        lowest = fmin(lowest, cell[i]);
        highest = fmax(highest, cell[i]);
    }
    double span = fmax(highest - lowest, lowest * HEIGHTS / 100.0);
    for (int i = 0; i < cells; i++) {
        int height = (int)(HEIGHTS * (cell[i] - lowest) / span);
        if (height >= HEIGHTS) height = HEIGHTS - 1;
        strcat(out, utf8 ? blocks[height] : marks[height]);
    }
}
