/*
 * noise.h - the noise floor: how far unchanged code differs from itself, learnt
 * from blocks of launches of which both arms ran the same code. Pure.
 */
#ifndef NOISE_H
#define NOISE_H

#include "case/run_record.h"

/* One A/A block of one case: `rounds` paired launches of unchanged code. */
struct noise_block {
    struct case_id id;
    char session[STORE_ID]; /* of one `assay calibrate` or gate */
    int32_t first;          /* round of it that the block begins with; not stored apart */
    int32_t rounds;
    double time_ns;
    double shift;  /* |Hodges-Lehmann estimate| of the log ratios */
    double spread; /* their MAD, times 1.4826 */
};

enum { NOISE_DECADES = 16 };

struct noise {
    struct noise_block *blocks; /* after noise_prepare in the order of case_id_order */
    int count;
    double pooled[NOISE_DECADES]; /* median spread by decade of the time in ns; NAN none */
};

/* Which of the pools a time belongs to: its power of ten in ns. */
int noise_decade(double time_ns);

/* Sort and pool. -1 with assay_error when out of memory. */
int noise_prepare(struct noise *noise);
void noise_release(struct noise *noise);

/* Add the blocks of `more`, those that are in both once, both of them prepared. It may be
 * emptied; noise_release it all the same. -1 with assay_error when out of memory. */
int noise_merge(struct noise *noise, struct noise *more);

/* From how many sessions the blocks are. */
int noise_sessions(const struct noise *noise);

/* The floor of a case that takes time_ns, for an estimate from `rounds` rounds,
 * as a log ratio: the 95th percentile of the shifts of 20 or more blocks from 3
 * or more sessions, each scaled to as many rounds; until there are those, three standard
 * errors by the pooled spread of cases that take as long (as this case did in its own
 * blocks, if it has any). NAN: nothing known. */
double noise_floor(const struct noise *noise, const struct case_id *id, double time_ns, int rounds);

#endif
