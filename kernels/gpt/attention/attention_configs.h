/*
 * attention_configs.h - the configurations of a block of an attention kernel, and which of them to
 * take where none has been measured. Pure, for the host too.
 */
#pragma once

#include <stdint.h>

/* Fewer blocks leave multiprocessors of a large card idle. */
enum { ATTENTION_FEW_BLOCKS = 128 };

/* `queries` per block of each of `count` configurations, fewest first. Returns the number of the
 * largest that still gives enough blocks, else 0. lines: heads of all sequences. */
static inline int attention_division(const int *queries, int count, int64_t lines, int64_t tokens)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (lines * ((tokens + queries[i] - 1) / queries[i]) >= ATTENTION_FEW_BLOCKS) best = i;
    return best;
}
