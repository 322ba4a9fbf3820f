/*
 * tally.h - what the comparison of a range of elements with their expected values adds up to. Pure.
 */
#pragma once

#include <stdint.h>

#include "assay.h"

/* A row of numbers of few bits has few distinct results, and all that are equal are rounded alike:
 * one that lies on a tie may be more than a share of all. So too many that are NEAR must be of this
 * many expected values. */
enum { TALLY_VALUES = 8 };

/* Distinct values, as many as are kept. */
struct tally_values {
    double value[TALLY_VALUES];
    int count;
};

struct tally {
    int64_t near, wrong, first_wrong;
    struct tally_values near_values;
    double first_expected, first_got, max_abs, max_rel;
    double squares; /* of errors, as shares of their bounds */
};

void tally_element(struct tally *tally, enum assay_match match, int64_t index, double expected,
                   double bound, double got);
void tally_merge(struct tally *into, const struct tally *from);
void tally_values_merge(struct tally_values *into, const struct tally_values *from);
