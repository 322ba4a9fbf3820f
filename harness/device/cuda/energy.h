/*
 * energy.h - the energy of a launch from two stretches of work between changes of the card's
 * energy counter. Pure.
 *
 * The counter changes some ten times per second, which is coarse beside a stretch of a quarter of
 * a second. So a stretch begins and ends where the counter was seen to change while the same work
 * went on. It is read once per group of launches, and a change may have come at any time since the
 * read before: each end is known to one group, or to a tenth of a second where groups take longer.
 */
#pragma once

struct energy_stretch {
    double energy_mj; /* by the counter; NAN: it did not change in time */
    int launches;
    double ns, group_ns; /* from first to last change; the longest group */
};

/* Millijoules of one launch of a stretch. *error is how far off it may be. */
double energy_per_launch(const struct energy_stretch *stretch, double *error);

/* The same of a launch whose every repetition had a flush in front, with `flush` a stretch of
 * flushes alone. Includes what the idle card draws during the launch, as back-to-back launches do.
 * NAN where the difference is less than five times its error. */
double energy_behind_flush(const struct energy_stretch *both, const struct energy_stretch *flush);
