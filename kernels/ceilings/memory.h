/*
 * memory.h - how the operation `memory` lays out its words.
 *
 * Everything is 32-bit words. Output word j is the xor of `fan_in` consecutive
 * input words, in[fan_in j] and on; words past the end of the input count as 0.
 * One rule serves three mixes: 1024 (a read that hands back one word per slice of
 * 4 KiB), 4 (int8 quantise's share of read and written) and 1 (a copy). The
 * fourth, a write, has no input and stores a constant.
 */
#pragma once

#include "assay.h"

enum memory_dim { MEMORY_BYTES, MEMORY_MIX };
enum memory_mix { MEMORY_READ, MEMORY_R4W1, MEMORY_COPY, MEMORY_WRITE, MEMORY_MIXES };

/* The output comes first because a write has nothing else. */
enum memory_buffer { MEMORY_OUT, MEMORY_IN };

/* What a write stores: one byte repeated, so that a memset can do it too. */
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
