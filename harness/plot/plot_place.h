/*
 * plot_place.h - where the cases of a plot lie in its picture, so that a page can
 * lay links over them. A query says where in the axes; gnuplot, when it has drawn,
 * where its axes lie; from both come pixels.
 */
#ifndef PLOT_PLACE_H
#define PLOT_PLACE_H

#include <stdbool.h>

/* One case. In the picture's pixels, y downwards from the top. */
struct plot_place {
    int row;     /* index in a view of the run */
    int cases;   /* that it stands for, the row's the first; most often 1 */
    int panel;   /* of the picture, from 0; as the script counts */
    double x, y; /* its middle; x NAN: a line of a chart, as wide as the picture */
    double high; /* of such a line; NAN for a point */
};

struct plot_places {
    struct plot_place *place;
    int count, room;
    double wide, high; /* the picture */
    bool lost;         /* memory ran out: all are dropped when they are read */
};

/* Add a point, or line `y` of a chart, in the axes of its panel. `places` may be
 * NULL: nobody asked. */
void plot_place_point(struct plot_places *places, int row, int panel, double x, double y);
void plot_place_line(struct plot_places *places, int row, int cases, int y);

/* Turn axes into pixels by what the script wrote (plots/style.gp: frame), a line a
 * panel. Places outside their frame are not in the picture, and go. 0, or -1 with
 * assay_error, and no places. */
int plot_places_read(struct plot_places *places, const char *path);

void plot_places_release(struct plot_places *places); /* to none; may be used again */

#endif
