/*
 * elements.h - what is known of single elements of whole outputs, for host and device code: the
 * poison before a checked launch, how much two elements differ, and the signs of Freivalds' check.
 */
#pragma once

#include <math.h>

#include "base/fill.h"

/* The bytes that outputs hold before a checked launch are a hash of seed and position, 8 bytes at a
 * time: bytes 8 word to 8 word + 7, the first lowest. A right result equals a word of it with
 * probability 2^-64, whatever the operation; an element of 8 or 16 bits may. */
FILL_FUNCTION uint64_t poison_word(uint64_t seed, int64_t word)
{
    return fill_hash(seed, (uint64_t)word);
}

/* How many of the first `count` elements of `size` bytes in a word equal those of the poison. */
FILL_FUNCTION int poison_left(uint64_t word, uint64_t poison, int size, int count)
{
    uint64_t differs = word ^ poison, mask = size == 8 ? ~(uint64_t)0 : (1ull << 8 * size) - 1;
    int left = 0;
    for (int i = 0; i < count; i++)
        left += (differs >> 8 * size * i & mask) == 0;
    return left;
}

/* See struct difference. */
FILL_FUNCTION double difference_of(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double by = fabs(a - b);
    return isnan(by) ? (double)INFINITY : by;
}

/* A random sign of Freivalds' check: 1 or -1. */
FILL_FUNCTION double sign_of(uint64_t seed, int64_t column)
{
    return fill_hash(seed, (uint64_t)column) >> 63 ? 1.0 : -1.0;
}
