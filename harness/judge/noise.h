/*
 * noise.h - the noise floor: how much unchanged code differs from itself, estimated from
 * A/A blocks, in which both arms ran the same code. Pure.
 */
#ifndef NOISE_H
#define NOISE_H

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

/* The decade of a time: its power of ten in ns. */
int noise_decade(double time_ns);

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

#endif
