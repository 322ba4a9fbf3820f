/*
 * coverage.h - whether a launch wrote all of its outputs, counted on the device over every element
 * that was poisoned. (Of a large output the reference sees only a sample.)
 */
#pragma once

#include "measure/buffers.h"

/* Returns how many elements of the first output that is not whole still hold the poison, and
 * says so in `reason`; 0 if all outputs are whole; -1 when they could not be counted. */
int64_t coverage_missing(const struct buffers *buffers, char *reason, size_t size);

/* Whether `left`, found in `count` elements of `bytes` bytes each, shows that some were not
 * written: whole words hold the poison, or more elements than do by chance. Pure. */
bool coverage_is_short(const struct unwritten *left, int64_t count, size_t bytes);
