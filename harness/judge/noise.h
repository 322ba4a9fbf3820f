/*
 * noise.h - the noise floor: how much unchanged code differs from itself, estimated from
 * A/A blocks, in which both arms ran the same code; and the same per decade of the time, as
 * published for a device. Pure.
 */
#pragma once

#include "case/run_record.h"

/* One A/A block of one case: `rounds` paired launches of unchanged code. */
struct noise_block {
    struct case_id id;
    char session[STORE_ID]; /* one `assay calibrate` or gate */
    int32_t first;          /* round of the session at which the block begins; not stored */
    int32_t rounds;
    double time_ns;
    double shift;  /* |Hodges-Lehmann estimate| of the log ratios */
    double spread; /* their MAD, times 1.4826 */
};

enum { NOISE_DECADES = 16 };

struct noise {
    struct noise_block *blocks; /* sorted by case_id_order after noise_prepare */
    int count;
    double pooled[NOISE_DECADES]; /* median spread per decade of the time in ns; NAN none */
};

/* With a floor of noise, or of how builds lie, above this multiple of the threshold a case is
 * UNSTABLE, unless it changed by more than even that floor. */
#define NOISE_MOST_THRESHOLDS 2.5

/* Sort and pool. -1 with assay_error when out of memory. */
int noise_prepare(struct noise *noise);
void noise_release(struct noise *noise);

/* Add the blocks of `more` without duplicates. Both are prepared; `more` may be emptied but
 * must be released. -1 with assay_error when out of memory. */
int noise_merge(struct noise *noise, struct noise *more);

/* Number of sessions of the blocks. */
int noise_sessions(const struct noise *noise);

/* Noise floor, as a log ratio, of a case that takes time_ns, for an estimate from `rounds`
 * rounds: the 95th percentile of the shifts of its own blocks, scaled to that many rounds,
 * if there are 20 or more blocks from 3 or more sessions; else three standard errors by the
 * pooled spread of the cases in its decade (that of its own blocks, if it has any). NAN:
 * unknown. */
double noise_floor(const struct noise *noise, const struct case_id *id, double time_ns, int rounds);

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
