/*
 * coverage.h - whether a launch wrote all of its outputs: on the device, over every element,
 * where the comparison with a slow reference sees a sample.
 */
#pragma once

#include "measure/buffers.h"

/* Returns how many elements of the first output that is not whole still hold the poison, and
 * says so in `reason`; 0 if all outputs are whole; -1 when they could not be counted. */
int64_t coverage_missing(const struct buffers *buffers, char *reason, size_t size);

/* Whether `left` of `count` elements of `bytes` bytes tells that some were not written: whole
 * words, or more elements than equal a random pattern by chance. Pure. */
bool coverage_is_short(const struct unwritten *left, int64_t count, size_t bytes);
