/*
 * view_rate.h - the rate of a row in bytes or operations per second, and its fraction of the
 * ceiling that binds it. The part of view.c that deals with work and ceilings.
 */
#ifndef VIEW_RATE_H
#define VIEW_RATE_H

#include "show/view.h"

/* Add the ceilings that the run itself measured to view->ceilings. */
void view_collect_ceilings(struct view *view);

/* For a row whose time and work are set: call first for its ceiling ("" if none binds), then
 * for its rate, in the unit of that ceiling. */
void view_row_ceiling(struct view_row *row, const struct view *view);
void view_row_rate(struct view_row *row);

#endif
