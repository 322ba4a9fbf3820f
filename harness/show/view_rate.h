/*
 * view_rate.h - what a row's time comes to: bytes or operations a second, and how much of
 * the ceiling that binds it. The parts of view.c that know work and ceilings.
 */
#ifndef VIEW_RATE_H
#define VIEW_RATE_H

#include "show/view.h"

/* The ceilings that the run itself measured join view->ceilings. */
void view_collect_ceilings(struct view *view);

/* Of a row whose time and work are set: first its ceiling ("" where none binds), then its
 * rate, in the unit of that ceiling. */
void view_row_ceiling(struct view_row *row, const struct view *view);
void view_row_rate(struct view_row *row);

#endif
