/*
 * short_points.h - the 65536 codewords of E8 with q = 4 in 3 bytes each: 192 KiB, which fits the
 * shared memory of a multiprocessor, where 8 bytes each would take 512 KiB. Host code too, so that
 * tests can follow it without a GPU.
 *
 * The doubled coordinates of a codeword are all even or all odd, as p = index >> 14 & 1 says (the
 * lowest bit of the last digit). z = 2 n - 6 - p with 0 <= n < 8, because no coordinate is -8. The
 * eight n are stored with 3 bits each, the first lowest: 16 bits of an entry in one array, 8 bits
 * in a second one behind it.
 *
 * Up to two levels are added as bytes: first the weighted n, then the constants are subtracted
 * once.
 */
#pragma once

#include "lut.h"

enum {
    SHORT_POINTS = 1 << 16,
    SHORT_POINTS_BYTES = 3 * SHORT_POINTS,
    SHORT_POINTS_LEVELS = 2,
};

/* An entry from a codeword's coordinates. */
LUT_FUNCTION uint32_t short_point(uint32_t index, const int8_t *point)
{
    uint32_t entry = 0;
    for (int i = 0; i < 8; i++)
        entry |= (uint32_t)(point[i] + 6 + (int)(index >> 14 & 1)) / 2 << (3 * i);
    return entry;
}

/* The entry of an index from a table of them. */
LUT_FUNCTION uint32_t short_point_at(const unsigned char *table, uint32_t index)
{
    return ((const uint16_t *)table)[index] | (uint32_t)table[2 * SHORT_POINTS + index] << 16;
}

/* Four n of 3 bits, a byte each. */
LUT_FUNCTION uint32_t short_point_bytes(uint32_t entry)
{
    uint32_t pairs = (entry & 0x3f) | (entry & 0xfc0) << 10;
    return (pairs & 0x00070007) | (pairs & 0x00380038) << 5;
}

/* A block's coordinates, a byte each, from the indices of its levels. */
LUT_FUNCTION void short_points_block(const unsigned char *table, const uint32_t *index, int levels,
                                     uint32_t out[2])
{
    uint32_t low = 0, high = 0, off = 0;
    for (int m = 0; m < levels; m++) {
        uint32_t entry = short_point_at(table, index[m]);
        low += short_point_bytes(entry & 0xfff) << (2 * m);
        high += short_point_bytes(entry >> 12) << (2 * m);
        off += (6 + (index[m] >> 14 & 1)) << (2 * m);
    }
    /* 128 more keeps every byte positive; the exclusive or takes it off again. */
    uint32_t bias = (128 - off) * 0x01010101u;
    out[0] = (2 * low + bias) ^ 0x80808080u;
    out[1] = (2 * high + bias) ^ 0x80808080u;
}
