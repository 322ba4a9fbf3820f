/*
 * bits.h - codewords of E8 with q = 4 as sums of bits, for products of bits on tensor cores; host
 * code too, so that tests can follow it without a GPU.
 *
 * z is a codeword's doubled coordinates, -7 .. 8; all are odd or all are even, and their sum is a
 * multiple of 4. With o = z_0 mod 2
 *
 *   z_i = 8 h_i + 4 l_i + 2 t_i - 6 - o,    bits h_i, l_i, t_i, sum of the t_i even
 *
 * So x . z is a sum over 25 bits of a codeword, each times a sum of x's coordinates, minus 6 times
 * their sum. With those sums cut into bit planes, a product is the number of common bits of two
 * words, which tensor cores add up for 256 bits at a time (mma.m16n8k256, .and.popc), and no bit of
 * a codeword needs to be brought to another place.
 *
 * Setup numbers the codewords anew (weight_code.h says why that can be done). o, t_1 to t_7 and l_0
 * xor l_1 are 0 and 1 equally often, whatever the others are:
 *
 *   number   bit 0: o;  1 to 7: t_1 to t_7;  8: l_0 xor l_1;  9 to 15: which of the 128 codewords
 *            with these bits it is
 *   entry    bits 0 to 7: h_0 to h_7;  8: l_0;  9: t_0;  10 to 15: l_2 to l_7
 *
 * An entry's bit 8 makes l_1 of the number's; so two words, two numbers and their two entries, are
 * the bits of two codewords. The table of entries is 128 KiB.
 */
#pragma once

#include "lut.h"

enum { BIT_CODES = 1 << 16, BIT_TABLE_BYTES = 2 * BIT_CODES };

/* Bit 8 of both entries: exclusive or with the numbers makes l_1. */
#define BIT_FIRST 0x01000100u

struct bit_code {
    uint16_t base, entry; /* the number without its upper seven bits */
};

LUT_FUNCTION struct bit_code bit_code(const int8_t point[8])
{
    struct bit_code code = {(uint16_t)(point[0] & 1), 0};
    uint32_t low[8];
    for (int i = 0; i < 8; i++) {
        uint32_t field = (uint32_t)(point[i] + 6 + (point[0] & 1)) >> 1;
        uint32_t t = field & 1;
        low[i] = field >> 1 & 1;
        code.entry |= (uint16_t)((field >> 2 & 1) << i);
        if (i == 0)
            code.entry |= (uint16_t)(t << 9);
        else
            code.base |= (uint16_t)(t << i);
        if (i != 1) code.entry |= (uint16_t)(low[i] << (8 + i));
    }
    code.base |= (uint16_t)((low[0] ^ low[1]) << 8);
    return code;
}

/* number[index] of each codeword, and entry[number]. `next` is space for 512 counts. 0, or -1 with
 * assay_error if more than 128 codewords have the same bits. */
static inline int bit_numbers(const int8_t *points, uint16_t *number, uint16_t *entry,
                              uint16_t *next)
{
    for (int i = 0; i < 512; i++)
        next[i] = 0;
    for (int index = 0; index < BIT_CODES; index++) {
        struct bit_code code = bit_code(points + 8 * (int64_t)index);
        uint32_t rank = next[code.base]++;
        if (rank > 127) return assay_error("more than 128 codewords have the same bits");
        number[index] = (uint16_t)(code.base | rank << 9);
        entry[number[index]] = code.entry;
    }
    return 0;
}

/* ------------------------------------------------------------------ planes -- */

/* Byte `place` of the result, counted from the lowest of word 0, has bit `place` of eight numbers.
 */
LUT_FUNCTION void bit_turn(const int32_t x[8], uint32_t turned[8])
{
    for (int byte = 0; byte < 4; byte++) {
        uint32_t half[2] = {0, 0}, t;
        for (int i = 0; i < 8; i++)
            half[i / 4] |= ((uint32_t)x[i] >> 8 * byte & 0xff) << 8 * (i % 4);
        for (int i = 0; i < 2; i++) {
            t = (half[i] ^ half[i] >> 7) & 0x00aa00aau;
            half[i] ^= t ^ t << 7;
            t = (half[i] ^ half[i] >> 14) & 0x0000ccccu;
            half[i] ^= t ^ t << 14;
        }
        turned[2 * byte] = (half[0] & 0x0f0f0f0fu) | (half[1] & 0x0f0f0f0fu) << 4;
        turned[2 * byte + 1] = (half[0] >> 4 & 0x0f0f0f0fu) | (half[1] & 0xf0f0f0f0u);
    }
}

LUT_FUNCTION uint32_t bit_turned(const uint32_t turned[8], int place)
{
    return place < 0 ? 0 : turned[place / 4] >> 8 * (place % 4) & 0xff;
}

/* Plane `place` of what the bits of a number (lower half) and of an entry (upper half) are
 * multiplied by, for a block of eight whole numbers, turned, whose sum is `sum`. */
LUT_FUNCTION uint32_t bit_plane(const uint32_t turned[8], int32_t sum, int place)
{
    if (place < 0) return 0;
    uint32_t two = bit_turned(turned, place - 1), four = bit_turned(turned, place - 2);
    uint32_t number = ((uint32_t)-sum >> place & 1) | (two & 0xfe) | (four & 2) << 7;
    uint32_t entry = bit_turned(turned, place - 3) | (four & 0xfd) << 8 | (two & 1) << 9;
    return number | entry << 16;
}

/* ------------------------------------------------------------------ layout -- */

/* A tile is 16 columns, a chunk 16 words of each. A word has the numbers of blocks 2 p and 2 p + 1
 * in its halves, and a pair p has a word for each level, one after the other. Words lie as
 * [tile][chunk][below][lane][4]: a lane reads 16 bytes of column lane / 4 + 8 below, part lane % 4
 * of the chunk. A word is row lane / 4 + 8 below of a product, bits 32 (lane % 4) to 31 of its 256,
 * and its entries are the same bits of the upper half.
 *
 * Planes lie as [place of the pair][plane / 8][slot][2]: a place is a chunk and which of a lane's
 * pairs in it, lane / 4 is the plane, and the two words meet numbers and entries. Slots are lanes,
 * exchanged so that lanes that write a plane of 32 pairs use all banks. */
enum { BIT_TILE = 16, BIT_CHUNK = 16, BIT_LANE_WORDS = 4, BIT_TILE_WORDS = 256 };

struct bit_place {
    int64_t column, block; /* of the number in the lower half; the upper one has the next block */
    int level;
};

LUT_FUNCTION int64_t bit_chunks(const struct lut_geometry *geometry)
{
    int64_t of_chunk = 2 * BIT_CHUNK / geometry->levels;
    return (geometry->blocks + of_chunk - 1) / of_chunk;
}

LUT_FUNCTION struct bit_place bit_place(int64_t word, int64_t chunks, int levels)
{
    int lane = (int)(word / 4 % 32), below = (int)(word / 128 % 2), w = (int)(word % 4);
    int64_t chunk = word / BIT_TILE_WORDS % chunks, tile = word / BIT_TILE_WORDS / chunks;
    struct bit_place place;
    place.column = tile * BIT_TILE + lane / 4 + 8 * below;
    place.block = 2 * ((chunk * BIT_CHUNK + lane % 4 * BIT_LANE_WORDS) / levels + w / levels);
    place.level = w % levels;
    return place;
}

/* Bytes of eight planes. */
LUT_FUNCTION int64_t bit_planes_bytes(int64_t chunks, int levels)
{
    return chunks * (BIT_LANE_WORDS / levels) * 32 * 8;
}

LUT_FUNCTION int bit_slot(int lane, int place)
{
    return lane ^ place % 8 * 4;
}

/* Where plane `plane` of `planes` of a pair is, in units of 8 bytes. */
LUT_FUNCTION int bit_plane_at(int pair, int plane, int planes, int levels)
{
    int of_lane = BIT_LANE_WORDS / levels, part = pair / of_lane % 4;
    int place = pair / (4 * of_lane) * of_lane + pair % of_lane;
    return (place * (planes / 8) + plane / 8) * 32 + bit_slot(plane % 8 * 4 + part, place);
}
