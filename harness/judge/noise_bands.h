/*
 * noise_bands.h - the noise of unchanged code per decade of its time, as published for a
 * device. Pure.
 */
#ifndef NOISE_BANDS_H
#define NOISE_BANDS_H

#include "judge/noise.h"

/* A pair of launches of one case with the same code. */
struct noise_pair {
    double time_ns; /* the mean of both */
    double change;  /* larger / smaller - 1 */
};

struct noise_pair noise_pair_of(double one_ns, double other_ns);

struct noise_band {
    double least_ns;      /* the band holds times from least_ns to 10 least_ns */
    int cases, blocks;    /* that noise floors are computed from */
    int pairs;            /* that are stored with their times */
    double p50, p95, max; /* quantiles of the pairs' changes, fractions; NAN none */
    double floor;         /* noise floor after ten rounds of a case without blocks; NAN none */
};

/* Compute the bands that have pairs or blocks, shortest first; sorts the pairs. Returns how
 * many. */
int noise_bands_make(struct noise_band bands[NOISE_DECADES], const struct noise *noise,
                     struct noise_pair *pairs, int count);

#endif
