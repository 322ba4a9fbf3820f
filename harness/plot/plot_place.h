/*
 * plot_place.h - positions of the cases in a picture, so that a page can put links over
 * them. The query gives the positions in axis coordinates and gnuplot reports where its
 * axes are; together they give pixels.
 */
#pragma once

#include <stdbool.h>

/* The position of one case; after plot_places_read in pixels, y downwards from the top. */
struct plot_place {
    int row;     /* index in a view of the run */
    int cases;   /* number of cases it represents, of which the row is the first; usually 1 */
    int panel;   /* of the picture, from 0, as the script counts */
    double x, y; /* centre; x NAN: a line of a chart, as wide as the picture */
    double high; /* height of such a line; NAN for a point */
};

struct plot_places {
    struct plot_place *place;
    int count;
    double wide, high; /* size of the picture */
    bool lost;         /* out of memory: plot_places_read drops all */
};

/* Add a point, or line `y` of a chart, in axis coordinates of its panel. Does nothing if
 * `places` is NULL. */
void plot_place_point(struct plot_places *places, int row, int panel, double x, double y);
void plot_place_line(struct plot_places *places, int row, int cases, int y);

/* Convert axis coordinates to pixels by what the script wrote (plots/style.gp: frame), one
 * line per panel. Places outside their frame are removed. 0, or -1 with assay_error and no
 * places. */
int plot_places_read(struct plot_places *places, const char *path);

void plot_places_release(struct plot_places *places); /* may be used again */
