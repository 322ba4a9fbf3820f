/*
 * memory.h - how the operation `memory` lays out its words.
 *
 * Everything is 32-bit words. Output word j is the xor of `fan_in` consecutive input words that
 * start at in[fan_in j]; words after the end of the input count as 0. `fan_in` is 1024 for read
 * (one word stored per slice of 4 KiB), 4 for r4w1 (the ratio of an int8 quantiser) and 1 for copy.
 * A write has no input and stores a constant.
 */
#pragma once

#include "assay.h"

enum memory_dim { MEMORY_BYTES, MEMORY_MIX };
enum memory_mix { MEMORY_READ, MEMORY_R4W1, MEMORY_COPY, MEMORY_WRITE, MEMORY_MIXES };

/* The output comes first because a write has nothing else. */
enum memory_buffer { MEMORY_OUT, MEMORY_IN };

/* What a write stores: one byte repeated, as memset does. */
enum { MEMORY_BYTE_WRITTEN = 0x3c, MEMORY_WORD_WRITTEN = 0x3c3c3c3c };

/* Words of a slice, the unit of a read. */
enum { MEMORY_SLICE = 1024 };

struct memory_layout {
    enum memory_mix mix;
    int64_t fan_in; /* 0: a write */
    int64_t in_words, out_words;
};

static inline struct memory_layout memory_layout(const struct assay_shape *shape)
{
    static const int64_t fan_in[MEMORY_MIXES] = {MEMORY_SLICE, 4, 1, 0};
    struct memory_layout layout;
    int64_t words = shape->value[MEMORY_BYTES] / 4;
    layout.mix = (enum memory_mix)shape->value[MEMORY_MIX];
    layout.fan_in = fan_in[layout.mix];
    layout.out_words = (words + layout.fan_in) / (layout.fan_in + 1);
    layout.in_words = words - layout.out_words;
    return layout;
}
