#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/grow.h"
#include "plot/plot_place.h"

enum { MOST_PANELS = 4 };

/* ------------------------------------------------------------------ adding -- */

static void place_add(struct plot_places *places, struct plot_place place)
{
    struct plot_place *grown = grow_by_one(places->place, places->count, sizeof *grown);
    if (!grown) {
        places->lost = true;
        return;
    }
    places->place = grown;
    places->place[places->count++] = place;
}

void plot_place_point(struct plot_places *places, int row, int panel, double x, double y)
{
    if (places) place_add(places, (struct plot_place){row, 1, panel, x, y, NAN});
}

void plot_place_line(struct plot_places *places, int row, int cases, int y)
{
    if (places) place_add(places, (struct plot_place){row, cases, 0, NAN, y, 1});
}

/* ------------------------------------------------------------------ frames -- */

/* One axis of a panel: the values at its ends and their pixels. */
struct axis {
    double from, to;             /* values */
    double from_pixel, to_pixel; /* from the left, or from the bottom */
    int logarithmic;
};

struct frame {
    struct axis x, y;
};

static double axis_pixel(const struct axis *axis, double value)
{
    double share = axis->logarithmic ? log(value / axis->from) / log(axis->to / axis->from)
                                     : (value - axis->from) / (axis->to - axis->from);
    return axis->from_pixel + share * (axis->to_pixel - axis->from_pixel);
}

/* Within the axis, allowing for rounding. */
static bool axis_has(const struct axis *axis, double pixel)
{
    return pixel >= axis->from_pixel - 0.5 && pixel <= axis->to_pixel + 0.5;
}

/* False if it is outside the frame, or the panel was not drawn. */
static bool place_turn(struct plot_place *place, const struct frame *frame, double high)
{
    bool is_line = !isnan(place->high);
    double x = is_line ? NAN : axis_pixel(&frame->x, place->x);
    double y = axis_pixel(&frame->y, place->y);
    if (!axis_has(&frame->y, y) || (!is_line && !axis_has(&frame->x, x))) return false;
    if (is_line) place->high = fabs(axis_pixel(&frame->y, place->y + 1) - y);
    place->x = x;
    place->y = high - y;
    return true;
}

/* Each line: "panel wide high", then for x and for y: pixels, values, whether logarithmic. */
static int frames_read(FILE *in, struct plot_places *places, struct frame frame[MOST_PANELS])
{
    char line[512];
    int panel = 0;
    struct frame found = {0};
    struct axis *x = &found.x, *y = &found.y;
    for (int i = 0; i < MOST_PANELS; i++)
        frame[i].y.from_pixel = NAN; /* a panel that was not drawn has nothing */
    while (fgets(line, sizeof line, in)) {
        int read =
            sscanf(line, "%d %lf %lf %lf %lf %lf %lf %d %lf %lf %lf %lf %d", &panel, &places->wide,
                   &places->high, &x->from_pixel, &x->to_pixel, &x->from, &x->to, &x->logarithmic,
                   &y->from_pixel, &y->to_pixel, &y->from, &y->to, &y->logarithmic);
        if (read != 13 || panel < 0 || panel >= MOST_PANELS)
            return assay_error("cannot read the axes that gnuplot reported: %s", line);
        frame[panel] = found;
    }
    return ferror(in) ? assay_error("cannot read where the axes are: %s", strerror(errno)) : 0;
}

int plot_places_read(struct plot_places *places, const char *path)
{
    struct frame frame[MOST_PANELS] = {0};
    FILE *in = fopen(path, "r");
    int failed = in ? frames_read(in, places, frame)
                    : assay_error("cannot read %s: %s", path, strerror(errno));
    if (in) fclose(in);
    if (!failed && places->lost) failed = assay_error("out of memory for the places of a plot");
    int kept = 0;
    for (int i = 0; !failed && i < places->count; i++) {
        struct plot_place place = places->place[i];
        if (place_turn(&place, &frame[place.panel], places->high)) places->place[kept++] = place;
    }
    places->count = kept;
    return failed;
}

void plot_places_release(struct plot_places *places)
{
    free(places->place);
    *places = (struct plot_places){0};
}
