/*
 * noise_bands.h - the noise of unchanged code by how long it takes, a power of ten a
 * band: what is published of a device. Pure.
 */
#ifndef NOISE_BANDS_H
#define NOISE_BANDS_H

#include "judge/noise.h"

/* Two launches of one case, side by side, of the same code. */
struct noise_pair {
    double time_ns; /* the mean of both */
    double change;  /* the larger over the smaller, less 1 */
};

struct noise_pair noise_pair_of(double one_ns, double other_ns);

struct noise_band {
    double least_ns;      /* times from here to ten times as much */
    int cases, blocks;    /* that noise floors are made from */
    int pairs;            /* that are stored with their times */
    double p50, p95, max; /* of their changes, fractions; NAN none */
    double floor;         /* of ten rounds of a case without its own, a fraction; NAN none */
};

/* The bands that have anything, shortest first; sorts the pairs. Returns how many. */
int noise_bands_make(struct noise_band bands[NOISE_DECADES], const struct noise *noise,
                     struct noise_pair *pairs, int count);

#endif
