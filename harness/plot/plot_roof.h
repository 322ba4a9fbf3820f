/*
 * plot_roof.h - the ceilings of a roofline: which of them the cases are held against, and the
 * labels at their lines.
 */
#pragma once

#include "plot/plot_data.h"

/* Where the run measured no ceilings, take those of the newest run of the database that did on a
 * device of this name, and say so in the note; where there is none, say that. -1 with
 * assay_error. */
int roof_find(struct plot *plot);

/* Write the lines' block of roofline.gp and widen the extents of the two panels (operations; bytes
 * alone) so that the lines and the ridge point are visible, with a margin around the cases. */
void roof_write(struct plot *plot, struct plot_extent extent[2]);
